"""A summary's update keeps the people and things that the one before it named, whatever the model leaves out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services import summarize_threads
from services.core.bus.runner import enter
from tests.support.remembering import DRIVEN, Memory, fact, remembering

OWNS = "We run the Falcon X2 in our plant."


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        yield one


async def test_a_forgetful_update_keeps_customer_and_identity(memory: Memory) -> None:
    """Name and identity facts come back by code."""
    mail = await memory.mail(f"{OWNS} It is invoice 4471.", on=0, sender="Ada Miller <ada@acme.example>")
    identity = fact("machine", "Falcon X2", OWNS, kind="identity", importance=9)
    said = ("Ada Miller runs a Falcon X2; invoice 4471 is open.", "The customer wrote again.", "All is settled.")
    for covers_to, summary in enumerate(said, 1):
        given = {"summary": summary, "covers_to": covers_to}
        await enter(memory.app, memory.reflection(mail, *((identity,) if covers_to == 1 else ()), **given))
        await memory.settle((*DRIVEN, summarize_threads.PROCESSOR))
    (row,) = await memory.rows("SELECT text, words FROM thread_summaries")
    assert row["text"] == "All is settled. Also: Ada Miller, Falcon X2, 4471."
    assert row["words"] == 9
