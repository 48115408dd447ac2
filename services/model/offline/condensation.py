"""Telling a period: the weightiest rows as they stand, each naming itself."""

from __future__ import annotations

from collections import Counter
from typing import Any

from schemas.model_output import ToldPeriod
from services.model.offline.sentences import one_line, terms
from services.model.offline.view import View

_MOST = 4  # sentences
_LONGEST = 200  # characters of a row that is told


def tell(view: View) -> dict[str, Any]:
    """The input of the tool `tell`, as JSON data that `ToldPeriod` has validated; nothing where every row is long."""
    rows = [(str(item["id"]), one_line(str(item["text"]))) for item in view.items("rows")]
    counts = Counter(term for _, text in rows for term in set(terms(text)))
    told = {text: id for id, text in reversed(rows) if len(text) <= _LONGEST}
    ranked = sorted(told, key=lambda text: (-sum(counts[term] for term in set(terms(text))), text))[:_MOST]
    sentences = [{"text": text, "rows": [told[text]]} for text in told if text in ranked]
    return ToldPeriod.model_validate({"sentences": sentences[::-1]}).model_dump(mode="json")
