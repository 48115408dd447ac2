"""What the benchmarks of the flow stand on: the embedded stack, a house, a model that answers at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from deploy.local import EmbeddedStack
from services.core.house import House
from services.core.model.port import Answer, Request, ToolCall, Usage
from services.core.model.prompt import render
from services.core.model.usage import estimate_tokens
from tests.support.house import running_house, settings_for
from tests.support.stack import temporary_home


class InstantModel:
    """Answers in no time: a short reply to every mail, a small reflection after every turn."""

    name = "instant"

    async def ask(self, request: Request) -> Answer:
        """One call of the tool that is wanted."""
        if request.purpose == "reflect":
            call = ToolCall("r", "reflect", {"summary": "They asked, we answered.", "brief": "A customer."})
        else:
            call = ToolCall("a", "reply", {"text": "Hello, here is your answer.", "state": "awaiting_reply"})
        prompt = render(request)
        usage = Usage(input=estimate_tokens(prompt.stable + prompt.opening), output=20)
        return Answer("", (call,), "tool_use", self.name, usage)

    async def close(self) -> None:
        """Nothing is open."""


@asynccontextmanager
async def bench_house() -> AsyncIterator[House]:
    """A house on an embedded stack of its own, without a quiet period."""
    with temporary_home() as home, EmbeddedStack(home) as endpoints:
        limits = {"threads": {"quiet_s": 0, "max_auto_replies": 100_000}}
        settings = settings_for(endpoints, endpoints.database, "bench.", home / "house", **limits)
        async with running_house(settings, model=InstantModel()) as house:
            yield house
