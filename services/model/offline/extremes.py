"""The dearest or the cheapest of several prices: "What does the top plan cost?" names no plan, and means one.

Extractive: what comes out is a sentence of a passage, and only where at least two prices of one thing are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from services.model.offline.matches import Found
from services.model.offline.sentences import sentences, terms
from services.model.offline.view import Passage

_DEAREST = re.compile(r"\b(?:top|highest|biggest|largest|dearest|most expensive)\b", re.I)
_CHEAPEST = re.compile(r"\b(?:cheapest|lowest|smallest|least expensive)\b", re.I)
_PRICE = re.compile(r"\b(?:costs?|prices?|pricing|how much)\b", re.I)
_RANKED = re.compile(r"\b(?:most|least|expensive)\b", re.I)
_AMOUNT = re.compile(
    r"[$€£]\s?(\d{1,7}(?:\.\d{1,2})?)(?![\d.,]\d)|\b(\d{1,7}(?:\.\d{1,2})?) (?:dollars|euros?|pounds)\b", re.I
)


def extreme(question: str, passages: Sequence[Passage]) -> Found | None:
    """The sentence with the price that is asked for; None where no such price is, or nothing is compared."""
    dearest, cheapest = _DEAREST.search(question), _CHEAPEST.search(question)
    if bool(dearest) == bool(cheapest) or not _PRICE.search(question):
        return None
    rest = _CHEAPEST.sub(" ", _DEAREST.sub(" ", _PRICE.sub(" ", _RANKED.sub(" ", question))))
    thing = frozenset(terms(rest))
    for passage in passages:
        priced = list(_priced(passage, thing)) if thing else []
        amounts = {amount for amount, _ in priced}
        wanted = max(amounts, default=0.0) if dearest else min(amounts, default=0.0)
        named = [sentence for amount, sentence in priced if amount == wanted]
        if len(amounts) > 1 and len(named) == 1:
            return Found((named[0],), passage, 1.0)
    return None


def _priced(passage: Passage, thing: frozenset[str]) -> Iterator[tuple[float, str]]:
    """Sentences about the thing that name exactly one price."""
    for line in passage.text.splitlines():
        for sentence in [] if line.lstrip().startswith("#") else sentences(line):
            found = [float(one or other) for one, other in _AMOUNT.findall(sentence)]
            if len(found) == 1 and thing <= frozenset(terms(sentence)):
                yield found[0], sentence
