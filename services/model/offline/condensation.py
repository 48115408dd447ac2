"""Condensing a span of time: the weightiest sentences of the layers, in their order."""

from __future__ import annotations

from collections import Counter

from services.model.offline.sentences import one_line, sentences, terms
from services.model.port import Request

_WORDS = 120


def condense(request: Request) -> str:
    """At most 120 words, every one of them from the layers; "" for empty layers."""
    said = list(dict.fromkeys(one_line(one) for layer in request.layers for one in sentences(layer.text)))
    counts = Counter(term for one in said for term in set(terms(one)))
    ranked = sorted(said, key=lambda one: (-_weight(one, counts), said.index(one)))
    kept: list[str] = []
    for one in ranked:
        if sum(len(other.split()) for other in kept) + len(one.split()) <= _WORDS:
            kept.append(one)
    return " ".join(sorted(kept, key=said.index))


def _weight(sentence: str, counts: Counter[str]) -> float:
    """How much of what the span is about a sentence holds, for its length."""
    found = set(terms(sentence))
    return sum(counts[term] for term in found) / (len(sentence.split()) + 5)
