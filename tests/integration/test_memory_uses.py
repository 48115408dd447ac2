"""Facts of little weight that nothing asks for leave the prompt, stay in memory, and come back when asked for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from deploy.local import Endpoints
from schemas.events.memory import FactRequested
from schemas.events.replies import ContextLayer, ReplyDrafted
from services.cli.memory import view as showing
from services.core.bus.runner import enter
from services.core.clock import random_id
from services.load_memory.layers import participant
from services.load_memory.turn import MailToAnswer, Turn
from services.memory.embeddings import Meaning, meanings
from services.memory.questions import read
from services.operations import uses
from services.operations.erase.proof import belongings
from services.operations.erase.run import erase
from services.operations.fact_uses import uses_of
from services.operations.memory.search import find
from tests.support.beginning import after
from tests.support.erasing import differences, found
from tests.support.layers import load_layer
from tests.support.remembering import ADA, Memory, day, fact, memory_loaded, remembering

pytestmark = pytest.mark.timeout(300)
DOG = "Our dog is called Rex."
PLAN = "We are on the Team plan."
RECALL = {"unused_days": 100, "unused_below": 0.5}


@pytest.fixture
async def memory(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Memory]:
    """Facts below 0.5 leave after 100 days; what was stored just now is counted at once."""
    monkeypatch.setattr(uses, "UNSEEN_S", -60.0)
    async with remembering(stack, database, topic_prefix, tmp_path, recall=RECALL) as one:
        yield one


async def learned(memory: Memory) -> None:
    """A dog of little weight, and a plan."""
    dog = fact("dog", "Rex", DOG, kind="note", text="They have a dog called Rex.", importance=4)
    await memory.tell(f"{DOG}\n{PLAN}", dog, fact("plan", "Team", "on the Team plan", importance=8), on=1)


@pytest.fixture
async def known(
    stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Memory]:
    """The same with a dog and a plan."""
    monkeypatch.setattr(uses, "UNSEEN_S", -60.0)
    async with after(learned, remembering, stack, template_database, topic_prefix, tmp_path, recall=RECALL) as one:
        yield one


async def layer(memory: Memory, on: float, words: str = "The export fails.") -> ContextLayer:
    """What the agent is told of the person when such a mail comes."""
    given: dict[str, Any] = dict.fromkeys(
        ("message_id", "subject", "quoted", "signature", "author_name", "language"), ""
    )
    mail = MailToAnswer(
        mail_id=random_id(), participant_id=memory.person(), text=words, author_addr=ADA, received_at=day(on),
        flags=[], attachments=[], **given,
    )  # fmt: skip
    asked = read(words, day(on))
    (meaning,) = await meanings(memory.app.embedder, [asked.words])
    turn = Turn(
        app=memory.app,
        workspace=memory.workspace,
        now=day(on),
        thread_id=random_id(),
        participant_id=memory.person(),
        inbox=memory.app.settings.inboxes[0],
        mails=(mail,),
        meaning=Meaning(meaning.model, np.asarray(meaning.vector)),
        asked=((asked, meaning),) if "?" in words else (),
    )
    return await load_layer(participant, turn)


async def told(memory: Memory, on: float, words: str = "The export fails.") -> ContextLayer:
    """The same, stored as the context of a reply."""
    shown = await layer(memory, on, words)
    event = memory_loaded(memory.person(), shown)
    await enter(memory.app, memory.event(event, day(on)))
    return shown


async def draft(memory: Memory, on: float, *cited: UUID) -> None:
    """A draft that says it rests on these facts."""
    event = ReplyDrafted(
        reply_id=random_id(),
        turn_id=random_id(),
        thread_id=random_id(),
        participant_id=memory.person(),
        inbox="support",
        mail_ids=(),
        trusted=True,
        decision="reply",
        text="Rex may come along.",
        facts_cited=cited,
    )
    await enter(memory.app, memory.event(event, day(on)))


async def the_dog(memory: Memory) -> UUID:
    """The fact about it."""
    (row,) = await memory.rows("SELECT fact_id FROM facts WHERE key = 'dog' AND superseded_at IS NULL")
    id: UUID = row["fact_id"]
    return id


async def count(memory: Memory) -> int:
    """The daily round; how many contexts it counted."""
    report = await uses.count(memory.app, asyncio.Event())
    return int(report["contexts"])


async def counts(memory: Memory) -> dict[str, tuple[int, int]]:
    """How often each fact was shown, and asked for."""
    rows = await memory.rows("SELECT key, shown, asked FROM fact_uses JOIN facts USING (fact_id)")
    return {row["key"]: (row["shown"], row["asked"]) for row in rows}


async def test_shown_and_asked_for_are_counted_once_from_what_is_stored(known: Memory) -> None:
    """Each context once, however often the round comes; nothing is written when a context is made."""
    assert "Rex" in (await told(known, 2)).text
    await told(known, 3, "What is our dog called?")
    assert await counts(known) == {}
    assert [await count(known), await count(known)] == [2, 0]
    assert await counts(known) == {"dog": (2, 1), "plan": (2, 0)}
    await told(known, 4)
    assert await count(known) == 1
    assert (await counts(known))["dog"] == (3, 1)
    dog = await the_dog(known)
    await draft(known, 5, dog)
    assert [await count(known), await count(known)] == [0, 0]
    async with known.app.database.reading() as conn:
        (use,) = (await uses_of(conn, [dog])).values()
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "memory.md").read_text(encoding="utf-8")
    assert (use.shown, use.asked, use.asked_at, use.cited, use.cited_at) == (3, 1, day(3), 1, day(5))
    assert f"    {showing.used(use)}\n" in page


async def test_what_nothing_asks_for_leaves_the_prompt_and_is_found_when_asked_for(known: Memory) -> None:
    """Of little weight and unused for so long: out; what weighs more stays; a question, a search and the rows have it."""
    await count(known)
    assert "Rex" in (await layer(known, 90)).text
    late = await layer(known, 110)
    assert "Rex" not in late.text
    assert "Team" in late.text
    assert "1 fact is left out as of little weight" in late.text
    asked = (await layer(known, 110, "What is our dog called?")).text
    assert "Rex" in asked
    assert "left out" not in asked, "what a question brought back is counted as gone"
    answer = await find(known.app, known.person(), "the name of the dog", now=day(110))
    assert "Rex" in answer.hits[0].fact.text
    assert await known.current("dog") == ["Rex"]


async def test_a_use_brings_it_back_and_so_does_who_says_it_again_or_pins_it(known: Memory) -> None:
    """Asked for within the time, said again, or pinned: it stays."""
    await told(known, 60, "What is our dog called?")
    await count(known)
    assert "Rex" in (await layer(known, 150)).text
    assert "Rex" not in (await layer(known, 170)).text
    await known.tell(DOG, fact("dog", "Rex", DOG, kind="note", text="They have a dog called Rex."), on=171)
    assert "Rex" in (await layer(known, 172)).text
    wish = {"participant_id": known.person(), "op": "pin", "by": "grace", "fact_id": await the_dog(known)}
    await enter(known.app, known.event(FactRequested.model_validate(wish), day(172)))
    await known.settle()
    assert "Rex" in (await layer(known, 400)).text


async def test_what_a_draft_cites_stays(known: Memory) -> None:
    """Nobody asked for it, but a reply rested on it."""
    await draft(known, 60, await the_dog(known))
    await count(known)
    assert "Rex" in (await layer(known, 150)).text
    assert "Rex" not in (await layer(known, 170)).text


async def test_before_anything_was_counted_nothing_leaves(known: Memory) -> None:
    """Who switches it on loses no fact that was asked for yesterday: the first round counts what is stored."""
    assert "Rex" in (await layer(known, 400)).text


async def test_by_default_nothing_is_counted_and_nothing_leaves(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """The task is not wanted; old facts stay."""
    async with remembering(stack, database, topic_prefix, tmp_path) as memory:
        assert not uses.USES.wanted(memory.app.settings)
        await learned(memory)
        await count(memory)
        assert "Rex" in (await layer(memory, 4000)).text


async def test_of_an_erased_person_no_count_is_left(known: Memory, stack: Endpoints) -> None:
    """An erase takes the counts, and their contexts are counted for nobody afterwards; tables follow from events."""
    await told(known, 2)
    await count(known)
    await told(known, 3)
    await erase(known.app, await found(known.app, ADA), by="test")
    assert "fact_uses" not in await belongings(known.app, frozenset({known.person()}))
    assert await count(known) == 1
    assert await counts(known) == {}
    assert await differences(known.app, stack) == set()
