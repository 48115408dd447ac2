"""Reads a participant, and the mails that a proposal may cite, under the participant's lock."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any
from uuid import UUID

from services.core.bus.unit import Unit
from services.learn_facts.apply_facts import SQL
from services.learn_facts.keys import key_of
from services.learn_facts.participant import KnownFact, KnownIssue, Participant, PastFact, Session, Source
from services.memory.support import Support

Row = dict[str, Any]

PARTICIPANT = (SQL.participant, SQL.issues, SQL.sources, SQL.facts, SQL.parents, SQL.session)
CITED = (SQL.mails, SQL.our_words, SQL.our_words_elsewhere)
KNOWN = tuple(one.name for one in fields(KnownFact) if one.name not in ("supports", "parents", "members"))
TOLD = ("name", "state", "standing_at", "first_seen_at", "last_seen_at", "sentiment", "frustrated_in_row")
PAST = tuple(one.name for one in fields(PastFact) if one.name not in ("supports", "members"))


async def load(unit: Unit, participant_id: UUID) -> Participant:
    """The participant, held until the end of the transaction."""
    rows = await unit.read_locked("participant", participant_id, PARTICIPANT, participant_id=participant_id)
    return _participant(participant_id, rows)


async def load_standing(unit: Unit, participant_id: UUID) -> Participant:
    """The participant, held, without facts and troubles: whom each mail needs, however much is known of them."""
    args = {"participant_id": participant_id}
    found, sessions = await unit.read_locked("participant", participant_id, (SQL.participant, SQL.session), **args)
    return _participant(participant_id, (found, [], [], [], [], sessions))


async def load_turn(
    unit: Unit, participant_id: UUID, mail_ids: Sequence[UUID], thread_id: UUID
) -> tuple[Participant, list[Source]]:
    """The participant, held, and what a proposal may cite.

    The mails of a turn, then others of the thread, then what we wrote there, for what is ours to say. What we wrote in
    other threads of theirs can be cited by nobody: it is known as ours.
    """
    args = {"participant_id": participant_id, "thread_id": thread_id, "mail_ids": list(mail_ids)}
    *rows, mails, ours, elsewhere = await unit.read_locked(
        "participant", participant_id, (*PARTICIPANT, *CITED), **args
    )
    sources = [_mail(row, _said_before(row, [*ours, *elsewhere])) for row in mails]
    return _participant(participant_id, rows), [*sources, *(_our_mail(row) for row in ours if row["reply_id"])]


def _participant(participant_id: UUID, rows: Sequence[list[Row]]) -> Participant:
    found, issues, sources, facts, parents, sessions = rows
    supports = _grouped((row["fact_id"], Support(**row)) for row in sources)
    row = found[0] if found else None
    told = {name: row[name] for name in TOLD} if row else {}
    return Participant(
        participant_id=participant_id,
        exists=row is not None,
        **told,
        tags=tuple(row["tags"]) if row else (),
        facts=_facts(facts, supports, parents),
        past=_past(facts, supports),
        issues=tuple(KnownIssue(**issue) for issue in issues),
        session=_session(sessions[0]) if sessions else None,
    )


def _facts(
    rows: Sequence[Row], supports: Mapping[UUID, list[Support]], parents: Iterable[Row]
) -> tuple[KnownFact, ...]:
    """What is believed now, oldest first."""
    parents_of = _grouped((one["fact_id"], one["parent_id"]) for one in parents)
    members_of = _members(rows)
    return tuple(
        KnownFact(
            **{**_of(row, KNOWN), "apart_from": tuple(row["apart_from"])},
            supports=tuple(one for id in (row["fact_id"], *members_of[row["fact_id"]]) for one in supports[id]),
            parents=tuple(parents_of[row["fact_id"]]),
            members=tuple(members_of[row["fact_id"]]),
        )
        for row in rows
        if row["superseded_at"] is None
    )


def _past(rows: Sequence[Row], supports: Mapping[UUID, list[Support]]) -> tuple[PastFact, ...]:
    """What is not current any more, merged members apart, which stand in the fact that shows them until withdrawn."""
    members_of = _members(rows)
    past = (row for row in rows if row["superseded_at"] and (row["merged_into"] is None or row["withdrawn_at"]))
    return tuple(
        PastFact(
            **_of(row, PAST),
            supports=tuple(supports[row["fact_id"]]),
            members=tuple(members_of[row["fact_id"]]),
        )
        for row in sorted(past, key=lambda one: (one["valid_from"], one["fact_id"]))
    )


def _of(row: Row, names: Iterable[str]) -> Row:
    """Columns of a fact, its key as decisions compare it: rows of before may have another form."""
    return {**{name: row[name] for name in names}, "key": key_of(row["key"], row["kind"])}


def _members(rows: Iterable[Row]) -> dict[UUID, list[UUID]]:
    """Which facts were merged into each, or into one of those."""
    shown_by = {one["fact_id"]: one["merged_into"] for one in rows if one["merged_into"]}
    return _grouped((shown, member) for member in shown_by for shown in _above(member, shown_by))


def _above(member: UUID, shown_by: Mapping[UUID, UUID]) -> Iterator[UUID]:
    """The fact that shows a member, and the one that shows that."""
    while member in shown_by:
        member = shown_by[member]
        yield member


def _session(row: Row) -> Session:
    return Session(**{**row, "entities": tuple(row["entities"]), "actions": tuple(row["actions"])})


def _grouped(pairs: Iterable[tuple[UUID, Any]]) -> dict[UUID, list[Any]]:
    groups: dict[UUID, list[Any]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def _said_before(mail: Row, ours: Iterable[Row]) -> tuple[str, ...]:
    return tuple(one["text"] for one in ours if one["at"] < mail["received_at"])


def _mail(row: Row, our_words: tuple[str, ...]) -> Source:
    return Source(
        mail_id=row["mail_id"],
        thread_id=row["thread_id"],
        message_id=row["message_id"],
        text=row["text"],
        received_at=row["received_at"],
        sent_at=row["sent_at"],
        history=row["mode"] == "history",
        trusted=row["trusted"],
        our_words=our_words,
    )


def _our_mail(row: Row) -> Source:
    return Source(
        mail_id=None,
        thread_id=row["thread_id"],
        message_id="",
        text=row["text"],
        received_at=row["at"],
        sent_at=None,
        history=False,
        trusted=True,
        reply_id=row["reply_id"],
    )
