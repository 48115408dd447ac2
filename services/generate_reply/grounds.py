"""What a draft may rest on: the context that its model was shown, and of it what we say ourselves. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.events.replies import ContextLayer
from services.core.approval_level import STRANGER
from services.core.wording import as_read
from services.generate_reply.claims import Claim, claims_of, sentences_of, words_of
from services.memory.wording import says

PUBLISHED = "knowledge"  # the one layer that is ours although it is fenced
_MARKED = re.compile(r"^\[[0-9a-f-]{36}\] ", re.MULTILINE)
ALIKE = 0.75  # share of a promise's words that one sentence of ours has to hold; its line holds all of them


@dataclass(frozen=True, slots=True)
class Line:
    """A line of ours: its words, and each of its sentences with whether it denies something."""

    words: frozenset[str]
    sentences: tuple[tuple[frozenset[str], bool], ...]

    @classmethod
    def of(cls, text: str) -> Line:
        """That of a text."""
        parts = tuple((frozenset(words_of(one)), says("denials", one)) for one in sentences_of(text))
        return cls(frozenset(words_of(text)), parts)

    def says(self, promise: frozenset[str], denied: bool) -> bool:
        """Whether a promise of these words stands here, as it is meant."""
        if not promise <= self.words:
            return False
        return any(len(promise & one) >= ALIKE * len(promise) and no == denied for one, no in self.sentences)


@dataclass(frozen=True, slots=True)
class Grounds:
    """The claims and words of the whole context, and those of what we say: rules, profile, published documents.

    `strangers`: somebody of another company than the author's wrote some of it.
    """

    claims: frozenset[tuple[str, str]]
    words: frozenset[str]
    our_claims: frozenset[tuple[str, str]]
    our_lines: tuple[Line, ...]
    recalled: tuple[str, ...] = field(default=())
    passages: int = 0
    strangers: bool = False

    @classmethod
    def of(cls, layers: Sequence[ContextLayer], looked_up: Iterable[str]) -> Grounds:
        """Those of a turn: its layers, and what searches of our documents found meanwhile."""
        found = list(map(_bare, looked_up))
        ours = [_bare(one.text) for one in layers if one.trusted or one.name == PUBLISHED] + found
        texts = [_bare(one.text) for one in layers] + found
        items: list[dict[str, Any]] = [item for one in layers for item in one.items]
        return cls(
            claims=_keys(texts),
            words=frozenset(word for text in texts for word in words_of(text)),
            our_claims=_keys(ours),
            our_lines=tuple(Line.of(line) for text in ours for line in text.splitlines() if line.strip()),
            recalled=tuple(str(item["recall"]) for item in items if item.get("of_memory") and "recall" in item),
            passages=sum(len(one.items) for one in layers if one.name == PUBLISHED) + len(found),
            strangers=any(item.get(STRANGER) for item in items),
        )

    def has(self, claim: Claim) -> bool:
        """Whether a number, amount, date or link stands in the context, whoever said it."""
        return (claim.kind, claim.key) in self.claims

    def support(self, claim: Claim) -> bool:
        """Whether the claim stands in the context; what would bind us has to stand in what we say ourselves."""
        if claim.kind == "promise":
            wanted, denied = frozenset(claim.key.split()), says("denials", claim.text)
            return any(line.says(wanted, denied) for line in self.our_lines)
        if claim.kind == "name":
            return all(word in self.words for word in claim.key.split())
        return (claim.kind, claim.key) in (self.our_claims if claim.binds else self.claims)


def _bare(text: str) -> str:
    """The text as it is seen, without the ids that name its entries, whose digits are nobody's numbers."""
    return as_read(_MARKED.sub("", text))


def _keys(texts: Iterable[str]) -> frozenset[tuple[str, str]]:
    """The claims of some texts; an amount is a number, too, and so are the parts of a date."""
    return frozenset((kind, claim.key) for text in texts for claim in claims_of(text) for kind in claim.also)
