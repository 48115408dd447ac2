"""The model itself: what is asked of it goes to the module for that purpose."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from services.core.model.offline.condensing import condense
from services.core.model.offline.reflecting import reflect
from services.core.model.offline.replying import act
from services.core.model.offline.view import View
from services.core.model.port import Answer, Request, ToolCall, Usage
from services.core.model.prompt import render
from services.core.model.usage import estimate_tokens


class OfflineModel:
    """The offline model of Correspondent: deterministic and extractive. It never raises and never waits."""

    name = "offline (extractive, no language model)"

    async def ask(self, request: Request) -> Answer:
        """The answer to one request; equal requests get equal answers, call ids included."""
        if request.purpose == "condense":
            return self._said(request, condense(request))
        tool, data = ("reflect", reflect(View(request))) if request.purpose == "reflect" else act(View(request))
        return self._called(request, tool, data)

    def _called(self, request: Request, tool: str, data: dict[str, Any]) -> Answer:
        body = json.dumps([tool, data, len(request.history)], sort_keys=True, default=str)
        call = ToolCall(f"offline_{hashlib.sha256(body.encode()).hexdigest()[:20]}", tool, data)
        return Answer("", (call,), "tool_use", self.name, self._usage(request, body))

    def _said(self, request: Request, text: str) -> Answer:
        return Answer(text, (), "end_turn", self.name, self._usage(request, text))

    def _usage(self, request: Request, answer: str) -> Usage:
        """An estimate, so that budgets can be tried without a provider."""
        prompt = render(request)
        return Usage(input=estimate_tokens(prompt.stable + prompt.opening), output=estimate_tokens(answer))
