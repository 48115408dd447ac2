"""What the prompt says of the person: mood, repeats, tags, and where memory was not searched."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deploy.local import Endpoints
from schemas.events.memory import MailSignals
from schemas.events.replies import ContextLayer
from services.core.clock import random_id
from services.load_memory.handler import load_layer
from services.load_memory.layers import participant
from services.load_memory.participant_lines import CARE
from services.load_memory.turn import Turn
from tests.support.remembering import Memory, day, fact, remembering


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        yield one


def a_turn(memory: Memory) -> Turn:
    return Turn(
        house=memory.house,
        workspace=memory.workspace,
        now=day(20),
        thread_id=random_id(),
        participant_id=memory.person(),
        inbox=memory.house.settings.inboxes[0],
        mails=(),
        vector=np.zeros(384, dtype=np.float32),
    )


async def shown(memory: Memory) -> ContextLayer:
    return await load_layer(participant, a_turn(memory))


async def feels(memory: Memory, on: float, **signals: object) -> None:
    """A mail in a thread of its own, and what a model reads in it."""
    mail = await memory.mail("The export fails.", on=on)
    await memory.learn(mail, signals=MailSignals.model_validate(signals))


async def test_three_frustrated_mails_in_a_row_ask_for_care(memory: Memory) -> None:
    """Two are not enough; the third makes the risk high, and the prompt asks for care until a calm mail comes."""
    for on in (1, 2):
        await feels(memory, on, frustrated=True, sentiment=-0.6)
    assert CARE not in (await shown(memory)).text
    await feels(memory, 3, frustrated=True, sentiment=-0.6)
    told = await shown(memory)
    assert CARE in told.text
    assert told.items[0]["risk"] == "high"
    await feels(memory, 4, sentiment=0.4)
    assert CARE not in (await shown(memory)).text


async def test_the_fifth_report_of_one_trouble_is_known_as_that(memory: Memory) -> None:
    """Four threads about the same trouble: the prompt says that a further one is number five, and what is tagged."""
    for on in range(1, 5):
        await feels(memory, on, issue_key="export fails", tags=("export",))
    told = await shown(memory)
    assert "export fails (reported 4 times, open" in told.text
    assert "a further report is number 5" in told.text
    assert "tags: export" in told.text


async def test_facts_stand_by_kind_and_say_why_they_are_there(memory: Memory) -> None:
    """Each kind's facts stand together, with score and reason as data."""
    claims = [fact(f"k{n}", f"v{n}", "k and v", kind=kind) for n, kind in enumerate(("goal", "preference") * 2)]
    await memory.tell("k and v", *claims, on=1)
    items = [item for item in (await shown(memory)).items if item.get("id")]
    kinds = [item["kind"] for item in items]
    assert len(kinds) == 4
    assert kinds in (["goal"] * 2 + ["preference"] * 2, ["preference"] * 2 + ["goal"] * 2)
    assert {item["why"] for item in items} == {"bears on the mail"}
    assert all(item["score"] > 0 for item in items)


async def test_where_memory_is_not_searched_the_prompt_says_so(memory: Memory) -> None:
    """Without a cue no fact is shown, and the model is told that it may look."""
    await memory.tell("We are on the Team plan.", fact("plan", "Team", "on the Team plan"), on=1)
    told = await load_layer(participant, replace(a_turn(memory), recalls=False))
    assert [item for item in told.items if item.get("id")] == []
    assert "facts were not searched" in told.text
