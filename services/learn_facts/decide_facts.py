"""Pure decisions about facts: what a proposal becomes, given what is believed and the mail that it cites.

A fact is stored only if its quote really stands in the cited mail of an authenticated author, as that author's own
statement. Conflicts are settled by the key's policy, by trust (human > authenticated > inferred), then by valid time;
a mail that comes late is recorded as history and changes nothing that is newer. Each decision carries its rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from schemas.events.base import EventData
from schemas.events.memory import FactCorroborated, FactRecorded, FactRefused, FactRetracted, Trust
from schemas.events.replies import FactProposal
from services.core.memory.quotes import Span, find_quote
from services.learn_facts.evidence import is_literal, objection
from services.learn_facts.participant import KnownFact, Participant, PastFact, Source
from services.learn_facts.policy import OURS, RANK, STANDARD, Policy, end_of_day
from services.learn_facts.support import Support, confidence
from services.learn_facts.timeline import followed_by, same_value, spoken_of, taken_back

Events = Iterator[EventData]


@dataclass(frozen=True, slots=True)
class Claim:
    """A proposal whose words stand: what is said, where, how literally, and since when it is so."""

    proposal: FactProposal
    source: Source
    span: Span
    trust: Trust
    since: datetime
    fact_id: UUID
    policy: Policy

    @property
    def support(self) -> Support:
        """What it adds to a fact."""
        return Support(self.trust, self.source.mail_id or self.source.reply_id, self.source.thread_id, self.since)

    @property
    def single(self) -> bool:
        """Whether its key has one current value."""
        return self.policy.arity(self.proposal.kind, self.proposal.key) == "single"


def propose(
    who: Participant, proposal: FactProposal, source: Source | None, fact_id: UUID, policy: Policy = STANDARD
) -> Events:
    """What becomes of one ADD, UPDATE or DELETE of the model."""
    span = find_quote(proposal.quote, source.text) if source else None
    refusal = _refusal(proposal, source, span, policy)
    if refusal or source is None or span is None:
        yield _refused(who, proposal, refusal)
        return
    claim = Claim(proposal, source, span, _trust(proposal, source, span), source.said_at, fact_id, policy)
    yield from _delete(who, claim) if proposal.op == "delete" else _assert(who, claim)


def _refusal(proposal: FactProposal, source: Source | None, span: Span | None, policy: Policy) -> str:
    if source is None:
        return "the quote stands in no mail of this turn"
    if not source.trusted:
        return "the sender is not authenticated"
    if span is None:
        return "the quote does not stand in the cited mail"
    if source.is_ours:
        return "" if proposal.kind in OURS else "our own words say nothing of a customer"
    against = objection(span, source.text, proposal.kind, source.our_words)
    if against:
        return against
    if proposal.op == "delete":
        return ""
    if policy.is_ours_to_say(proposal.kind, proposal.key):
        return "only we can establish this"
    if policy.importance(proposal.kind, proposal.importance) < policy.store_from:
        return f"importance {proposal.importance} is below the threshold"
    return ""


def _trust(proposal: FactProposal, source: Source, span: Span) -> Trust:
    if source.is_ours:
        return "ours"
    return "authenticated" if is_literal(proposal.value, span, source.text) else "inferred"


def _assert(who: Participant, claim: Claim) -> Events:
    proposal = claim.proposal
    same = next((one for one in who.facts if one.key == proposal.key and same_value(one.value, proposal.value)), None)
    if same is not None:
        yield from _say_again(who, claim, same)
        return
    if taken_back(who.past, proposal.key, proposal.value, claim.since):
        yield _refused(who, proposal, "a person here took this back since")
        return
    rivals = [one for one in who.facts if _conflicts(one, claim) or _meant(one, proposal)]
    later = followed_by(who, proposal.key, claim.since) if claim.single else None
    if later is not None:
        yield from _record_past(who, claim, later.fact_id, later.at)
        return
    against = _stands_against(rivals, claim)
    if against:
        yield _refused(who, proposal, against)
        return
    yield _recorded(who, claim, rivals)


def _say_again(who: Participant, claim: Claim, same: KnownFact) -> Events:
    """The value is believed already: another message of the customer supports it, anything else adds nothing."""
    if any(one.mail_id == claim.support.mail_id for one in same.supports):
        return
    if claim.trust == "ours":
        yield _refused(who, claim.proposal, "our own words do not corroborate")
        return
    between = spoken_of(who.past, same.key, claim.since, same.valid_from)
    if claim.since < same.valid_from and between:
        yield from _record_past(who, claim, between[0].fact_id, between[0].valid_from)
        return
    earlier = claim.since if claim.since < same.valid_from else None
    yield _corroborated(who, claim, same.fact_id, same.supports, earlier=earlier, rejudged=same.stale)


def _record_past(who: Participant, claim: Claim, successor: UUID | None, until: datetime) -> Events:
    """A mail came late: what it says was so until something newer was said, and is kept as that."""
    known = next((one for one in who.past if _says_so_then(one, claim)), None)
    if known is None:
        recorded = _recorded(who, claim, ())
        rule = "came late: what stands is newer"
        yield recorded.model_copy(update={"past": True, "superseded_by": successor, "valid_to": until, "rule": rule})
    elif all(one.mail_id != claim.support.mail_id for one in known.supports):
        earlier = claim.since if claim.since < known.valid_from else None
        yield _corroborated(who, claim, known.fact_id, known.supports, earlier=earlier, rejudged=False)


def _stands_against(rivals: Sequence[KnownFact], claim: Claim) -> str:
    for one in rivals:
        if RANK[one.trust] > RANK[claim.trust]:
            why = "a person here said otherwise" if one.trust == "human" else "what stands was said in so many words"
            return f"{why}: {one.value!r}"
        if one.confirmed_at > claim.since:
            return f"what stands is newer: {one.value!r}"
    return ""


def _recorded(who: Participant, claim: Claim, rivals: Sequence[KnownFact]) -> FactRecorded:
    proposal, source = claim.proposal, claim.source
    return FactRecorded(
        participant_id=who.participant_id,
        fact_id=claim.fact_id,
        kind=proposal.kind,
        key=proposal.key,
        value=proposal.value,
        text=proposal.text or proposal.value,
        single_valued=claim.single,
        confidence=confidence([claim.support]),
        importance=claim.policy.importance(proposal.kind, proposal.importance),
        trust=claim.trust,
        valid_from=claim.since,
        expires_at=end_of_day(proposal.valid_to),
        source_mail=source.mail_id,
        source_reply=source.reply_id,
        source_thread=source.thread_id,
        source_message_id=source.message_id,
        quote=claim.span.quote,
        span_start=claim.span.start,
        span_end=claim.span.end,
        supersedes=tuple(one.fact_id for one in rivals),
        rule="the newer value replaces the older" if rivals else "new",
    )


def _delete(who: Participant, claim: Claim) -> Events:
    meant = _meant_by_delete(who, claim)
    if not meant:
        yield _refused(who, claim.proposal, "there is no such fact")
    for one in meant:
        if RANK[one.trust] > RANK["authenticated"]:
            yield _refused(who, claim.proposal, f"a person here recorded it: {one.value!r}")
        elif one.confirmed_at > claim.since:
            yield _refused(who, claim.proposal, f"what stands is newer: {one.value!r}")
        else:
            yield FactRetracted(
                participant_id=who.participant_id,
                fact_id=one.fact_id,
                reason=claim.proposal.text or "the customer took it back",
                source_mail=claim.source.mail_id,
                valid_to=claim.since,
            )


def _meant_by_delete(who: Participant, claim: Claim) -> list[KnownFact]:
    """The fact that is named; else what its key holds, of several values the one that is said."""
    proposal, arity = claim.proposal, claim.policy.arity(claim.proposal.kind, claim.proposal.key)
    if proposal.fact_id:
        return [one for one in who.facts if _meant(one, proposal)]
    of_key = [one for one in who.facts if one.key == proposal.key]
    if arity == "single":
        return [one for one in of_key if one.single_valued]
    return [one for one in of_key if arity == "multi" and same_value(one.value, proposal.value)]


def _corroborated(
    who: Participant,
    claim: Claim,
    fact_id: UUID,
    supports: Sequence[Support],
    *,
    earlier: datetime | None,
    rejudged: bool,
) -> FactCorroborated:
    return FactCorroborated(
        participant_id=who.participant_id,
        fact_id=fact_id,
        confidence=confidence([*supports, claim.support]),
        source_mail=claim.source.mail_id,
        source_thread=claim.source.thread_id,
        trust=claim.trust,
        quote=claim.span.quote,
        said_at=claim.since,
        valid_from=earlier,
        rejudged=rejudged,
    )


def _conflicts(known: KnownFact, claim: Claim) -> bool:
    return claim.single and known.single_valued and known.key == claim.proposal.key


def _meant(known: KnownFact, proposal: FactProposal) -> bool:
    return bool(proposal.fact_id) and str(known.fact_id) == proposal.fact_id


def _says_so_then(past: PastFact, claim: Claim) -> bool:
    if past.withdrawn_at or past.key != claim.proposal.key or not same_value(past.value, claim.proposal.value):
        return False
    return past.valid_from <= claim.since and (past.valid_to is None or claim.since <= past.valid_to)


def _refused(who: Participant, proposal: FactProposal, reason: str) -> FactRefused:
    return FactRefused(
        participant_id=who.participant_id,
        op=proposal.op,
        kind=proposal.kind,
        key=proposal.key,
        value=proposal.value,
        reason=reason,
    )


def relation_id(participant_id: UUID, subject: str, predicate: str, other: str) -> UUID:
    """The edge that these three words are."""
    return uuid5(participant_id, "\x1f".join((subject.casefold(), predicate, other.casefold())))
