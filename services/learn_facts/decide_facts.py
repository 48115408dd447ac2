"""Pure decisions about facts: what a proposal becomes, given what is believed and the mail that it cites.

What a proposal cites has to hold first (`claim`). Conflicts are settled by the key's policy, by trust (human >
authenticated > inferred), then by valid time; a mail that comes late is recorded as history and changes nothing that is
newer. Each decision carries its rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.replies import FactProposal
from services.core.memory.facts import plain_key
from services.learn_facts.claim import Claim, claim_of
from services.learn_facts.decide_deletions import delete
from services.learn_facts.fact_events import corroborated, recorded, refused, still_pinned
from services.learn_facts.participant import KnownFact, Participant, PastFact, Source
from services.learn_facts.policy import STANDARD, Policy
from services.learn_facts.precedence import objection_to_ending
from services.learn_facts.timeline import followed_by, same_value, spoken_of, taken_back

Events = Iterator[EventData]


def propose(
    who: Participant,
    proposal: FactProposal,
    source: Source | None,
    fact_id: UUID,
    policy: Policy = STANDARD,
    elsewhere: frozenset[str] = frozenset(),
) -> Events:
    """What becomes of one ADD, UPDATE or DELETE of the model; `elsewhere`: facts of theirs under other addresses."""
    proposal = proposal.model_copy(update={"key": plain_key(proposal.key)})
    claim = claim_of(proposal, source, fact_id, policy)
    if isinstance(claim, str):
        yield refused(who, proposal, claim)
    elif not set(proposal.derived_from) <= elsewhere.union(str(one.fact_id) for one in who.facts):
        yield refused(who, proposal, "a fact that it is derived from is not believed")
    else:
        yield from delete(who, claim) if proposal.op == "delete" else _assert(who, claim)


def _assert(who: Participant, claim: Claim) -> Events:
    proposal = claim.proposal
    same = next((one for one in who.facts if _is_said_again(one, claim)), None)
    if same is not None and not _ends_otherwise(same, claim):
        yield from _say_again(who, claim, same)
        return
    if taken_back(who.past, proposal.key, proposal.value, claim.since):
        yield refused(who, proposal, "a person here took this back since")
        return
    rivals = [one for one in who.facts if one is same or _conflicts(one, claim) or claim.means(one)]
    later = followed_by(who, proposal.key, claim.since) if claim.single else None
    if later is not None:
        yield from _record_past(who, claim, later.fact_id, later.at)
        return
    against = next(filter(None, (objection_to_ending(one, claim.trust, claim.since) for one in rivals)), "")
    if against:
        yield refused(who, proposal, against)
        return
    yield recorded(who, claim, rivals)
    if same is not None:
        yield from still_pinned(who, claim.fact_id, (same,), "as before")


def _is_said_again(known: KnownFact, claim: Claim) -> bool:
    """Whether the claim says what is believed already; what is over has begun anew, unless it names the same end."""
    if known.key != claim.proposal.key or not same_value(known.value, claim.proposal.value):
        return False
    return not known.is_over(claim.since) or known.expires_at == claim.until


def _ends_otherwise(same: KnownFact, claim: Claim) -> bool:
    """Whether the claim names another end than we know, and may: the same value with that end takes its place."""
    return claim.until not in (None, same.expires_at) and not objection_to_ending(same, claim.trust, claim.since)


def _say_again(who: Participant, claim: Claim, same: KnownFact) -> Events:
    """The value is believed already: another message of the customer supports it, anything else adds nothing."""
    if any(one.mail_id == claim.support.mail_id for one in same.supports):
        return
    if claim.trust == "ours":
        yield refused(who, claim.proposal, "our own words do not corroborate")
        return
    between = spoken_of(who.past, same.key, claim.since, same.valid_from)
    if claim.since < same.valid_from and between:
        yield from _record_past(who, claim, between[0].fact_id, between[0].valid_from)
        return
    earlier = claim.since if claim.since < same.valid_from else None
    yield corroborated(who, claim, same.fact_id, same.supports, earlier=earlier, rejudged=same.stale)


def _record_past(who: Participant, claim: Claim, successor: UUID | None, until: datetime) -> Events:
    """A mail came late: what it says was so until something newer was said, and is kept as that."""
    known = next((one for one in who.past if _says_so_then(one, claim)), None)
    if known is None:
        late = recorded(who, claim, ())
        rule = "came late: what stands is newer"
        yield late.model_copy(update={"past": True, "superseded_by": successor, "valid_to": until, "rule": rule})
    elif all(one.mail_id != claim.support.mail_id for one in known.supports):
        earlier = claim.since if claim.since < known.valid_from else None
        yield corroborated(who, claim, known.fact_id, known.supports, earlier=earlier, rejudged=False)


def _conflicts(known: KnownFact, claim: Claim) -> bool:
    return claim.single and known.single_valued and known.key == claim.proposal.key


def _says_so_then(past: PastFact, claim: Claim) -> bool:
    if past.withdrawn_at or past.key != claim.proposal.key or not same_value(past.value, claim.proposal.value):
        return False
    return past.valid_from <= claim.since and (past.valid_to is None or claim.since <= past.valid_to)
