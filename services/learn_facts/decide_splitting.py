"""Pure decisions that take two mailboxes apart which had one id: what was learned from whose mails.

A fact goes where the mails that it rests on went. What rests on mails of both is kept by both, as each of them said it;
what no mail says (a person's own entry) stays where it is. What had given way to a fact that goes is believed again.
What was written about both as one (brief, session) is emptied: nobody can say which of its words are whose.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from schemas.events.base import EventData
from schemas.events.memory import FactCorroborated, FactRecorded, FactRetracted, FactsUnmerged
from services.learn_facts.participant import Participant
from services.learn_facts.withdrawal import restored

REASON = "another mailbox said it, whose mails were kept under this one's id"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Division:
    """The facts of a participant, as rows; `theirs` are the sources of each that are the other mailbox's."""

    facts: Sequence[Row]
    theirs: Mapping[UUID, Sequence[Row]]
    whole: frozenset[UUID]  # what rests on nothing else

    @property
    def current(self) -> list[Row]:
        """What is believed now and rests on the other mailbox's mails, in part at least."""
        return [one for one in self.facts if one["superseded_at"] is None and self.theirs.get(one["fact_id"])]


def divided(facts: Sequence[Row], sources: Sequence[Row]) -> Division:
    """Whose each fact is, by what it rests on."""
    theirs: dict[UUID, list[Row]] = {}
    kept: set[UUID] = set()
    for one in sources:
        if one["moves"]:
            theirs.setdefault(one["fact_id"], []).append(one)
        else:
            kept.add(one["fact_id"])
    return Division(facts, theirs, frozenset(theirs) - kept)


def leaves(who: Participant, division: Division) -> Iterator[EventData]:
    """What becomes of the memory of the participant whose id both had."""
    for fact in division.facts:
        if fact["fact_id"] not in division.whole:
            continue
        members = [one for one in division.facts if one["merged_into"] == fact["fact_id"]]
        apart = tuple(one["fact_id"] for one in members if one["fact_id"] not in division.whole)
        if apart:
            yield FactsUnmerged(
                participant_id=who.participant_id,
                fact_id=fact["fact_id"],
                members=apart,
                confidence=fact["confidence"],
                by="the split of two mailboxes",
            )
        yield FactRetracted(participant_id=who.participant_id, fact_id=fact["fact_id"], reason=REASON)
    yield from restored(who, division.whole)


def arrives(whom: Participant, division: Division) -> Iterator[EventData]:
    """What the other mailbox is known for from now on, resting on its own mails alone."""
    held = {one.key: one.fact_id for one in whom.facts if one.single_valued}
    known = _ids(whom)
    for fact in division.current:
        id = uuid5(fact["fact_id"], str(whom.participant_id))
        if id in known:
            continue
        first, *others = division.theirs[fact["fact_id"]]
        successor = held.get(fact["key"]) if fact["single_valued"] else None
        yield _recorded(whom.participant_id, id, fact, first, successor)
        for one in others:
            yield _corroborated(whom.participant_id, id, fact, one)


def _ids(whom: Participant) -> Collection[UUID]:
    return {*(one.fact_id for one in whom.facts), *(one.fact_id for one in whom.past)}


def _recorded(participant_id: UUID, id: UUID, fact: Row, source: Row, successor: UUID | None) -> FactRecorded:
    same = ("kind", "key", "value", "text", "single_valued", "confidence", "importance", "trust", "expires_at")
    return FactRecorded(
        participant_id=participant_id,
        fact_id=id,
        **{name: fact[name] for name in same},
        valid_from=source["said_at"] or fact["valid_from"],
        **_cited(source),
        source_reply=source["reply_id"],
        source_message_id=source["message_id"],
        rule="said by this mailbox, whose mails were kept under another one's id",
        past=successor is not None,
        superseded_by=successor,
    )


def _corroborated(participant_id: UUID, id: UUID, fact: Row, source: Row) -> FactCorroborated:
    return FactCorroborated(
        participant_id=participant_id,
        fact_id=id,
        confidence=fact["confidence"],
        trust=source["trust"],
        said_at=source["said_at"],
        **_cited(source),
    )


def _cited(source: Row) -> Row:
    """Where a quote stands, as events tell it."""
    spans = {"span_start": source["span_start"], "span_end": source["span_end"]}
    return {
        "source_mail": source["mail_id"],
        "source_thread": source["thread_id"],
        "quote": source["quote"] or "",
    } | spans
