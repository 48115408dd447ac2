"""Decides what follows from a decision: derived facts go stale, values become doubtful, near-duplicates one. Pure.

Where the mail itself says that a current value is so no more, or asserts another one that the model failed to quote,
that value is to be confirmed instead of silently kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import FactCorroborated, FactMarkedStale, FactRecorded, FactRetracted, FactsMerged
from schemas.events.replies import FactProposal
from services.core.settings import LearningSettings
from services.learn_facts.facts.assertion import confirms, given_up, is_said
from services.learn_facts.facts.claim import about
from services.learn_facts.facts.plainly import bears_on, is_passed_over, tells_of_another, tells_otherwise
from services.learn_facts.facts.policy import LEARNING, OCCURRENCES, Policy, valid_from
from services.learn_facts.facts.values import same_value
from services.learn_facts.participant import Fact, Participant, Source
from services.learn_facts.people import People
from services.mail.reply_text import without_quoted
from services.memory.keys import are_akin, same_thing
from services.memory.quotes import find_quote
from services.memory.support import confidence
from services.memory.wording import content_of, numbers_of, same_word, says, unsaid, words_of

Similarity = Callable[[Fact, Fact], float]

_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")


def with_consequences(people: People, who: Participant, decided: Sequence[EventData], now: datetime) -> list[EventData]:
    """What was decided of a participant, and what follows for the facts that were derived, theirs or others'."""
    over = set(ended(decided))
    resting = [people[id] for id in sorted(people.known) if id != who.participant_id and _rests_on(people[id], over)]
    return [*decided, *(event for one in (who, *resting) for event in stale(one, decided, now))]


def _rests_on(who: Participant, ended: Collection[UUID]) -> bool:
    return any(parent in ended for one in who.every_fact for parent in one.parents)


def stale(who: Participant, decided: Iterable[EventData], now: datetime) -> Iterator[FactMarkedStale]:
    """The facts that were derived, directly or through others, from what is believed no more.

    That is what has just been replaced or taken back, with all that was merged into it, and what has expired by now.
    """
    changed = [*_of_members(who, [one for event in decided for one in _ended(event)]), *_over(who, now)]
    seen: set[UUID] = {parent for parent, _ in changed}
    while changed:
        parent, reason = changed.pop(0)
        for child in who.facts:
            if parent in child.parents and child.fact_id not in seen and not _rejudged(who, child, parent):
                seen.add(child.fact_id)
                changed.append((child.fact_id, "a fact that it was derived from is stale"))
                if not child.stale:
                    yield FactMarkedStale(
                        participant_id=who.participant_id, fact_id=child.fact_id, parent_id=parent, reason=reason
                    )


def ended(decided: Iterable[EventData]) -> list[UUID]:
    """The facts that these decisions end."""
    return [fact_id for event in decided for fact_id, _ in _ended(event)]


def _of_members(who: Participant, ended: Iterable[tuple[UUID, str]]) -> Iterator[tuple[UUID, str]]:
    """What ended, and the facts that were shown as it: what is derived from them rests on it."""
    members = {one.fact_id: one.members for one in who.facts}
    for fact_id, reason in ended:
        yield from ((one, reason) for one in (fact_id, *members.get(fact_id, ())))


def _over(who: Participant, now: datetime) -> Iterator[tuple[UUID, str]]:
    expired = [one for one in who.facts if one.is_over(now)]
    yield from _of_members(who, ((one.fact_id, "a fact that it was derived from has expired") for one in expired))


def _rejudged(who: Participant, child: Fact, parent: UUID) -> bool:
    """Whether the child was said again after its parent had expired: then it stands for itself."""
    over = next((one.expires_at for one in who.facts if parent in (one.fact_id, *one.members)), None)
    return over is not None and child.confirmed_at >= over


def alike(who: Participant, fact_id: UUID) -> list[Fact]:
    """The facts that may say the same as this one, itself included, oldest first; none where it is believed no more."""
    new = next((one for one in who.facts if one.fact_id == fact_id), None)
    return [one for one in who.facts if new and mergeable(new) and (one is new or agree(one, new))]


def stands_alone(who: Participant, recorded: FactRecorded) -> bool:
    """Whether no other fact can say the same as one that was just recorded."""
    return recorded.single_valued or recorded.past or len(alike(who, recorded.fact_id)) < 2


def merge(
    who: Participant, fact_id: UUID, similarity: Similarity, learning: LearningSettings = LEARNING
) -> FactsMerged | None:
    """The fact and the oldest other that says the same become one, the older of the two; None where nothing does."""
    facts = alike(who, fact_id)
    for kept, gone in combinations(facts, 2):
        if fact_id not in (kept.fact_id, gone.fact_id):
            continue
        close = similarity(kept, gone)
        if close >= learning.alike_from:
            why = f"says the same in other words (similarity {close:.2f}): {gone.text!r}"
            return _merged(who, kept, gone, why, learning)
    return None


def joined(
    who: Participant, decided: Iterable[EventData], learning: LearningSettings = LEARNING
) -> Iterator[FactsMerged]:
    """What was just recorded becomes one with the oldest value that says the same under another name of its key.

    From then on the person's facts of that key stand under the one that is kept (`Participant.key_for`).
    """
    new = {one.fact_id for one in decided if isinstance(one, FactRecorded) and not one.past}
    for gone in (one for one in who.facts if one.fact_id in new):
        kept = next((one for one in who.facts if one.fact_id not in new and _say_one_thing(one, gone, who)), None)
        if kept is not None:
            why = f"says the same under another name of its key: {gone.key} = {gone.value!r}"
            yield _merged(who, kept, gone, why, learning)


def _merged(who: Participant, kept: Fact, gone: Fact, why: str, learning: LearningSettings) -> FactsMerged:
    return FactsMerged(
        participant_id=who.participant_id,
        fact_id=kept.fact_id,
        members=(gone.fact_id,),
        confidence=confidence([*kept.supports, *gone.supports], learning.confidence),
        reason=why,
    )


def _say_one_thing(kept: Fact, gone: Fact, who: Participant) -> bool:
    """Whether two keys name one thing (`same_thing`) and have the same value, of the same person, for as long."""
    # What tells most facts apart first: whoever has a thousand is asked of each, and what follows looks at all of them.
    if gone.key == kept.key or (gone.kind, gone.trust) != (kept.kind, kept.trust):
        return False
    if not (_of_one_value(kept) and _of_one_value(gone) and _same_but_for_hyphens(kept, gone)):
        return False
    if not (_alone(gone, who) and _alone(kept, who)) or who.has_apart(kept.key, gone.key):
        return False
    agree_in_all = _signature(replace(kept, key="")) == _signature(replace(gone, key=""))
    return agree_in_all and _same_people(kept, gone) and same_thing(kept.key, gone.key)


def _same_but_for_hyphens(one: Fact, other: Fact) -> bool:
    """ "e-mail" is "email"; between digits a hyphen counts."""
    first, second = (_HYPHEN.sub("", fact.value) for fact in (one, other))
    return same_value(first, second)


def _same_people(one: Fact, other: Fact) -> bool:
    """Whether neither sentence names somebody, or something, that the other does not."""
    first, second = _told(one), _told(other)
    if says("others", first) != says("others", second):
        return False
    words, others = words_of(first), words_of(second)
    return not unsaid(_names(one)[1:], others) and not unsaid(_names(other)[1:], words)


def _of_one_value(fact: Fact) -> bool:
    return fact.single_valued and fact.trust != "human" and not (fact.pinned or fact.stale or fact.parents)


def _alone(fact: Fact, who: Participant) -> bool:
    """Whether nothing else is believed under its key, as a value for a while would be."""
    return all(one is fact or one.key != fact.key for one in who.facts)


def mergeable(fact: Fact) -> bool:
    """Whether a fact may be merged at all: a key's one value, a person's word and an occurrence stand alone."""
    return not (fact.single_valued or fact.trust == "human" or fact.pinned or fact.kind in OCCURRENCES)


def agree(one: Fact, other: Fact) -> bool:
    """Whether two facts may say the same: kind, key, trust class, end, numbers, names, polarity and words are equal.

    What a person took apart stays apart.
    """
    kept_apart = one.fact_id in other.apart_from or other.fact_id in one.apart_from
    return (
        not kept_apart
        and mergeable(one)
        and mergeable(other)
        and _signature(one) == _signature(other)
        and _reword(one, other)
    )


def _signature(fact: Fact) -> tuple[object, ...]:
    told = _told(fact)
    return (
        fact.kind,
        fact.key,
        fact.trust == "ours",
        fact.expires_at,
        numbers_of(told),
        says("denials", told),
    )


def _reword(one: Fact, other: Fact) -> bool:
    """Whether two facts are worded alike: one may say a word more, and none a word in place of another.

    A word in place of another may be the point ("in the morning", "in the evening"), and so may a name.
    """
    words, others = content_of(_told(one)), content_of(_told(other))
    more, missing = unsaid(words, others), unsaid(others, words)
    if more and missing:
        return False
    names, other_names = _names(one), _names(other)
    if {*more, *missing} & {*names, *other_names}:
        return False
    if any(a != b and same_word(a, b) for a in names for b in other_names):
        return False
    return [name for name in names if name in other_names] == [name for name in other_names if name in names]


def _names(fact: Fact) -> list[str]:
    """The capitalised words of its sentence, folded, each once, in their order."""
    found = (word for word in _WORD.findall(fact.text) if word[0].isupper())
    return list(dict.fromkeys(name for word in found for name in content_of(word)))


def _told(fact: Fact) -> str:
    return f"{fact.text}\n{fact.value}"


def _ended(event: EventData) -> list[tuple[UUID, str]]:
    if isinstance(event, FactRecorded):
        return [(one, f"a fact that it was derived from is now {event.value!r}") for one in event.supersedes]
    if isinstance(event, FactRetracted):
        return [(event.fact_id, "a fact that it was derived from was taken back")]
    return []


def doubts(
    who: Participant,
    proposal: FactProposal,
    decided: Sequence[EventData],
    mails: Iterable[Source],
    policy: Policy,
    *,
    unquoted: bool,
) -> Iterator[FactMarkedStale]:
    """What becomes doubtful after a decision on a proposal; `unquoted`: its quote stands in none of the mails."""
    spoken_of = _spoken_of(decided)
    heard = [one for one in mails if one.trusted and not one.is_ours]
    for known in who.facts:
        if known.fact_id in spoken_of or known.stale or known.trust != "authenticated" or not known.single_valued:
            continue
        reason = next((why for one in heard if (why := _why(known, proposal, one, policy, unquoted))), "")
        if reason:
            yield FactMarkedStale(
                participant_id=who.participant_id, fact_id=known.fact_id, parent_id=known.fact_id, reason=reason
            )


def _why(known: Fact, proposal: FactProposal, mail: Source, policy: Policy, unquoted: bool) -> str:
    """Why a mail makes a value doubtful, in words; "" if it does not."""
    since = valid_from(mail.sent_at, mail.received_at, history=mail.history, learning=policy.learning)
    same = same_value(known.value, proposal.value)
    if since > known.confirmed_at and not same and _is_of_the_new_one(known, proposal, mail):
        return f"a newer mail seems to give a new one: {proposal.key} = {proposal.value!r}"
    if since <= known.confirmed_at or not (same or known.key == proposal.key):
        return ""
    other = not same and tells_of_another(known.value, known.key, mail.text, proposal.value)
    if other or given_up(known.value, known.key, mail.text):
        return "a newer mail seems to say that it is so no more"
    if same and proposal.op != "delete" and _is_of_another(known, proposal, mail):
        return "the words that are cited for it tell of something else, and not of this value"
    if not same and confirms(proposal.value, proposal.quote, mail.our_words):
        return f"a newer mail seems to confirm another value: {proposal.value!r}"
    said = unquoted and not same and is_said(proposal.value, mail.text, about(proposal), since)
    if said and bears_on(proposal.value, proposal.key, mail.text, [known.value]):
        return f"a newer mail seems to say otherwise: {proposal.value!r}"
    return ""


def _is_of_another(known: Fact, proposal: FactProposal, mail: Source) -> bool:
    otherwise = tells_otherwise(known.value, known.key, proposal.quote, mail.text)
    return otherwise or is_passed_over(known.value, known.key, mail.text)


def _is_of_the_new_one(known: Fact, proposal: FactProposal, mail: Source) -> bool:
    """Whether a proposal under a key that is akin quotes words of what is so from now on: a new mobile, of a phone."""
    new = are_akin(known.key, proposal.key) and find_quote(proposal.quote, without_quoted(mail.text)) is not None
    return new and (says("now", proposal.quote) or says("changes", proposal.quote))


def _spoken_of(decided: Iterable[EventData]) -> set[object]:
    """The facts that the decision itself already speaks of."""
    found: set[object] = set()
    for event in decided:
        if isinstance(event, FactRecorded):
            found |= {event.fact_id, *event.supersedes}
        elif isinstance(event, FactRetracted | FactCorroborated | FactMarkedStale):
            found.add(event.fact_id)
    return found
