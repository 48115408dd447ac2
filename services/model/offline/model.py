"""The model itself: what is asked of it goes to the module for that purpose."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

from schemas.model_output import ToldPeriod
from services.memory.embeddings import Embedder
from services.model.offline.investigation import investigate
from services.model.offline.meaning import Reader
from services.model.offline.reflections import reflect
from services.model.offline.replies import Act, acts
from services.model.offline.sentences import one_line, terms
from services.model.offline.view import View
from services.model.port import Answer, Request, ToolCall, Usage
from services.model.prompt import render
from services.model.settings import OFFLINE_NAME
from services.model.usage import estimate_tokens


class OfflineModel:
    """The offline model of Correspondent: deterministic and extractive. It never raises; of passages that `embedder`
    cannot compare it goes by their words."""

    name = OFFLINE_NAME

    def __init__(self, embedder: Embedder) -> None:
        self._reader = Reader(embedder)

    async def ask(self, request: Request) -> Answer:
        """The answer to one request; equal requests get equal answers, call ids included."""
        if request.purpose == "condense":
            return self._called(request, [("tell", tell(View(request)))])
        if request.purpose == "investigate":
            return self._called(request, investigate(View(request)))
        if request.purpose == "reflect":
            return self._called(request, [("reflect", reflect(View(request)))])
        return self._called(request, await acts(View(request), self._reader))

    async def close(self) -> None:
        """Nothing is open."""

    def _called(self, request: Request, done: list[Act]) -> Answer:
        said = [json.dumps([*act, len(request.history)], sort_keys=True) for act in done]
        calls = tuple(ToolCall(_id(text), *act) for text, act in zip(said, done, strict=True))
        return Answer("", calls, "tool_use", self.name, self._usage(request, "".join(said)))

    def _usage(self, request: Request, answer: str) -> Usage:
        """An estimate, so that budgets can be tried without a provider."""
        prompt = render(request)
        return Usage(input=estimate_tokens(prompt.stable + prompt.opening), output=estimate_tokens(answer))


def _id(said: str) -> str:
    return f"offline_{hashlib.sha256(said.encode()).hexdigest()[:20]}"


# Telling a period: the weightiest rows as they stand, each naming itself.
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
