"""Pure decisions about a person's brief: of two that were written from the same one none is lost.

A version is named by the hash of its text. Invariant: a text that its author wrote without having seen the brief that
holds takes nobody's place: it is kept beside, up to a number, until a later author has seen both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import BriefDiverged, BriefRequested, BriefWritten, FactRefused, TurnReflected
from schemas.words import clip_words
from services.core.settings import LearningSettings
from services.learn_facts.participant import Participant
from services.memory.brief_version import version_of


def versions_of(texts: Iterable[str]) -> tuple[str, ...]:
    """The names of some briefs."""
    return tuple(map(version_of, texts))


def curated(who: Participant, turn: TurnReflected, learning: LearningSettings) -> EventData | None:
    """What becomes of the brief that an author wrote after a turn; None where they wrote none."""
    id, known, text, bases = who.participant_id, who.brief, turn.brief, turn.brief_bases
    if not text:
        return None
    if known is None:
        return BriefWritten(participant_id=id, text=text, bases=bases)
    unseen = [one for one in known.beside if version_of(one) not in bases and one != text]
    if version_of(known.text) in bases or known.text == text:
        return BriefWritten(participant_id=id, text=text, bases=bases, keeps=versions_of(unseen))
    if not known.text:
        reason = "it was written from a brief that was taken back meanwhile"
        return FactRefused(participant_id=id, op="brief", kind="", key="", reason=reason)
    kept = unseen[max(0, len(unseen) + 1 - learning.brief_divergences) :]
    return BriefDiverged(participant_id=id, text=text, bases=bases, keeps=versions_of(kept))


def answer(person: Sequence[Participant], asked: BriefRequested, learning: LearningSettings) -> Iterator[EventData]:
    """What becomes of a person's request: it is done under each of the person's addresses, or refused in words."""
    against = _objection(person, asked, learning)
    if against:
        yield FactRefused(participant_id=asked.participant_id, op=f"brief {asked.op}", kind="", key="", reason=against)
        return
    for who in person:
        bases = versions_of((who.brief.text, *who.brief.beside)) if who.brief else ()
        yield BriefWritten(participant_id=who.participant_id, text=asked.text.strip(), by=asked.by, bases=bases)


def _objection(person: Sequence[Participant], asked: BriefRequested, learning: LearningSettings) -> str:
    if not any(one.exists for one in person):
        return "there is no such participant"
    if asked.base and asked.base not in {version_of(one.brief.text) for one in person if one.brief}:
        return "it was written again since: look at it as it is now"
    if asked.op == "delete":
        return "" if any(one.briefed for one in person) else "there is no brief"
    if not asked.text.strip():
        return "a brief needs words; delete it instead"
    if clip_words(asked.text, learning.brief_words) != asked.text.strip():
        return f"a brief has at most {learning.brief_words} words (learning.brief_words)"
    return ""


def expired(participant_id: UUID, newer: Sequence[str]) -> BriefWritten:
    """What is left of a brief that nothing has renewed for too long: what was written beside it since, newest first."""
    text, *others = newer or ("",)
    return BriefWritten(participant_id=participant_id, text=text, keeps=versions_of(others))
