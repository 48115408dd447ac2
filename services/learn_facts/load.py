"""Reads participants, and the mails that a proposal may cite, under the participants' locks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from schemas.events.base import EventData
from schemas.events.memory import TurnReflected
from schemas.events.replies import FactProposal
from services.core.bus.unit import Unit
from services.core.db import queries
from services.learn_facts.decide import Counted
from services.learn_facts.facts.apply import SQL as FACTS
from services.learn_facts.facts.consequences import ended
from services.learn_facts.facts.proposals import named_by
from services.learn_facts.participant import Brief, Fact, KnownIssue, Participant, Session, Source
from services.learn_facts.people import People, id_of
from services.learn_facts.person.apply import SQL as PERSON
from services.memory.keys import key_of
from services.memory.support import Support

SQL = queries(__file__)


@dataclass(frozen=True, slots=True)
class TheirMail:
    """A mail of the participant that may be cited. `mode` is live or history."""

    mail_id: UUID
    thread_id: UUID
    message_id: str
    text: str
    received_at: datetime
    sent_at: datetime | None
    mode: str
    trusted: bool
    passed_on: bool


@dataclass(frozen=True, slots=True)
class OurMessage:
    """What we wrote to them: a reply has a `reply_id`."""

    text: str
    at: datetime
    thread_id: UUID
    reply_id: UUID | None


OF_PERSON = (PERSON.participant, PERSON.issues, PERSON.brief, PERSON.session)
OF_FACTS = (FACTS.sources, FACTS.facts, FACTS.parents)
CITED = (SQL.mails, SQL.our_words, SQL.our_words_elsewhere)


async def load(unit: Unit, participant_id: UUID) -> Participant:
    """The participant, locked until the end of the transaction."""
    rows = await unit.read_locked("participant", participant_id, (*OF_PERSON, *OF_FACTS), participant_id=participant_id)
    return _participant(participant_id, rows)


async def load_without_facts(unit: Unit, participant_id: UUID) -> Participant:
    """The participant, locked, without facts: whom each mail needs, however much is known of them."""
    rows = await unit.read_locked("participant", participant_id, OF_PERSON, participant_id=participant_id)
    return _participant(participant_id, (*rows, [], [], []))


async def load_turn(
    unit: Unit,
    participant_id: UUID,
    mail_ids: Sequence[UUID],
    thread_id: UUID,
    proposals: Sequence[FactProposal],
) -> tuple[People, list[Source]]:
    """The participant and who else of the person keeps a fact that one names, all locked, and what proposals may cite.

    The mails of a turn, then others of the thread, then what we wrote there, for what is ours to say. What we wrote in
    other threads of theirs can be cited by nobody: it is known as ours.
    """
    args = {"participant_id": participant_id, "thread_id": thread_id, "mail_ids": list(mail_ids)}
    *rows, mails, ours, elsewhere = await unit.read_locked(
        "participant", participant_id, (*OF_PERSON, *OF_FACTS, *CITED), **args
    )
    who = _participant(participant_id, rows)
    here = [OurMessage(**row) for row in ours]
    written = [*here, *(OurMessage(**row) for row in elsewhere)]
    sources = [_cited(TheirMail(**row), written) for row in mails]
    sources += [_ours(one) for one in here if one.reply_id]
    return People.of(who, *await _keepers(unit, who, proposals)), sources


async def _keepers(unit: Unit, who: Participant, proposals: Iterable[FactProposal]) -> list[Participant]:
    """The person's other addresses under which facts are kept that proposals name."""
    named = {id_of(name) for one in proposals for name in named_by(one)} - {
        None,
        *(one.fact_id for one in who.every_fact),
    }
    if not named:
        return []
    args = {"workspace": unit.workspace, "participant_id": who.participant_id, "named": list(named)}
    return [await load(unit, row["participant_id"]) for row in await unit.all(FACTS.keepers, **args)]


async def load_concerned(unit: Unit, people: People, decided: Iterable[EventData]) -> People:
    """With everybody, locked, under whose address something rests on what these decisions end."""
    over = ended(decided)
    if not over:
        return people
    args = {"workspace": unit.workspace, "ended": over, "known": list(people.known)}
    resting = [row["participant_id"] for row in await unit.all(FACTS.resting_elsewhere, **args)]
    return people.with_others([await load(unit, one) for one in resting]) if resting else people


async def load_counted(unit: Unit, turn: TurnReflected) -> Counted:
    """What a turn adds to the mails that were learned from."""
    of = {"mail_ids": list(turn.mail_ids), "thread_id": turn.thread_id, "turn_id": turn.turn_id}
    row = await unit.one(SQL.uncounted, **of)
    assert row is not None
    return Counted(**row)


def _participant(participant_id: UUID, rows: Sequence[list[DictRow]]) -> Participant:
    found, issues, briefs, sessions, sources, facts, parents = rows
    told = {**found[0], "exists": True, "tags": tuple(found[0]["tags"])} if found else {}
    return Participant(
        participant_id=participant_id,
        **told,
        every_fact=_facts(facts, sources, parents),
        issues=tuple(KnownIssue(**issue) for issue in issues),
        session=_session(sessions[0]) if sessions else None,
        brief=Brief(briefs[0]["text"], tuple(briefs[0]["beside"])) if briefs else None,
    )


def _facts(facts: Iterable[DictRow], sources: Iterable[DictRow], parents: Iterable[DictRow]) -> tuple[Fact, ...]:
    supports_of = _grouped((row["fact_id"], Support(**row)) for row in sources)
    parents_of = _grouped((row["fact_id"], row["parent_id"]) for row in parents)
    return tuple(
        Fact(
            **{**row, "apart_from": tuple(row["apart_from"])},
            key=key_of(row["kept_key"], row["kind"]),
            supports=tuple(supports_of.get(row["fact_id"], ())),
            parents=tuple(parents_of.get(row["fact_id"], ())),
        )
        for row in facts
    )


def _session(row: DictRow) -> Session:
    return Session(**{**row, "entities": tuple(row["entities"]), "actions": tuple(row["actions"])})


def _grouped(pairs: Iterable[tuple[UUID, Any]]) -> Mapping[UUID, list[Any]]:
    groups: dict[UUID, list[Any]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def _cited(mail: TheirMail, written: Iterable[OurMessage]) -> Source:
    return Source(
        mail_id=mail.mail_id,
        thread_id=mail.thread_id,
        message_id=mail.message_id,
        text=mail.text,
        received_at=mail.received_at,
        sent_at=mail.sent_at,
        history=mail.mode == "history",
        trusted=mail.trusted,
        our_words=tuple(one.text for one in written if one.at < mail.received_at),
        passed_on=mail.passed_on,
    )


def _ours(message: OurMessage) -> Source:
    return Source(
        mail_id=None,
        thread_id=message.thread_id,
        message_id="",
        text=message.text,
        received_at=message.at,
        sent_at=None,
        history=False,
        trusted=True,
        reply_id=message.reply_id,
    )
