"""Which facts a claim meets, which of them it ends, and what is known to have followed it. Pure.

A key with one value has one that stands: the database holds that. Another value with an end ("until 15 January reach
me on 222222") is never that one: it is said over it until its end, and takes the place of nothing but another such
value, so that the current one holds again from then on by itself, whichever of the two mails came first. The newer
value without an end takes the place of both. An end of the current value itself is known of it from then on.

Whose word ends whose: human over authenticated over inferred, then time; what we did only we take back. A newer word
that only an inference makes a value ("nach München umgezogen" as `Munich`) ends no literal one at once: it may be a
translation, and it may be a mistake. It makes the current fact unsure, so that the agent asks; what is unsure gives
way to the next word of the customer, in whatever words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

from schemas.events.memory import Trust
from services.learn_facts.facts.claim import Claim
from services.learn_facts.facts.policy import OCCURRENCES, OURS
from services.learn_facts.facts.values import same_value
from services.learn_facts.participant import Fact, Participant
from services.memory.keys import without_name

RANK: Mapping[Trust, int] = MappingProxyType({"inferred": 0, "ours": 0, "authenticated": 1, "human": 2})


def objection_to_ending(known: Fact, trust: Trust, since: datetime) -> str:
    """Why a word of this trust, said at `since`, does not end a fact that is believed, in words; "" if it does.

    A fact that has expired by then is over by itself: nothing of it stands against what comes after.
    """
    if known.is_over(since):
        return ""
    against = _of_rank(known, trust)
    if not against and known.confirmed_at > since:
        against = "what stands is newer"
    return f"{against}: {known.value!r}" if against else ""


def _of_rank(known: Fact, trust: Trust) -> str:
    if trust == "human":
        return ""
    if known.trust == "human":
        return "a person here said otherwise"
    if known.trust == "ours" and trust != "ours":
        return "only we can take this back"
    if trust == "ours" and known.kind not in OURS:
        return "our own words say nothing of a customer"
    return "what stands was said in so many words" if RANK[known.trust] > RANK[trust] and not known.stale else ""


def said_again(who: Participant, claim: Claim) -> Fact | None:
    """The fact that the claim says again, the oldest first; None where it says something new."""
    return next((one for one in who.facts if _is_said_again(one, claim)), None)


def ends_otherwise(same: Fact, claim: Claim) -> bool:
    """Whether the claim names another end than we know, and may: the same value with that end takes its place."""
    return claim.until not in (None, same.expires_at) and not objection_to_ending(same, claim.trust, claim.since)


def rivals_of(who: Participant, claim: Claim, same: Fact | None) -> list[Fact]:
    """The facts whose place the claim takes: what it says again, what holds its key, what it names."""
    return [one for one in who.facts if one is same or _gives_way(one, claim)]


def _gives_way(known: Fact, claim: Claim) -> bool:
    meant = claim.means(known) or claim.of_its_key(known)
    if claim.until is not None:
        return meant and (known.for_a_while or known.is_over(claim.since))
    return meant and (known.single_valued or claim.means(known) or known.confirmed_at <= claim.since)


def _is_said_again(known: Fact, claim: Claim) -> bool:
    """Whether the claim says what is believed already; what is over has begun again, unless it names the same end."""
    if known.key != claim.proposal.key or not _is_same(known, claim):
        return False
    if known.is_over(claim.since) and known.expires_at != claim.until:
        return False
    return not _occurs_again(known, claim)


def _is_same(known: Fact, claim: Claim) -> bool:
    """Whether the values are one, the key's own name apart: of a plan "Team plan" is "Team"."""
    key = claim.proposal.key
    return same_value(without_name(key, known.value), without_name(key, claim.proposal.value))


def _occurs_again(known: Fact, claim: Claim) -> bool:
    """Whether it happened once more: the customer says so in another thread, on another day, and names no end of it."""
    named = known.expires_at or claim.until or claim.means(known)
    if known.kind not in OCCURRENCES or claim.source.is_ours or named:
        return False
    told = ((one.thread_id, one.said_at and one.said_at.date()) for one in known.supports)
    return all(thread != claim.source.thread_id and on != claim.since.date() for thread, on in told)


class Later(NamedTuple):
    """The first thing known of a key after a moment: the fact that followed (None: it ended), and when."""

    fact_id: UUID | None
    at: datetime


def followed_by(who: Participant, key: str, since: datetime, *, for_a_while: bool = False) -> Later | None:
    """What is known to follow a value of a single-valued `key` that was so at `since`; None if nothing is.

    A value `for_a_while` is followed by what began later, and not by what was only said again.
    """
    later = [
        Later(fact.fact_id, said)
        for fact in who.facts
        if fact.key == key and fact.single_valued
        for said in (fact.valid_from, *(one.said_at for one in fact.supports if one.said_at and not for_a_while))
        if said > since
    ]
    for past in who.past:
        if past.key == key and past.single_valued and past.withdrawn_at is None:
            if past.valid_from > since:
                later.append(Later(past.fact_id, past.valid_from))
            elif past.valid_to and past.valid_to > since and past.superseded_by is None:
                later.append(Later(None, past.valid_to))
    return min(later, key=lambda one: one.at, default=None)


def ended_after(past: Sequence[Fact], key: str, value: str, since: datetime) -> Later | None:
    """The first end after `since` of this very value, where a key has several; None if none is known."""
    ends = (
        Later(one.superseded_by, one.valid_to)
        for one in past
        if one.key == key and not one.withdrawn_at and one.valid_to and one.valid_to > since
        if same_value(one.value, value)
    )
    return min(ends, key=lambda one: one.at, default=None)


def spoken_of(past: Sequence[Fact], key: str, since: datetime, until: datetime) -> Later | None:
    """The first other value of a single-valued key that began between two moments; None if none did."""
    began = (
        Later(one.fact_id, one.valid_from)
        for one in past
        if one.key == key and one.single_valued and not one.withdrawn_at and since < one.valid_from < until
    )
    return min(began, key=lambda one: one.at, default=None)


def taken_back(past: Sequence[Fact], key: str, value: str, since: datetime) -> bool:
    """Whether a person withdrew this very value after it was said at `since`."""
    return any(
        one.withdrawn_at and since <= one.withdrawn_at and one.key == key and same_value(one.value, value)
        for one in past
    )
