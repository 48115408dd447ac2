"""Decides what becomes of one proposal of a model, and of what people here did. Pure.

What a proposal cites has to hold first (`claim`). Conflicts are settled by the key's policy, by trust (human >
authenticated > inferred), then by valid time (`conflicts`); a mail that comes late is recorded as history and changes
nothing that is newer; what had ended when it was said, and what has an end, ends no other value. A DELETE ends the
value that it names and no other one of the key, and nothing that its own mail says; a person's word, or newer words,
stand. Each decision carries its rule. What people did sources facts of the class `ours`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import FactRecorded
from schemas.events.replies import FactProposal
from schemas.events.threads import StateChanged
from services.learn_facts.facts.claim import Claim, asserted, claim_of, followed
from services.learn_facts.facts.conflicts import (
    Later,
    ended_after,
    ends_otherwise,
    followed_by,
    objection_to_ending,
    rivals_of,
    said_again,
    spoken_of,
    taken_back,
)
from services.learn_facts.facts.consequences import doubts
from services.learn_facts.facts.events import corroborated, doubted, ended, recorded, refused, still_pinned, unsure
from services.learn_facts.facts.naming import key_told
from services.learn_facts.facts.plainly import is_passed_over, tells_otherwise
from services.learn_facts.facts.policy import STANDARD, Policy
from services.learn_facts.facts.values import numbers_in, same_value, telephone
from services.learn_facts.participant import Fact, Participant, Source
from services.memory.facts import plain_key
from services.memory.keys import key_of
from services.memory.quotes import find_quote
from services.memory.support import Support, confidence
from services.memory.wording import content_of, unsaid

Events = Iterator[EventData]


def propose(
    who: Participant,
    proposal: FactProposal,
    source: Source | None,
    fact_id: UUID,
    policy: Policy = STANDARD,
    elsewhere: frozenset[str] = frozenset(),
    turn: Sequence[Source] = (),
) -> Events:
    """What becomes of one ADD, UPDATE or DELETE of the model.

    `elsewhere`: facts of theirs under other addresses; `turn`: the mails that it was proposed for.
    """
    key = who.key_for(proposal.kind, key_of(proposal.key, proposal.kind))
    proposal = proposal.model_copy(update={"key": key_told(who, key, proposal, source)})
    claim = claim_of(proposal, source, fact_id, policy)
    decided = list(_decide(who, proposal, claim, elsewhere))
    yield from decided
    unquoted = isinstance(claim, str) and (source is None or find_quote(proposal.quote, source.text) is None)
    heard = [one for one in (turn if source is None else (source,)) if not one.passed_on]
    yield from doubts(who, proposal, decided, heard, policy, unquoted=unquoted)


def _decide(who: Participant, proposal: FactProposal, claim: Claim | str, elsewhere: frozenset[str]) -> Events:
    if not isinstance(claim, str):
        claim = followed(claim, who.name, [f"{one.value} {one.text}" for one in who.facts if claim.rests_on(one)])
    if not isinstance(claim, str):
        claim = asserted(claim)
    if isinstance(claim, str):
        yield refused(who, proposal, claim)
    elif not set(proposal.derived_from) <= elsewhere.union(str(one.fact_id) for one in who.facts):
        yield refused(who, proposal, "a fact that it is derived from is not believed")
    else:
        yield from delete(who, claim) if proposal.op == "delete" else _assert(who, claim)


def _assert(who: Participant, claim: Claim) -> Events:
    proposal, same = claim.proposal, said_again(who, claim)
    if same is not None and not ends_otherwise(same, claim):
        yield from _say_again(who, claim, same)
        return
    if taken_back(who.past, proposal.key, proposal.value, claim.since):
        yield refused(who, proposal, "a person here took this back since")
        return
    later = _later(who, claim)
    if claim.is_over:
        yield from _record_over(who, claim, same)
    elif later is not None:
        yield from _record_past(who, claim, later)
    else:
        yield from _take_place(who, claim, same)


def _take_place(who: Participant, claim: Claim, same: Fact | None) -> Events:
    """It is so from now on, in place of its rivals, unless one of them stands against it."""
    rivals = rivals_of(who, claim, same)
    plain = claim.is_plain([one.value for one in rivals])
    for one in rivals:
        against = objection_to_ending(one, claim.trust, claim.since)
        if not against and one is not same and not plain:
            against = "the words do not say plainly that it is theirs"
        if against:
            yield refused(who, claim.proposal, against)
            yield from doubted(who, one, claim)
            return
    yield recorded(who, claim, rivals)
    if not plain and not rivals and claim.is_called:
        yield unsure(who, claim)
    if same is not None:
        yield from still_pinned(who, claim.fact_id, (same,), "as before")


def _later(who: Participant, claim: Claim) -> Later | None:
    """What is known to have followed; of a key with several values, the end of this one."""
    if claim.single:
        return followed_by(who, claim.proposal.key, claim.since, for_a_while=claim.until is not None)
    return ended_after(who.past, claim.proposal.key, claim.proposal.value, claim.since)


def _say_again(who: Participant, claim: Claim, same: Fact) -> Events:
    """The value is believed already: another message of the customer supports it, anything else adds nothing."""
    if any(one.mail_id == claim.support.mail_id for one in same.supports):
        return
    if claim.trust == "ours":
        yield refused(who, claim.proposal, "our own words do not corroborate")
        return
    if same.trust == "authenticated" and _tells_otherwise(claim, same):
        yield refused(who, claim.proposal, "the words tell of a change, and not of this value")
        return
    began_before = claim.since < same.valid_from
    between = _between(who, claim, same) if began_before else None
    if between:
        yield from _record_past(who, claim, between)
        return
    earlier = claim.since if began_before else None
    rejudged = same.stale and (claim.is_plain() or not claim.is_called)
    yield corroborated(who, claim, same.fact_id, same.supports, earlier=earlier, rejudged=rejudged)


def _tells_otherwise(claim: Claim, same: Fact) -> bool:
    """Whether the words that are cited for a value tell of another one: half of its words are enough to cite them."""
    quote, text = claim.span.quote, claim.source.text
    loose = claim.trust == "inferred" or not numbers_in(same.value) or bool(telephone(same.value))
    if loose and all(tells_otherwise(one, same.key, quote, text) for one in (same.value, claim.proposal.value)):
        return True
    return is_passed_over(same.value, same.key, text)


def _between(who: Participant, claim: Claim, same: Fact) -> Later | None:
    """What parts a mail that came late from the same value that is believed now."""
    if claim.single:
        return spoken_of(who.past, same.key, claim.since, same.valid_from)
    return ended_after(who.past, same.key, same.value, claim.since)


def _record_over(who: Participant, claim: Claim, same: Fact | None) -> Events:
    """What had ended when it was said ends that value, and no other; what was not known is kept as past."""
    assert claim.until is not None
    if same is None or same.valid_from >= claim.until:
        yield from _record_past(who, claim, Later(None, claim.until), "it was over when it was said")
    else:
        yield ended(who, claim, same, claim.until, "it has ended")


def _record_past(who: Participant, claim: Claim, end: Later, rule: str = "came late: what stands is newer") -> Events:
    """What a mail says was so until something newer was said, or until its own end, and is kept as that."""
    until = min(end.at, claim.until or end.at)
    since = min(claim.since, until)
    known = next((one for one in who.past if _says_so_then(one, claim, since)), None)
    if known is None:
        changes = {"past": True, "superseded_by": end.fact_id, "valid_from": since, "valid_to": until, "rule": rule}
        yield recorded(who, claim, ()).model_copy(update=changes)
    elif all(one.mail_id != claim.support.mail_id for one in known.supports):
        earlier = since if since < known.valid_from else None
        yield corroborated(who, claim, known.fact_id, known.supports, earlier=earlier, rejudged=False)


def _says_so_then(past: Fact, claim: Claim, at: datetime) -> bool:
    if past.withdrawn_at or past.key != claim.proposal.key or not same_value(past.value, claim.proposal.value):
        return False
    return past.valid_from <= at and (past.valid_to is None or at <= past.valid_to)


def delete(who: Participant, claim: Claim) -> Iterator[EventData]:
    """What becomes of the facts that are meant."""
    meant = _meant(who, claim)
    if not meant:
        other = next((one for one in who.facts if claim.of_its_key(one) and not claim.proposal.fact_id), None)
        yield refused(who, claim.proposal, f"what stands is {other.value!r}" if other else "there is no such fact")
    for one in meant:
        against = _objection(one, claim)
        if against:
            yield refused(who, claim.proposal, against)
        else:
            yield ended(who, claim, one, claim.since, "the customer took it back")


def _meant(who: Participant, claim: Claim) -> list[Fact]:
    """The fact that is named; else what its key holds, as far as it is the value that is said."""
    proposal, arity = claim.proposal, claim.policy.arity(claim.proposal.kind, claim.proposal.key)
    if proposal.fact_id:
        return [one for one in who.facts if claim.means(one)]
    of_key = [one for one in who.facts if one.key == proposal.key]
    if arity == "single":
        return [one for one in of_key if claim.of_its_key(one) and _is_named(one, proposal.value)]
    return [one for one in of_key if arity == "multi" and same_value(one.value, proposal.value)]


def _is_named(known: Fact, value: str) -> bool:
    """Whether a DELETE of this value means the fact: "Pro" and "Pro plan" are one, and no value means any."""
    words, others = content_of(value), content_of(known.value)
    return not value or same_value(known.value, value) or not (unsaid(words, others) and unsaid(others, words))


def _objection(known: Fact, claim: Claim) -> str:
    """Why it does not end the fact, in words; "" if it does."""
    cited = claim.support.mail_id
    if cited is not None and any(one.mail_id == cited for one in known.supports):
        return f"its own mail says so: {known.value!r}"
    return objection_to_ending(known, "ours" if claim.source.is_ours else "authenticated", claim.since)


LONGEST = 300  # characters of a reason


def resolved_by_hand(
    who: Participant, step: StateChanged, fact_id: UUID, now: datetime, policy: Policy
) -> FactRecorded | None:
    """A person resolved a thread and said how ("with a $50 credit"): how it ended is remembered, as ours."""
    by, _, how = step.reason.partition(": ")
    if not who.exists or step.trigger != "human" or step.to_state != "resolved" or not how.strip():
        return None
    issue = next((one.issue_key for one in who.issues if one.thread_id == step.thread_id), "thread")
    told = how.strip()[:LONGEST]
    return FactRecorded(
        participant_id=who.participant_id,
        fact_id=fact_id,
        kind="resolution",
        key=plain_key(issue),
        value=told,
        text=f"We resolved it ({issue}): {told}",
        single_valued=False,
        confidence=confidence([Support("ours", None, step.thread_id)], policy.learning.confidence),
        importance=policy.importance("resolution", policy.learning.importance_of_acts),
        trust="ours",
        valid_from=now,
        source_thread=step.thread_id,
        rule=f"{by} resolved the thread",
    )
