"""Decides on participants that are one person, or are not: merged, unmerged, split, or refused in words. Pure.

A merge moves nothing. Each participant keeps what was learned under their own address; readers put it together, and
where both have a value the typed policy says which one stands. So undoing it gives back what was there before, and to
each the brief that they had before: what was written of a merged person as a whole may hold words of both.

A split takes two mailboxes apart which had one id. A fact goes where the mails that it rests on went. What rests on
mails of both is kept by both, as each of them said it; what no mail says (a person's own entry) stays where it is. What
had given way to a fact that goes is believed again. Brief and session are emptied: nobody can say which of their words
are whose.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from schemas.events.base import EventData
from schemas.events.memory import (
    BriefWritten,
    FactCorroborated,
    FactRecorded,
    FactRefused,
    FactRetracted,
    FactsUnmerged,
    IssuesResolved,
    ParticipantSeen,
    RelationRecorded,
    SessionNoted,
)
from schemas.events.merging import (
    ParticipantMerged,
    ParticipantMergeRequested,
    ParticipantSplitRequested,
    ParticipantUnmerged,
)
from services.learn_facts.facts.conflicts import RANK
from services.learn_facts.facts.relations import relation_id
from services.learn_facts.facts.requests import restored
from services.learn_facts.facts.values import same_value
from services.learn_facts.identity.load import KeptFact, KeptRelation, KeptSource, Merging, Splitting, Written
from services.learn_facts.participant import Fact, Participant
from services.learn_facts.person.session import live

REASON = "another mailbox said it, whose mails were kept under this one's id"


def answer(asked: ParticipantMergeRequested, merging: Merging, now: datetime) -> Iterator[EventData]:
    """The merge or its end, or why not."""
    against = _objection(merging) if asked.op == "merge" else _objection_to_end(asked, merging.who)
    given = {"participant_id": asked.participant_id, "into": asked.into, "by": asked.by, "reason": asked.reason}
    if against:
        yield _refused(asked, against)
    elif asked.op == "merge":
        settled = tuple(_settled(one, other) for one, other in _rivals(merging.who.facts, merging.into.facts))
        yield ParticipantMerged(**given, settled=settled)
    else:
        for one in merging.written:
            yield from _given_back(one, now)
        yield ParticipantUnmerged(**given)


def _objection(merging: Merging) -> str:
    who, into = merging.who, merging.into
    if who.participant_id == into.participant_id:
        return "nobody is merged with themselves"
    if not (who.exists and into.exists):
        return "there is no such participant"
    if who.space != into.space:
        return "they are known in two spaces of memory, and what one knows the other never does"
    if who.participant_id in merging.together:
        return "they are one person already"
    if who.alias_of is not None:
        return f"the participant is merged into {who.alias_of}; take them apart first"
    return ""


def _objection_to_end(asked: ParticipantMergeRequested, who: Participant) -> str:
    if who.alias_of == asked.into:
        return ""
    return "they are not merged" if who.alias_of is None else f"the participant is merged into {who.alias_of}"


def _refused(asked: ParticipantMergeRequested, reason: str) -> FactRefused:
    return FactRefused(
        participant_id=asked.participant_id, op=asked.op, kind="", key="", value=str(asked.into), reason=reason
    )


def _given_back(written: Written, now: datetime) -> Iterator[EventData]:
    """What was written of a participant while they were merged with others is as it was; the session is over."""
    id = written.participant_id
    if written.brief_before is not None:
        yield BriefWritten(participant_id=id, text=written.brief_before)
    if written.session_thread is not None:
        yield SessionNoted(participant_id=id, thread_id=written.session_thread, summary="", expires_at=now)


def _rivals(ours: Collection[Fact], theirs: Collection[Fact]) -> Iterator[tuple[Fact, Fact]]:
    for one in ours:
        for other in theirs:
            if one.key == other.key and one.single_valued and other.single_valued:
                yield one, other


def _settled(one: Fact, other: Fact) -> str:
    """How the readers' rule (`outranked` of the database) settles two values, without the values."""
    if same_value(one.value, other.value):
        return f"{one.key}: both say the same"
    if RANK[one.trust] != RANK[other.trust]:
        first = max(one, other, key=lambda fact: RANK[fact.trust])
        return f"{one.key}: the {first.trust} one stands"
    return f"{one.key}: the newer one stands"


def split(asked: ParticipantSplitRequested, splitting: Splitting, now: datetime) -> Iterator[EventData]:
    """What gives each mailbox what was learned from its own mails. Asked again, it moves what is known since."""
    shared, own = splitting.shared, splitting.own
    if not own.exists:
        yield ParticipantSeen(participant_id=asked.into, addr=asked.addr, name=asked.name, seen_at=asked.seen_at)
    division = divided(splitting.facts, splitting.sources)
    yield from leaves(shared, division)
    yield from arrives(own, division)
    for one in splitting.relations:
        yield from _moved(one, asked.participant_id, asked.into)
    for key, thread_id in splitting.issues.items():
        yield IssuesResolved(participant_id=asked.participant_id, issue_key=key, thread_id=thread_id)
    yield from _emptied(shared, now)


def _moved(edge: KeptRelation, id: UUID, into: UUID) -> Iterator[RelationRecorded]:
    """An edge of the graph, taken from one and given to the other."""
    told = asdict(edge)
    new = relation_id(into, edge.subject, edge.predicate, edge.object)
    yield RelationRecorded(participant_id=id, op="delete", **told)
    yield RelationRecorded(participant_id=into, op="insert", **{**told, "relation_id": new})


def _emptied(shared: Participant, now: datetime) -> Iterator[EventData]:
    """Brief and session may hold words of both."""
    id, session = shared.participant_id, live(shared, now)
    if shared.briefed:
        yield BriefWritten(participant_id=id, text="")
    if session is not None:
        yield SessionNoted(participant_id=id, thread_id=session.thread_id, summary="", expires_at=now)


@dataclass(frozen=True, slots=True)
class Division:
    """The facts of a participant, with `theirs`, the sources of each that are the other mailbox's."""

    facts: Sequence[KeptFact]
    theirs: Mapping[UUID, Sequence[KeptSource]]
    whole: frozenset[UUID]  # what rests on nothing else

    @property
    def current(self) -> list[KeptFact]:
        """What is believed now and rests on the other mailbox's mails, in part at least."""
        return [one for one in self.facts if one.superseded_at is None and self.theirs.get(one.fact_id)]


def divided(facts: Sequence[KeptFact], sources: Sequence[KeptSource]) -> Division:
    """Whose each fact is, by what it rests on."""
    theirs: dict[UUID, list[KeptSource]] = {}
    kept: set[UUID] = set()
    for one in sources:
        if one.moves:
            theirs.setdefault(one.fact_id, []).append(one)
        else:
            kept.add(one.fact_id)
    return Division(facts, theirs, frozenset(theirs) - kept)


def leaves(who: Participant, division: Division) -> Iterator[EventData]:
    """What becomes of the memory of the participant whose id both had."""
    for fact in division.facts:
        if fact.fact_id not in division.whole:
            continue
        members = [one for one in division.facts if one.merged_into == fact.fact_id]
        apart = tuple(one.fact_id for one in members if one.fact_id not in division.whole)
        if apart:
            yield FactsUnmerged(
                participant_id=who.participant_id,
                fact_id=fact.fact_id,
                members=apart,
                confidence=fact.confidence,
                by="the split of two mailboxes",
            )
        yield FactRetracted(participant_id=who.participant_id, fact_id=fact.fact_id, reason=REASON)
    yield from restored(who, division.whole)


def arrives(whom: Participant, division: Division) -> Iterator[EventData]:
    """What the other mailbox is known for from now on, resting on its own mails alone."""
    held = {one.key: one.fact_id for one in whom.facts if one.single_valued}
    known = _ids(whom)
    for fact in division.current:
        id = uuid5(fact.fact_id, str(whom.participant_id))
        if id in known:
            continue
        first, *others = division.theirs[fact.fact_id]
        successor = held.get(fact.key) if fact.single_valued else None
        yield _recorded(whom.participant_id, id, fact, first, successor)
        for one in others:
            yield _corroborated(whom.participant_id, id, fact, one)


def _ids(whom: Participant) -> Collection[UUID]:
    return {*(one.fact_id for one in whom.facts), *(one.fact_id for one in whom.past)}


def _recorded(
    participant_id: UUID, id: UUID, fact: KeptFact, source: KeptSource, successor: UUID | None
) -> FactRecorded:
    same = ("kind", "key", "value", "text", "single_valued", "confidence", "importance", "trust", "expires_at")
    return FactRecorded(
        participant_id=participant_id,
        fact_id=id,
        **{name: getattr(fact, name) for name in same},
        valid_from=source.said_at or fact.valid_from,
        **_cited(source),
        source_reply=source.reply_id,
        source_message_id=source.message_id,
        rule="said by this mailbox, whose mails were kept under another one's id",
        past=successor is not None,
        superseded_by=successor,
    )


def _corroborated(participant_id: UUID, id: UUID, fact: KeptFact, source: KeptSource) -> FactCorroborated:
    return FactCorroborated(
        participant_id=participant_id,
        fact_id=id,
        confidence=fact.confidence,
        trust=source.trust,
        said_at=source.said_at,
        **_cited(source),
    )


def _cited(source: KeptSource) -> dict[str, Any]:
    """Where a quote stands, as events tell it."""
    spans = {"span_start": source.span_start, "span_end": source.span_end}
    return {
        "source_mail": source.mail_id,
        "source_thread": source.thread_id,
        "quote": source.quote or "",
    } | spans
