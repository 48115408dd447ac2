"""A very long thread: constant cost per mail, a summary that is condensed and loses nothing, raw mails it lacks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from schemas.events.memory import TurnReflected
from services.core.bus.runner import enter
from tests.support.tending import Tended, tending


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    box: dict[str, Any] = {"name": "support", "address": "support@ourcompany.example", "vouched_by": "the test"}
    said = {"inboxes": [{**box, "memory": {"condense_at": [4]}}], "context": {"retention_days": 1}}
    async with tending(stack, database, topic_prefix, tmp_path, **said) as one:
        yield one


async def summary(app: Tended) -> dict[str, Any]:
    (row,) = await app.rows("SELECT text, words, covers_to FROM thread_summaries")
    return row


async def test_a_late_reflection_changes_nothing_and_numbers_live_on(app: Tended) -> None:
    """An update that covers less is ignored; one that forgot the order number has it named at the end."""
    await app.write("My order 99120 is late.")
    before = await summary(app)
    (event,) = await app.rows("SELECT data FROM events WHERE type = 'turn.reflected.v1'")
    data = TurnReflected.model_validate(event["data"])
    told = data.model_copy(update={"summary": "They asked about order 99120.", "covers_to": before["covers_to"]})
    await enter(app.app, app.event(told, app.clock()))
    await app.settle()
    forgot = told.model_copy(update={"summary": "All is well.", "covers_to": before["covers_to"] + 1})
    await enter(app.app, app.event(forgot, app.clock()))
    await app.settle()
    late = told.model_copy(update={"summary": "Late.", "covers_to": 1})
    await enter(app.app, app.event(late, app.clock()))
    await app.settle()
    assert (await summary(app))["text"] == "All is well. Also: 99120."


async def test_a_thread_that_has_grown_is_condensed(app: Tended) -> None:
    """At the size of the settings the summary takes half its room; the model is told so, and code holds it."""
    await app.write("First. " + "The export of report 4471 fails again. " * 40)
    await app.write("Second. " + "It still fails. " * 40, subject="Re: Export", after="<m1@acme.example>")
    rows = await app.rows("SELECT data FROM events WHERE type = 'turn.reflected.v1' ORDER BY seq")
    assert len(rows[-1]["data"]["summary"].split()) <= 100
    assert (await summary(app))["words"] <= 200


async def test_what_the_summary_lacks_is_shown_raw_however_old(app: Tended) -> None:
    """A mail that no summary covers stays in the prompt beyond the retention of prompts; a covered one leaves it."""
    thread_id = await app.write("The first question, long ago.")
    await app.rows("UPDATE thread_summaries SET covers_to = 0 RETURNING covers_to")
    await app.wait(days=5)
    await app.write("And the next.", subject="Re: Export", after="<m1@acme.example>")
    loaded = await app.rows("SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq DESC LIMIT 1")
    recent = next(one for one in loaded[0]["data"]["layers"] if one["name"] == "recent")
    assert "The first question, long ago." in recent["text"]
    await app.wait(days=5)
    await app.write("And a third.", subject="Re: Export", after="<m1@acme.example>")
    loaded = await app.rows("SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq DESC LIMIT 1")
    recent = next(one for one in loaded[0]["data"]["layers"] if one["name"] == "recent")
    assert "The first question, long ago." not in recent["text"]
    assert (await app.thread(thread_id)).summary
