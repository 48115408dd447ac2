"""Pure decisions about a DELETE: what the customer ends was so until then; a person's word, or newer words, stand."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.events.base import EventData
from schemas.events.memory import FactRetracted
from services.learn_facts.claim import Claim
from services.learn_facts.fact_events import refused
from services.learn_facts.participant import KnownFact, Participant
from services.learn_facts.precedence import objection_to_ending
from services.learn_facts.timeline import same_value


def delete(who: Participant, claim: Claim) -> Iterator[EventData]:
    """What becomes of the facts that are meant."""
    meant = _meant(who, claim)
    if not meant:
        yield refused(who, claim.proposal, "there is no such fact")
    for one in meant:
        against = objection_to_ending(one, "ours" if claim.source.is_ours else "authenticated", claim.since)
        if against:
            yield refused(who, claim.proposal, against)
        else:
            yield FactRetracted(
                participant_id=who.participant_id,
                fact_id=one.fact_id,
                reason=claim.proposal.text or "the customer took it back",
                source_mail=claim.source.mail_id,
                valid_to=claim.since,
            )


def _meant(who: Participant, claim: Claim) -> list[KnownFact]:
    """The fact that is named; else what its key holds, of several values the one that is said."""
    proposal, arity = claim.proposal, claim.policy.arity(claim.proposal.kind, claim.proposal.key)
    if proposal.fact_id:
        return [one for one in who.facts if claim.means(one)]
    of_key = [one for one in who.facts if one.key == proposal.key]
    if arity == "single":
        return [one for one in of_key if one.single_valued]
    return [one for one in of_key if arity == "multi" and same_value(one.value, proposal.value)]
