"""Working memory: the thread's recent messages within their retention, their number and their tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from deploy.local import Endpoints
from schemas.events.memory import ThreadSummarized
from schemas.events.threads import MailAttached
from services import summarize_threads, track_threads
from services.core.clock import random_id
from services.core.settings import PeriodRetention
from services.load_memory.layers import recent
from services.load_memory.turn import Turn
from services.memory.embeddings import Meaning, MiniLM
from tests.support.layers import load_layer
from tests.support.remembering import Memory, day, remembering

THREAD = UUID(int=5)
FOR_GOOD = PeriodRetention()


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    context = {"recent_messages": 4, "recent_tokens": 400, "retention_days": 30}
    async with remembering(stack, database, topic_prefix, tmp_path, context=context) as one:
        yield one


async def say(memory: Memory, number: int, on: float, text: str) -> None:
    """A mail becomes a row of the conversation."""
    data = MailAttached(thread_id=THREAD, mail_id=random_id(), text=text, tokens=9, trusted=True, waits=True)
    envelope = replace(memory.event(data, day(on)), version=number)
    async with memory.app.database.transaction() as conn:
        await track_threads.PROCESSOR.appliers[MailAttached](conn, envelope)


async def summarize(memory: Memory, covers_to: int) -> None:
    """A summary that says what the first messages said."""
    data = ThreadSummarized(
        thread_id=THREAD, text="They asked.", words=2, covers_to=covers_to, turn_id=random_id(), trusted=False
    )
    envelope = replace(memory.event(data, day(21)), version=1)
    async with memory.app.database.transaction() as conn:
        await summarize_threads.PROCESSOR.appliers[ThreadSummarized](conn, envelope)


async def shown(memory: Memory, on: float, keep: PeriodRetention = FOR_GOOD) -> list[str]:
    """The messages that a turn of that day is given, as the model reads them."""
    settings = memory.app.settings
    retention = settings.retention.model_copy(update={"periods": keep})
    turn = Turn(
        app=replace(memory.app, settings=settings.model_copy(update={"retention": retention})),
        workspace=memory.workspace,
        now=day(on),
        thread_id=THREAD,
        participant_id=None,
        inbox=memory.app.settings.inboxes[0],
        mails=(),
        meaning=Meaning(MiniLM.name, np.zeros(384, dtype=np.float32)),
    )
    return [str(item["text"]) for item in (await load_layer(recent, turn)).items]


async def test_rows_leave_the_prompt_after_their_retention_and_stay_in_the_table(memory: Memory) -> None:
    """After 30 days a message that the summary covers is carried by it alone; its row is still there."""
    await say(memory, 1, 1, "an old question")
    await say(memory, 2, 20, "a newer one")
    await say(memory, 3, 21, "not summarized yet")
    await summarize(memory, 2)
    assert await shown(memory, 22) == ["an old question", "a newer one", "not summarized yet"]
    assert await shown(memory, 32) == ["a newer one", "not summarized yet"]
    assert await shown(memory, 60) == ["not summarized yet"]
    assert len(await memory.rows("SELECT 1 AS one FROM conversation")) == 3


@pytest.mark.parametrize(
    ("periods", "hours"), [({"plan": "free"}, 48), ({"plan": "pro"}, 240), ({"plan": "free", "hours": 72}, 72)]
)
async def test_a_plan_says_for_how_many_hours_messages_are_working_memory(
    memory: Memory, periods: dict[str, object], hours: int
) -> None:
    """After the plan's hours, or your own, what a summary covers leaves the prompt; what none covers stays."""
    keep = PeriodRetention.model_validate(periods)
    await say(memory, 1, 1, "covered")
    await say(memory, 2, 1, "not summarized yet")
    await summarize(memory, 1)
    assert await shown(memory, 1 + hours / 24, keep) == ["covered", "not summarized yet"]
    assert await shown(memory, 1 + hours / 24 + 0.01, keep) == ["not summarized yet"]


async def test_the_newest_messages_are_kept_within_number_and_tokens(memory: Memory) -> None:
    """Of what the summary covers four at most, oldest first; a long one takes the room of older ones."""
    for number in range(1, 7):
        await say(memory, number, number, f"message {number}")
    await summarize(memory, 6)
    assert await shown(memory, 7) == [f"message {number}" for number in range(3, 7)]
    await say(memory, 7, 7, "long " * 270)
    told = await shown(memory, 8)
    assert told[-1].startswith("long")
    assert len(told) < 4
