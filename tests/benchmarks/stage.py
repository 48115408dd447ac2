"""What the benchmarks of the flow stand on: the embedded stack, a deployment, a model that answers at once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any

from deploy.local import EmbeddedStack
from services.core.app import App
from services.model.anthropic_wire import to_wire
from services.model.port import Answer, Model, Request, ToolCall, Usage
from services.model.settings import ModelSettings
from services.model.usage import estimate_tokens
from services.process import spare_the_collector
from tests.support.app import merged, running_app, settings_for
from tests.support.stack import temporary_home

NONE: Mapping[str, Any] = MappingProxyType({})


class InstantModel:
    """Answers in no time: a short reply to every mail, a small reflection after every turn."""

    name = "instant"

    async def ask(self, request: Request) -> Answer:
        """One call of the tool that is wanted."""
        if request.purpose == "reflect":
            call = ToolCall("r", "reflect", {"summary": "They asked, we answered.", "brief": "A customer."})
        else:
            call = ToolCall("a", "reply", {"text": "Hello, here is your answer.", "state": "awaiting_reply"})
        return Answer("", (call,), "tool_use", self.name, Usage(input=prompt_tokens(request), output=20))

    async def close(self) -> None:
        """Nothing is open."""


def prompt_tokens(request: Request) -> int:
    """What a provider reads of a request, tools included."""
    wire = to_wire(request, ModelSettings())
    return estimate_tokens(json.dumps([wire.get("tools"), wire["system"], wire["messages"]], ensure_ascii=False))


@asynccontextmanager
async def bench_app(model: Model | None = None, changes: Mapping[str, Any] = NONE, **parts: Any) -> AsyncIterator[App]:
    """A deployment on an embedded stack of its own, without a quiet period; its model answers at once.

    `changes` are settings over those of every measurement.
    """
    with temporary_home() as home, EmbeddedStack(home) as endpoints:
        limits = {"threads": {"quiet_s": 0, "max_auto_replies": 100_000}}
        settings = settings_for(endpoints, endpoints.database, "bench.", home / "deployment", **merged(limits, changes))
        async with running_app(settings, model=model or InstantModel(), **parts) as app:
            spare_the_collector()  # as `correspondent up` does
            yield app
