"""A claim: a proposal whose words really stand in a mail and assert it, or why it is none. Pure.

A fact is stored only if its quote stands in the cited mail of an authenticated author, as that author's own statement,
about something that is theirs to say, and important enough to keep. Its author has to assert it, as far as its kind
asks for that: a goal is wished for, a preference may be put as a request, and who asks for an order names its number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from schemas.events.memory import Trust
from schemas.events.replies import FactProposal
from services.core.wording import folded
from services.learn_facts.facts.assertion import REASONS, Mood, denies, mood_of
from services.learn_facts.facts.clauses import place_of
from services.learn_facts.facts.evidence import disallowed, objection, supported_text, unsupported
from services.learn_facts.facts.naming import CALLED
from services.learn_facts.facts.others import About, speaks_of_the_author
from services.learn_facts.facts.plainly import bears_on, says_plainly
from services.learn_facts.facts.policy import OURS, Policy, end_of_day, valid_from
from services.learn_facts.facts.values import is_literal, plain_value, sentence_around
from services.learn_facts.participant import Fact, Source
from services.mail.reply_text import without_quoted
from services.memory.keys import is_chosen, is_of_a_person
from services.memory.quotes import Span, find_quote
from services.memory.support import Support
from services.memory.wording import says, words_of


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

    @property
    def is_called(self) -> bool:
        """Whether its key names a thing of the author's that has one value, of which it is known how people say it."""
        return self.proposal.kind in CALLED and self.single

    def is_plain(self, current: Sequence[str] = ()) -> bool:
        """Whether its words say plainly that it is so, of its author; `current` are the values that its key has now."""
        if self.source.is_ours or self.parents:
            return True
        proposal, text = self.proposal, self.source.text
        if says("affirmed", self.span.quote):
            return False  # it says yes to words that are not its author's
        sentence = sentence_around(self.span, without_quoted(text))
        theirs = any(place_of(plain_value(one), sentence) for one in current)
        if not theirs and not speaks_of_the_author(sentence, proposal.key, of_a_person=about(proposal).of_a_person):
            return False
        return not self.is_called or says_plainly(proposal.value, proposal.key, self.span, text, current)

    def bears_on(self, known: Fact) -> bool:
        """Whether its author's words may well mean that this value of its key is another one."""
        return self.source.is_ours or bears_on(self.proposal.value, self.proposal.key, self.source.text, [known.value])

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
    if source.passed_on:
        return "the mail only passes on what somebody wrote"
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
    if policy.is_ours_to_say(proposal.kind, proposal.key, proposal.value, proposal.text):
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


_ALL: frozenset[Mood] = frozenset(REASONS)
_HAPPENED: frozenset[Mood] = frozenset({"asks", "supposes"})
_WANTED: frozenset[Mood] = frozenset({"hearsay", "was so"})
_ENDING: frozenset[Mood] = frozenset({"asks", "supposes", "wishes", "ahead", "hearsay"})  # what ends nothing
BARRED: Mapping[str, frozenset[Mood]] = MappingProxyType(
    {
        "goal": frozenset(),
        "issue_history": frozenset(),
        "interaction": frozenset(),
        "resolution": frozenset(),
        "preference": _WANTED,
        "constraint": _WANTED,
        "event": _HAPPENED,
        "note": _HAPPENED,
        "action": _HAPPENED,
        "relationship": _ALL - {"another's", "for a while", "ahead", "a part"},
    }
)
"""The moods in which no fact of a kind is said; of every other kind none of them."""

_IDENTIFIERS = re.compile(r"(?:order|invoice|tracking|ticket|serial|customer|contract) number")
_NAMED = re.compile(r"[^\W\d_]{4,30}\W{1,3}(?:(?:no|nr|number|nummer|numero|num|numer|n)\W{1,3})?$")
_EQUATED = re.compile(r"\b(?:is|ist|est|es|e|to|as|als|comme|como|come|jako)\W{1,3}$")


def asserted(claim: Claim) -> Claim | str:
    """The claim where its author says so; else why not, in words."""
    mood = mood_of_claim(claim)
    return claim if mood is None else REASONS[mood]


def mood_of_claim(claim: Claim) -> Mood | None:
    """The mood in which no such fact is said; None where it is asserted."""
    proposal = claim.proposal
    if claim.source.is_ours:
        return None
    written = claim.source.sent_at or claim.source.received_at
    mood = mood_of(proposal.value, claim.span, claim.source.text, about(proposal), written)
    return mood if mood in _barred(claim) and not _excused(claim, mood) else None


def _barred(claim: Claim) -> frozenset[Mood]:
    if claim.proposal.op == "delete":
        return _ENDING & BARRED.get(claim.proposal.kind, _ALL)
    return BARRED.get(claim.proposal.kind, _ALL)


def about(proposal: FactProposal) -> About:
    """What a proposal's value is of; a key that says whose it is ("wife's name") is nobody else's."""
    of_a_person = is_of_a_person(proposal.key, proposal.kind) and not says("others", proposal.key)
    return About(words_of(proposal.key), of_a_person, is_chosen(proposal.key))


def _excused(claim: Claim, mood: Mood | None) -> bool:
    proposal = claim.proposal
    match mood:
        case "denies":
            return denies(f"{proposal.key} {proposal.value}") or not proposal.value or bool(claim.parents)
        case "was so":
            return claim.is_over
        case "for a while":
            return claim.until is not None
        case "asks":
            return _is_named_by_it(claim)
        case _:
            return False


def _is_named_by_it(claim: Claim) -> bool:
    """Whether a question about an order, an invoice or the like takes its number for granted."""
    key, value = claim.proposal.key, folded(claim.proposal.value)
    if claim.proposal.kind != "order_info" and _IDENTIFIERS.fullmatch(key) is None:
        return False
    words = folded(" ".join(claim.source.text[: claim.span.end].split()))
    before = (
        words[: words.rfind(value)][-60:] if value and any(one.isdigit() for one in value) and value in words else ""
    )
    return bool(_NAMED.search(before)) and _EQUATED.search(before) is None
