"""Pure decisions about a DELETE: what the customer ends was so until then; a person's word, or newer words, stand.

It ends the value that it names and no other one of the key, and nothing that its own mail says.
"""

from __future__ import annotations

from collections.abc import Iterator

from schemas.events.base import EventData
from services.learn_facts.claim import Claim
from services.learn_facts.fact_events import ended, refused
from services.learn_facts.forms import same_value
from services.learn_facts.participant import Fact, Participant
from services.learn_facts.precedence import objection_to_ending
from services.learn_facts.wordforms import content_of, unsaid


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
