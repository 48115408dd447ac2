"""The session of a participant: a row, cached in Redis, shown in a new thread while it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from deploy.local import Endpoints
from schemas.events.memory import RelationProposal, SessionNoted
from schemas.events.replies import ContextLayer
from services import learn_facts
from services.core.bus.unit import Unit
from services.core.clock import random_id
from services.load_memory.layers import session
from services.load_memory.turn import Turn
from services.memory.embeddings import Meaning, MiniLM
from tests.support.beginning import after
from tests.support.layers import load_layer
from tests.support.remembering import Memory, day, remembering

HOUR = 1 / 24  # of a day


async def asked(one: Memory) -> None:
    """A mail that a summary was made of."""
    mail = await one.mail("Our shop in Graz needs single sign-on with Okta.", on=1)
    edge = RelationProposal(subject="Ada", predicate="uses", object="Okta", quote="single sign-on with Okta")
    await one.learn(mail, summary="Ada asked for single sign-on.", relations=(edge,))


@pytest.fixture
async def memory(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with after(asked, remembering, stack, template_database, topic_prefix, tmp_path) as one:
        yield one


async def shown(memory: Memory, on: float, thread_id: object = None) -> ContextLayer:
    """The layer as a turn of that day sees it, by default in a new thread."""
    turn = Turn(
        app=memory.app,
        workspace=memory.workspace,
        now=day(on),
        thread_id=thread_id or random_id(),  # type: ignore[arg-type]
        participant_id=memory.person(),
        inbox=memory.app.settings.inboxes[0],
        mails=(),
        meaning=Meaning(MiniLM.name, np.zeros(384, dtype=np.float32)),
    )
    return await load_layer(session, turn)


async def test_somebody_who_writes_again_within_the_day_is_met_with_it(memory: Memory) -> None:
    """An hour later, in a new thread, the layer says what it was about and what was done; in its own thread nothing."""
    layer = await shown(memory, 1 + HOUR)
    assert "Ada asked for single sign-on." in layer.text
    assert "done: 2026-01-06 09:00 we replied" in layer.text
    assert "about: Ada, Okta" in layer.text
    (row,) = await memory.rows("SELECT thread_id FROM sessions")
    assert (await shown(memory, 1 + HOUR, row["thread_id"])).text == ""


async def test_a_session_is_over_after_a_day_and_lasts_on_with_each_mail(memory: Memory) -> None:
    """24 hours without a word end it; a mail after 23 hours keeps it for another 24, in the table and in the cache."""
    assert (await shown(memory, 2 + HOUR)).text == ""
    await memory.mail("One more thing.", on=2 - HOUR)
    assert "single sign-on" in (await shown(memory, 3 - 2 * HOUR)).text
    assert (await shown(memory, 3)).text == ""


async def test_losing_the_cache_loses_no_session(memory: Memory) -> None:
    """Without Redis's copy the row is read again."""
    before = await shown(memory, 1 + HOUR)
    await memory.app.cache.drop_about([str(memory.person())])
    assert await shown(memory, 1 + HOUR) == before


async def test_a_crash_behind_the_commit_leaves_no_old_session(memory: Memory) -> None:
    """What the cache holds is of one version: a process that dies as soon as it has committed leaves nothing stale."""
    assert "single sign-on" in (await shown(memory, 1 + HOUR)).text
    mail = await memory.mail("And the invoice?", on=1 + HOUR)
    session = SessionNoted(
        participant_id=memory.person(),
        thread_id=mail["thread_id"],
        summary="Ada asked for an invoice.",
        expires_at=day(3),
    )
    async with memory.app.database.transaction(memory.workspace) as conn:
        unit = Unit(conn, memory.event(session, day(1)), "learn_facts", "", learn_facts.PROCESSOR.appliers)
        await unit.record(session)
        await unit.flush()
    assert "Ada asked for an invoice." in (await shown(memory, 1 + 2 * HOUR)).text


async def test_a_text_that_is_kept_late_is_not_read(memory: Memory) -> None:
    """A reader that was slow to put what it had read does not bring it back over what has come since."""
    cache = memory.app.cache
    await shown(memory, 1 + HOUR)
    old = {name.rpartition("correspondent:")[2]: text async for name, text in cache.everything() if "session:" in name}
    await memory.tell("We want a refund.", on=1 + HOUR)
    for name, text in old.items():
        await cache.put(name, text, seconds=60)
    assert "single sign-on" not in (await shown(memory, 1 + 2 * HOUR)).text
