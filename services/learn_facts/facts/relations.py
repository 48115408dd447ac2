"""Edges of the graph: kept where a customer's own statement says so. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID, uuid5

from schemas.events.memory import RelationProposal, RelationRecorded
from services.core.settings import LearningSettings
from services.learn_facts.facts.assertion import Mood, mood_of
from services.learn_facts.facts.evidence import objection
from services.learn_facts.participant import Source
from services.memory.quotes import find_quote

UNSAID: frozenset[Mood | None] = frozenset({"asks", "supposes", "wishes", "denies"})


def relate(
    participant_id: UUID, relations: Iterable[RelationProposal], sources: Sequence[Source], learning: LearningSettings
) -> Iterator[RelationRecorded]:
    """The edges whose quote stands in one of the mails."""
    for one in relations:
        cited = next((source for source in sources if _holds(one, source)), None)
        if cited is None or len(one.quote) > learning.quote_characters:
            continue
        yield RelationRecorded(
            participant_id=participant_id,
            relation_id=relation_id(participant_id, one.subject, one.predicate, one.object),
            **one.model_dump(),
            source_mail=cited.mail_id,
        )


def relation_id(participant_id: UUID, subject: str, predicate: str, other: str) -> UUID:
    """The edge that these three words are."""
    return uuid5(participant_id, "\x1f".join((subject.casefold(), predicate, other.casefold())))


def _holds(edge: RelationProposal, source: Source) -> bool:
    """Whether a customer's own statement stands in this mail."""
    span = find_quote(edge.quote, source.text)
    if span is None or source.is_ours or not source.trusted:
        return False
    if mood_of(edge.object, span, source.text) in UNSAID:
        return False
    return not objection(span, source.text, "relationship", source.our_words, edge.object)
