"""Reads who is one person, and what people who are merged, unmerged or split have, under the locks of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.events.memory import Trust
from schemas.events.merging import ParticipantMergeRequested, ParticipantSplitRequested
from services.core.bus.unit import Unit
from services.core.db import Connection, fetch_one, queries
from services.learn_facts.load import load
from services.learn_facts.participant import Participant

SQL = queries(__file__)


@dataclass(frozen=True, slots=True)
class Written:
    """What was written of a participant while they were merged: the brief before, and the session's thread."""

    participant_id: UUID
    brief_before: str | None  # None: no brief was written since
    session_thread: UUID | None  # None: no session was noted since


@dataclass(frozen=True, slots=True)
class Merging:
    """Two participants, who is one person with the second, and what was written since the first was merged."""

    who: Participant
    into: Participant
    together: frozenset[UUID]
    written: Sequence[Written] = ()


@dataclass(frozen=True, slots=True)
class KeptFact:
    """A fact's row as another mailbox takes it over."""

    fact_id: UUID
    kind: str
    key: str
    value: str
    text: str
    single_valued: bool
    confidence: float
    importance: float
    trust: Trust
    valid_from: datetime
    expires_at: datetime | None
    superseded_at: datetime | None
    merged_into: UUID | None


@dataclass(frozen=True, slots=True)
class KeptSource:
    """What a fact rests on. `moves`: it is the other mailbox's."""

    fact_id: UUID
    mail_id: UUID | None
    reply_id: UUID | None
    thread_id: UUID | None
    trust: Trust
    quote: str | None
    span_start: int | None
    span_end: int | None
    said_at: datetime | None
    message_id: str
    moves: bool


@dataclass(frozen=True, slots=True)
class KeptRelation:
    """An edge of the graph that rests on the other mailbox's mail."""

    relation_id: UUID
    subject: str
    predicate: str
    object: str
    quote: str
    confidence: float
    source_mail: UUID | None


@dataclass(frozen=True, slots=True)
class Splitting:
    """Two mailboxes that had one id, and what is kept under it; `issues` are those of the other's threads, by key."""

    shared: Participant
    own: Participant
    facts: Sequence[KeptFact]
    sources: Sequence[KeptSource]
    relations: Sequence[KeptRelation]
    issues: Mapping[str, UUID]


async def keeper_of(unit: Unit, participant_id: UUID, fact_id: UUID | None) -> UUID:
    """Under which of a person's addresses a fact is kept; the participant where it is none of the person's."""
    row = await unit.one(SQL.keeper, workspace=unit.workspace, participant_id=participant_id, fact_id=fact_id)
    keeper: UUID = row["participant_id"] if row else participant_id
    return keeper


async def load_person(unit: Unit, participant_id: UUID) -> list[Participant]:
    """All who are one person with a participant, each locked."""
    return [await load(unit, id) for id in sorted(await _people_of(unit.conn, participant_id))]


async def load_merging(unit: Unit, asked: ParticipantMergeRequested) -> Merging:
    """What a merge or its end is decided on. One at a time in a workspace: two at once could make a ring."""
    await unit.conn.execute(SQL.one_at_a_time, {"workspace": unit.workspace})
    known = {id: await load(unit, id) for id in sorted({asked.participant_id, asked.into})}
    who, into = known[asked.participant_id], known[asked.into]
    if asked.op == "merge":
        return Merging(who, into, await _people_of(unit.conn, asked.into))
    together = await _people_of(unit.conn, asked.participant_id, asked.into)
    alias = await unit.one(SQL.alias, participant_id=asked.participant_id)
    if alias is None or alias["into_id"] != asked.into:
        return Merging(who, into, together)
    return Merging(who, into, together, [await _written(unit, one, alias["event_id"]) for one in sorted(together)])


async def load_splitting(unit: Unit, asked: ParticipantSplitRequested) -> Splitting:
    """What is decided on where the mails under one id are of two mailboxes."""
    known = {id: await load(unit, id) for id in sorted({asked.participant_id, asked.into})}
    args = {"participant_id": asked.participant_id, "into": asked.into, "workspace": unit.workspace}
    return Splitting(
        known[asked.participant_id],
        known[asked.into],
        [KeptFact(**row) for row in await unit.all(SQL.kept_facts, **args)],
        [KeptSource(**row) for row in await unit.all(SQL.kept_sources, **args)],
        [KeptRelation(**row) for row in await unit.all(SQL.kept_relations, **args)],
        {row["issue_key"]: row["thread_id"] for row in await unit.all(SQL.kept_issues, **args)},
    )


async def _people_of(conn: Connection, *ids: UUID) -> frozenset[UUID]:
    """Everybody who is one person with one of these."""
    row = await fetch_one(conn, SQL.people, {"ids": list(ids)})
    return frozenset(row["people"]) if row else frozenset(ids)


async def _written(unit: Unit, participant_id: UUID, since: UUID) -> Written:
    """What of a participant was written after an event, with the participant locked."""
    of: dict[str, Any] = {"participant_id": participant_id, "event_id": since}
    await unit.lock("participant", participant_id)
    stands = await unit.one(SQL.written_since, **of)
    if stands is None:
        return Written(participant_id, None, None)
    before = await unit.one(SQL.brief_before, **of) if stands["brief"] else None
    brief = (before["data"].get("text", "") if before else "") if stands["brief"] else None
    return Written(participant_id, brief, stands["thread_id"])
