"""Two mailboxes that were kept under one id are taken apart, under the locks of both participants."""

from __future__ import annotations

from typing import Any

from schemas.events.memory import BriefWritten, IssuesResolved, ParticipantSeen, RelationRecorded, SessionNoted
from schemas.events.merging import ParticipantSplitRequested
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.db import queries
from services.learn_facts import decide_session
from services.learn_facts.apply_facts import SQL as FACTS
from services.learn_facts.decide_splitting import arrives, divided, leaves
from services.learn_facts.load import load
from services.learn_facts.participant import Participant
from services.learn_facts.relations import relation_id

SQL = queries(__file__, "splitting.sql")


async def on_split(work: Work[ParticipantSplitRequested]) -> None:
    """Give each mailbox what was learned from its own mails. Asked again, it moves what has come to be known since."""
    asked = work.event
    async with work.unit() as unit:
        known = {id: await load(unit, id) for id in sorted({asked.participant_id, asked.into})}
        shared, own = known[asked.participant_id], known[asked.into]
        if not own.exists:
            seen = {"addr": asked.addr, "name": asked.name, "seen_at": asked.seen_at}
            await unit.record(ParticipantSeen(participant_id=asked.into, **seen))
        args = {"participant_id": asked.participant_id, "into": asked.into, "workspace": unit.workspace}
        division = divided(await unit.all(SQL.facts, **args), await unit.all(SQL.sources, **args))
        for event in (*leaves(shared, division), *arrives(own, division)):
            await unit.record(event)
        await _relations(unit, args)
        for row in await unit.all(SQL.issues, **args):
            await unit.record(IssuesResolved(participant_id=asked.participant_id, **row))
        await _forget_texts(unit, shared)


async def _relations(unit: Unit, args: dict[str, Any]) -> None:
    """The edges of the graph, taken from one and given to the other."""
    for row in await unit.all(SQL.relations, **args):
        old = row.pop("relation_id")
        id = relation_id(args["into"], row["subject"], row["predicate"], row["object"])
        await unit.record(RelationRecorded(participant_id=args["participant_id"], relation_id=old, op="delete", **row))
        await unit.record(RelationRecorded(participant_id=args["into"], relation_id=id, op="insert", **row))


async def _forget_texts(unit: Unit, shared: Participant) -> None:
    """Brief and session may hold words of both."""
    id = shared.participant_id
    row = await unit.one(FACTS.briefed, workspace=unit.workspace, participant_ids=[id])
    if row and row["there"]:
        await unit.record(BriefWritten(participant_id=id, text=""))
    session = decide_session.live(shared, unit.now)
    if session is not None:
        over = SessionNoted(participant_id=id, thread_id=session.thread_id, summary="", expires_at=unit.now)
        await unit.record(over)
