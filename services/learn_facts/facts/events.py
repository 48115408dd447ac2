"""The events that decisions about facts are told in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from uuid import UUID

from schemas.events.memory import (
    FactCorroborated,
    FactMarkedStale,
    FactPinned,
    FactRecorded,
    FactRefused,
    FactRequested,
    FactRetracted,
)
from schemas.events.replies import FactProposal
from services.learn_facts.facts.claim import Claim
from services.learn_facts.facts.values import same_value
from services.learn_facts.participant import Fact, Participant
from services.memory.support import Support, confidence


def sentence_of(proposal: FactProposal) -> str:
    """The sentence that is searched, embedded and shown."""
    return proposal.text or proposal.value


def recorded(who: Participant, claim: Claim, rivals: Sequence[Fact]) -> FactRecorded:
    """It holds from now on, in place of its rivals."""
    proposal, source = claim.proposal, claim.source
    return FactRecorded(
        participant_id=who.participant_id,
        fact_id=claim.fact_id,
        kind=proposal.kind,
        key=proposal.key,
        value=proposal.value,
        text=sentence_of(proposal),
        single_valued=claim.single and (claim.until is None or any(one.single_valued for one in rivals)),
        confidence=confidence([claim.support], claim.policy.learning.confidence),
        importance=claim.policy.importance(proposal.kind, proposal.importance),
        trust=claim.trust,
        valid_from=claim.since,
        expires_at=claim.until,
        source_mail=source.mail_id,
        source_reply=source.reply_id,
        source_thread=source.thread_id,
        source_message_id=source.message_id,
        quote=claim.span.quote,
        span_start=claim.span.start,
        span_end=claim.span.end,
        supersedes=tuple(one.fact_id for one in rivals),
        parents=claim.parents,
        rule=_rule(claim, rivals),
    )


def _rule(claim: Claim, rivals: Sequence[Fact]) -> str:
    if not rivals:
        return "new"
    again = all(same_value(one.value, claim.proposal.value) for one in rivals)
    return "said again, with a time of its own" if again else "the newer value replaces the older"


def corroborated(
    who: Participant,
    claim: Claim,
    fact_id: UUID,
    supports: Sequence[Support],
    *,
    earlier: datetime | None,
    rejudged: bool,
) -> FactCorroborated:
    """Another message says what `fact_id` says. `earlier`: so since then, which is before all we knew."""
    return FactCorroborated(
        participant_id=who.participant_id,
        fact_id=fact_id,
        confidence=confidence([*supports, claim.support], claim.policy.learning.confidence),
        source_mail=claim.source.mail_id,
        source_thread=claim.source.thread_id,
        trust=claim.trust,
        quote=claim.span.quote,
        span_start=claim.span.start,
        span_end=claim.span.end,
        said_at=claim.since,
        valid_from=earlier,
        rejudged=rejudged,
    )


def ended(who: Participant, claim: Claim, known: Fact, at: datetime, reason: str) -> FactRetracted:
    """The customer says that it was so until a moment, and why, where they say that; else `reason`."""
    return FactRetracted(
        participant_id=who.participant_id,
        fact_id=known.fact_id,
        reason=claim.proposal.text or reason,
        source_mail=claim.source.mail_id,
        valid_to=at,
    )


def doubted(who: Participant, known: Fact, claim: Claim) -> Iterator[FactMarkedStale]:
    """A newer word of the customer that does not end a fact, being said in other words than the value, makes it unsure.

    A model may have put it in other words, or concluded it: the fact is to be confirmed, and the next word decides.
    """
    unsure = claim.trust == "inferred" or not claim.is_plain([known.value])
    newer = known.trust == "authenticated" and unsure and claim.since > known.confirmed_at
    if newer and claim.of_its_key(known) and not known.stale and claim.bears_on(known):
        reason = f"a newer mail seems to say otherwise: {claim.proposal.value!r}"
        yield FactMarkedStale(
            participant_id=who.participant_id, fact_id=known.fact_id, parent_id=known.fact_id, reason=reason
        )


def unsure(who: Participant, claim: Claim) -> FactMarkedStale:
    """What a customer seems to say of a usual key, and not plainly, is to be confirmed before it is used."""
    return FactMarkedStale(
        participant_id=who.participant_id,
        fact_id=claim.fact_id,
        parent_id=claim.fact_id,
        reason="the words do not say plainly that it is theirs",
    )


def still_pinned(who: Participant, fact_id: UUID, replaced: Iterable[Fact], by: str) -> Iterator[FactPinned]:
    """A person's pin goes over to the fact that takes a pinned one's place."""
    if any(one.pinned for one in replaced):
        yield FactPinned(participant_id=who.participant_id, fact_id=fact_id, pinned=True, by=by)


def refused(who: Participant, asked: FactProposal | FactRequested, reason: str) -> FactRefused:
    """What the model proposed, or a person asked for, does not hold."""
    return FactRefused(
        participant_id=who.participant_id,
        op=asked.op,
        kind=asked.kind,
        key=asked.key,
        value=asked.value,
        reason=reason,
    )
