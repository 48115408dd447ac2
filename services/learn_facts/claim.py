"""A claim: a proposal whose words really stand in a mail, or why it is none. Pure.

A fact is stored only if its quote stands in the cited mail of an authenticated author, as that author's own statement,
about something that is theirs to say, and important enough to keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from schemas.events.memory import Trust
from schemas.events.replies import FactProposal
from services.learn_facts.evidence import objection
from services.learn_facts.following import disallowed, supported_text, unsupported
from services.learn_facts.literal import is_literal
from services.learn_facts.participant import Fact, Source
from services.learn_facts.policy import OURS, Policy, end_of_day, valid_from
from services.mail.reply_text import without_quoted
from services.memory.quotes import Span, find_quote
from services.memory.support import Support


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
    def until(self) -> datetime | None:
        """When it ends by itself; None where the customer names no end."""
        return end_of_day(self.proposal.valid_to, self.policy.zone)

    @property
    def is_over(self) -> bool:
        """Whether it tells of something that had ended when it was said."""
        return self.until is not None and self.until <= self.since

    @property
    def single(self) -> bool:
        """Whether its key has one current value."""
        return self.policy.arity(self.proposal.kind, self.proposal.key) == "single"

    def of_its_key(self, known: Fact) -> bool:
        """Whether its key has one value and this fact is that value, or stands over it for a while."""
        return self.single and self.policy.has_one(known) and known.key == self.proposal.key

    @property
    def parents(self) -> tuple[UUID, ...]:
        """The facts that it was concluded from."""
        return tuple(UUID(one) for one in self.proposal.derived_from)

    def rests_on(self, known: Fact) -> bool:
        """Whether the proposal was concluded from this fact, or changes it."""
        return self.means(known) or str(known.fact_id) in self.proposal.derived_from

    def means(self, known: Fact) -> bool:
        """Whether the proposal names this very fact."""
        return bool(self.proposal.fact_id) and str(known.fact_id) == self.proposal.fact_id


def claim_of(proposal: FactProposal, source: Source | None, fact_id: UUID, policy: Policy) -> Claim | str:
    """The claim that a proposal makes; else why it makes none, in words."""
    if source is None:
        return "the quote stands in no mail of this turn"
    span = _find(proposal.quote, source.text)
    if not source.trusted:
        return "the sender is not authenticated"
    if span is None:
        return "the quote does not stand in the cited mail"
    refusal = _refusal(proposal, source, span, policy)
    since = valid_from(source.sent_at, source.received_at, history=source.history, learning=policy.learning)
    return refusal or Claim(proposal, source, span, _trust(proposal, source, span), since, fact_id, policy)


def followed(claim: Claim, name: str, parents: Sequence[str]) -> Claim | str:
    """The claim with no more text than follows from its words; else why its value does not follow.

    `name` is the customer's, which a text may use; `parents` are the texts of the facts that it was concluded from.
    """
    if claim.source.is_ours or claim.proposal.op == "delete":
        return claim
    written = claim.source.sent_at or claim.source.received_at
    given = (claim.proposal, claim.span, claim.source.text, written, parents)
    text = supported_text(*given, name=name) if claim.proposal.text else ""
    return unsupported(*given) or replace(claim, proposal=claim.proposal.model_copy(update={"text": text}))


def _find(quote: str, text: str) -> Span | None:
    """Where the quote stands: in the author's own lines if it stands there, else on quoted ones."""
    own = find_quote(quote, without_quoted(text))
    if own is not None and own.quote == text[own.start : own.end][: len(own.quote)]:
        return own
    return find_quote(quote, text)


def _refusal(proposal: FactProposal, source: Source, span: Span, policy: Policy) -> str:
    if proposal.kind not in policy.kinds and proposal.op != "delete":
        return f"there is no kind of facts {proposal.kind!r}"
    if len(span.quote) > policy.learning.quote_characters:
        return f"the quote has more than {policy.learning.quote_characters} characters"
    if source.is_ours:
        return "" if proposal.kind in OURS else "our own words say nothing of a customer"
    against = objection(span, source.text, proposal.kind, source.our_words, proposal.value)
    if against or proposal.op == "delete":
        return against
    if policy.is_ours_to_say(proposal.kind, proposal.key, f"{proposal.value} {proposal.text}"):
        return "only we can establish this"
    if against := disallowed(proposal, span, source.text):
        return against
    if policy.importance(proposal.kind, proposal.importance) < policy.store_from:
        return f"importance {proposal.importance} is below the threshold"
    return ""


def _trust(proposal: FactProposal, source: Source, span: Span) -> Trust:
    if source.is_ours:
        return "ours"
    written = source.sent_at or source.received_at
    return "authenticated" if is_literal(proposal.value, span, source.text, written) else "inferred"
