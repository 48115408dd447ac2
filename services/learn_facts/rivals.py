"""What a claim takes the place of, and what it says again. Pure.

A key with one value has one that stands: the database holds that. Another value with an end ("until 15 January reach
me on 222222") is never that one: it is said over it until its end, and takes the place of nothing but another such
value, so that the standing one holds again from then on by itself, whichever of the two mails came first. The newer
value without an end takes the place of both. An end of the standing value itself is known of it from then on.
"""

from __future__ import annotations

from services.learn_facts.claim import Claim
from services.learn_facts.forms import same_value
from services.learn_facts.participant import Fact, Participant
from services.learn_facts.policy import OCCURRENCES
from services.learn_facts.precedence import objection_to_ending


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
    """Whether the claim says what is believed already; what is over has begun anew, unless it names the same end."""
    if known.key != claim.proposal.key or not same_value(known.value, claim.proposal.value):
        return False
    if known.is_over(claim.since) and known.expires_at != claim.until:
        return False
    return not _occurs_again(known, claim)


def _occurs_again(known: Fact, claim: Claim) -> bool:
    """Whether it happened once more: the customer says so in another thread, on another day, and names no end of it."""
    named = known.expires_at or claim.until or claim.means(known)
    if known.kind not in OCCURRENCES or claim.source.is_ours or named:
        return False
    told = ((one.thread_id, one.said_at and one.said_at.date()) for one in known.supports)
    return all(thread != claim.source.thread_id and on != claim.since.date() for thread, on in told)
