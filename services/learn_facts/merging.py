"""Participants that are one person: what a person asks, decided under the locks of both, and what follows from it.

What was written about a merged person as a whole (brief, session) may hold words of both. When they are taken apart,
each gets back the brief that they had before, and the session is over.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from schemas.events.memory import BriefWritten, SessionNoted
from schemas.events.merging import ParticipantMerged, ParticipantMergeRequested, ParticipantUnmerged
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers, Unit
from services.core.bus.work import Work
from services.core.db import Connection, fetch_one, queries
from services.learn_facts import decide_merging
from services.learn_facts.apply_facts import SQL as FACTS
from services.learn_facts.apply_facts import args_of
from services.learn_facts.load import load

SQL = queries(__file__, "merging.sql")


async def on_merge_asked(work: Work[ParticipantMergeRequested]) -> None:
    """Merge two participants, take them apart, or refuse."""
    asked = work.event
    async with work.unit() as unit:
        await unit.conn.execute(SQL.one_at_a_time, {"workspace": unit.workspace})
        known = {id: await load(unit, id) for id in sorted({asked.participant_id, asked.into})}
        before = await people_of(unit.conn, asked.participant_id, asked.into)
        if asked.op == "merge":
            together = await people_of(unit.conn, asked.into)
            stands = await unit.one(SQL.alias, participant_id=asked.participant_id)
            both = known[asked.participant_id], known[asked.into]
            await unit.record(decide_merging.merge(*both, asked, together, stands["into_id"] if stands else None))
        else:
            await _take_apart(unit, asked, before)


async def keeper_of(unit: Unit, participant_id: UUID, fact_id: UUID | None) -> UUID:
    """Under which of a person's addresses a fact is kept; the participant where it is none of the person's."""
    row = await unit.one(SQL.keeper, workspace=unit.workspace, participant_id=participant_id, fact_id=fact_id)
    keeper: UUID = row["participant_id"] if row else participant_id
    return keeper


async def people_of(conn: Connection, *ids: UUID) -> frozenset[UUID]:
    """Everybody who is one person with one of these."""
    row = await fetch_one(conn, SQL.people, {"ids": list(ids)})
    return frozenset(row["people"]) if row else frozenset(ids)


async def _take_apart(unit: Unit, asked: ParticipantMergeRequested, people: Collection[UUID]) -> None:
    alias = await unit.one(SQL.alias, participant_id=asked.participant_id)
    decided = decide_merging.unmerge(asked, alias["into_id"] if alias else None)
    if alias is not None and isinstance(decided, ParticipantUnmerged):
        for one in sorted(people):
            await unit.lock("participant", one)
            await _give_back(unit, one, alias["event_id"])
    await unit.record(decided)


async def _give_back(unit: Unit, participant_id: UUID, since: UUID) -> None:
    """What was written of a participant while they were merged with others is as it was."""
    stands = await unit.one(SQL.written_since, participant_id=participant_id, event_id=since)
    if stands is None:
        return
    if stands["brief"]:
        row = await unit.one(SQL.brief_before, participant_id=participant_id, event_id=since)
        await unit.record(BriefWritten(participant_id=participant_id, text=row["data"].get("text", "") if row else ""))
    if stands["thread_id"]:
        over = SessionNoted(
            participant_id=participant_id, thread_id=stands["thread_id"], summary="", expires_at=unit.now
        )
        await unit.record(over)


async def _merged(conn: Connection, envelope: Envelope) -> None:
    event = envelope.data
    assert isinstance(event, ParticipantMerged)
    args = args_of(envelope)
    said = "; ".join([f"{event.by}: {event.reason}" if event.reason else event.by, *event.settled])
    await conn.execute(SQL.insert_alias, args)
    await conn.execute(FACTS.log_fact, {**args, **_line("merged with another participant", event.into, said)})


async def _unmerged(conn: Connection, envelope: Envelope) -> None:
    event = envelope.data
    assert isinstance(event, ParticipantUnmerged)
    args = args_of(envelope)
    said = f"{event.by}: {event.reason}" if event.reason else event.by
    await conn.execute(SQL.delete_alias, args)
    await conn.execute(FACTS.log_fact, {**args, **_line("taken apart from another participant", event.into, said)})


def _line(decision: str, other: UUID, reason: str) -> dict[str, Any]:
    return {"decision": decision, "fact_id": None, "key": "", "value": str(other), "reason": reason}


MERGING_APPLIERS: Appliers = {ParticipantMerged: _merged, ParticipantUnmerged: _unmerged}
