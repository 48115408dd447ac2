"""A deployment whose periods a scripted model tells: what is learned, the daily rounds, and what came of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.local import Endpoints
from schemas.events.replies import ContextLayer
from services import condense_memory, learn_facts, read_email
from services.core.bus.runner import enter
from services.load_memory.layers import grains
from services.operations.periods import ask
from services.operations.retention.rounds import Clearing, today
from services.operations.retention.run import run
from tests.support.layers import load_layer, turn_of
from tests.support.remembering import ADA, Memory, day, fact, remembering
from tests.support.scripted_model import Behaviour, ScriptedModel, Seen, reply_tool

DRIVEN = (read_email.PROCESSOR, learn_facts.PROCESSOR, condense_memory.PROCESSOR)
ROW = re.compile(r"- \[([0-9a-f-]{36})\] (\S+): (.*)")
TOLD = [("plan", "Starter"), ("seats", "40"), ("region", "Berlin"), ("export", "nightly")]


def rows_in(request: Seen) -> list[tuple[str, str]]:
    """The rows that a request shows: id and text."""
    return [(id, text) for id, _, text in ROW.findall("\n".join(request.fenced("rows")))]


def told(*sentences: tuple[str, list[str]]) -> Behaviour:
    """The model tells a period so."""
    return reply_tool("tell", {"sentences": [{"text": text, "rows": ids} for text, ids in sentences]})


def word_for_word(request: Seen) -> Behaviour:
    """A model that tells every row as it stands."""
    return told(*((text, [id]) for id, text in rows_in(request)))


@dataclass
class Desk:
    """A deployment whose periods a model tells."""

    memory: Memory
    server: ScriptedModel

    async def learn(self, on: float, addr: str = ADA, facts: Any = TOLD) -> None:
        """What a person tells of themselves on a day."""
        words = [f"Our {key}: {value}." for key, value in facts]
        proposed = [
            fact(key, value, said, text=said, kind="order_info")
            for (key, value), said in zip(facts, words, strict=True)
        ]
        await self.memory.tell("\n".join(words), *proposed, on=on, sender=addr)

    async def round(self, on: float) -> dict[str, Any]:
        """The daily round of a day, and what it asks for."""
        self.at(on)
        report = await ask(self.memory.app, asyncio.Event())
        await self.memory.settle(DRIVEN)
        return report

    def at(self, on: float) -> None:
        """The clock says so."""
        self.memory.clock.forward(day(on))

    async def layer(self, on: float, addr: str = ADA) -> ContextLayer:
        """What the agent is told of the past."""
        return await load_layer(grains, turn_of(self.memory, on, addr))

    async def clear(self, on: float) -> dict[str, int]:
        """The daily round of retention, and how many of each sort it was about."""
        self.at(on)
        done = [one async for one in run(Clearing(self.memory.app, today(self.memory.clock())))]
        await self.memory.settle(DRIVEN)
        assert not any(one.error for one in done)
        return {one.step.name: one.count for one in done if one.count}

    async def names(self) -> list[str]:
        """The periods that were told, or tried."""
        return [row["period"] for row in await self.memory.rows("SELECT period FROM memory_periods ORDER BY ends_at")]

    async def kept(self) -> list[str]:
        """The sentences of all periods."""
        rows = await self.memory.rows("SELECT sentences FROM memory_periods ORDER BY ends_at, period")
        return [one["text"] for row in rows for one in row["sentences"]]

    async def ask(self, data: Any, on: float) -> None:
        """An event that a person or the daily round causes."""
        await enter(self.memory.app, self.memory.event(data, day(on)))
        await self.memory.settle(DRIVEN)


@asynccontextmanager
async def opening(
    stack: Endpoints, database: str, topic_prefix: str, folder: Path, given: dict[str, Any]
) -> AsyncIterator[Callable[..., Awaitable[Desk]]]:
    """What opens a deployment with settings of its own, whose model tells every row as it stands."""
    async with ScriptedModel() as server, AsyncExitStack() as open_ones:

        async def open_one(**condense: Any) -> Desk:
            changes: dict[str, Any] = {
                "model": {"provider": "anthropic", "api_key": "k", "base_url": server.base_url, "max_retries": 0},
                "condense": {"enabled": True, "rows_from": 3, **condense},
                **given,
            }
            server.script(word_for_word)
            one = await open_ones.enter_async_context(remembering(stack, database, topic_prefix, folder, **changes))
            return Desk(one, server)

        yield open_one
