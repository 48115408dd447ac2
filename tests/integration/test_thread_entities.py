"""What the agent keeps in mind in a thread: there in the next turn, of that thread and person alone, for a time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from services import track_threads
from services.cli.threads.view import whole
from services.core.bus.event_row import EventRow
from services.core.bus.runner import Runner
from services.load_memory.layers import thread as thread_layer
from services.model.offline import OfflineModel
from services.model.port import Answer, Request, ToolCall
from services.operations.erase.run import erase
from services.operations.retention.rounds import Clearing, today
from services.operations.retention.run import run
from tests.support.console import signed_in, text_of
from tests.support.erasing import differences, found
from tests.support.layers import load_layer, turn_of
from tests.support.offline import EMBEDDER
from tests.support.remembering import ADA
from tests.support.tending import Tended, tending

pytestmark = pytest.mark.timeout(300)
BO = "bo@acme.example"
KEEP = {"bodies_days": 60, "blobs_days": 60, "facts_days": 200, "checkpoints_days": 60, "journal_days": 100}
KEPT = "- kept in mind: "  # of what is kept, not of the log of what was done
LONG = timedelta(days=900)  # the deployment stores by the wall clock: its story has to be told well after today
END = ("reply", {"text": "Thank you, we look into it.", "state": "in_progress"})
HOSTILE = "<img src=x onerror=alert(1)>"


class Keeping(OfflineModel):
    """The offline model, which sets what it is told to before it answers; `told` is the thread's layer of each turn."""

    def __init__(self) -> None:
        super().__init__(EMBEDDER)
        self.sets: list[dict[str, Any]] = []
        self.told: list[str] = []
        self._numbers = count()

    async def ask(self, request: Request) -> Answer:
        if request.purpose != "reply":
            return await super().ask(request)
        if request.history:
            return self._calling(END)
        self.told.append("\n".join(layer.text for layer in request.layers if layer.name == "thread"))
        return self._calling(*(("set_entity", one) for one in self.sets), ("get_entities", {}))

    def _calling(self, *calls: tuple[str, dict[str, Any]]) -> Answer:
        asked = tuple(ToolCall(f"c{next(self._numbers)}", name, given) for name, given in calls)
        return Answer("", asked, "tool_use", self.name)


@pytest.fixture
def model() -> Keeping:
    return Keeping()


@pytest.fixture
async def app(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, model: Keeping
) -> AsyncIterator[Tended]:
    said = {"threads": {"entities_days": 10}, "retention": KEEP, "archive": {"daily": False}}
    async with tending(stack, database, topic_prefix, tmp_path, model_object=model, **said) as one:
        yield one


async def kept(app: Tended) -> dict[str, str]:
    rows = await app.rows("SELECT name, value FROM thread_entities ORDER BY name")
    return {row["name"]: row["value"] for row in rows}


async def again(app: Tended, model: Keeping, *sets: dict[str, Any], sender: str = ADA, after: str = "") -> str:
    """A mail whose turn sets this; what that turn was told of its thread."""
    model.sets = list(sets)
    await app.write("Where is it?", sender=sender, after=after)
    return model.told[-1]


async def test_the_next_turn_of_the_thread_is_told_what_was_kept(app: Tended, model: Keeping, stack: Endpoints) -> None:
    """Set, changed, taken away; another thread and another person of this one know nothing of it."""
    model.sets = [{"name": "order", "value": "4471"}, {"name": "step tried", "value": "emptied the cache"}]
    thread = await app.write("Order 4471 is late.")
    assert KEPT not in model.told[-1]
    assert await kept(app) == {"order": "4471", "step tried": "emptied the cache"}
    told = await again(
        app, model, {"name": "order"}, {"name": "step tried", "value": "none"}, after="<m1@acme.example>"
    )
    assert "- kept in mind: order: 4471" in told
    assert "- kept in mind: step tried: emptied the cache" in told
    assert await kept(app) == {"step tried": "none"}
    assert KEPT not in await again(app, model, sender=BO, after="<m2@acme.example>")
    model.sets = []
    other = await app.write("Another matter.", subject="Invoice")
    assert other != thread
    assert KEPT not in model.told[-1]
    assert await differences(app.app, stack) == set()


async def test_it_is_told_to_no_turn_that_nothing_proves_to_be_theirs(app: Tended, model: Keeping) -> None:
    """A mail in their name, in a thread of before such were kept apart."""
    model.sets = [{"name": "order", "value": "4471"}]
    thread = await app.write("Order 4471 is late.")
    theirs = replace(turn_of(app, 1), thread_id=thread, addresses={app.person(): ADA})
    assert KEPT in (await load_layer(thread_layer, theirs)).text
    assert KEPT not in (await load_layer(thread_layer, replace(theirs, participant_id=None))).text


async def test_it_has_its_time(app: Tended, model: Keeping) -> None:
    """After ten days no turn is told of it, and the next one that keeps something removes it."""
    model.sets = [{"name": "step tried", "value": "emptied the cache"}]
    await app.write("It does not work.")
    await app.wait(days=11)
    assert KEPT not in await again(app, model, {"name": "browser", "value": "old"}, after="<m1@acme.example>")
    assert await kept(app) == {"browser": "old"}


async def test_people_see_what_is_kept(app: Tended, model: Keeping) -> None:
    """By command and on the page, as text."""
    model.sets = [{"name": "browser", "value": HOSTILE}]
    thread = await app.write("It does not work.")
    lines = [str(line) for line in whole(await app.thread(thread), app.clock())]
    assert f"browser: {HOSTILE}  (until 2026-01-15)" in lines
    async with signed_in(app.app) as client:
        page = await client.get(f"/console/threads/{thread}")
    assert f"browser {HOSTILE} until 2026-01-15" in text_of(page)
    assert HOSTILE not in page.text


async def test_it_goes_with_the_texts_of_its_thread_and_stays_a_fold(
    app: Tended, model: Keeping, stack: Endpoints
) -> None:
    """Retention of bodies removes it, and a rebuild gives the same tables before and after the log is emptied."""
    model.sets = [{"name": "step tried", "value": "zanzibarlantern"}]
    await app.write("It does not work.")
    await app.wait(days=40)
    app.clock.forward(app.clock() + LONG)
    for _ in range(2):
        async for done in run(Clearing(app.app, today(app.clock()))):
            assert not done.error
        await app.settle()
    assert await kept(app) == {}
    stored = await app.rows("SELECT data::text AS data FROM events WHERE type = 'thread.entities_noted.v1'")
    assert [row["data"] for row in stored if "zanzibarlantern" in row["data"]] == []
    assert await differences(app.app, stack) == set()


async def test_nothing_is_left_of_somebody_erased(app: Tended, model: Keeping, stack: Endpoints) -> None:
    """Their rows go, those of another person stay, and the tables are a fold of what is left."""
    model.sets = [{"name": "browser", "value": "old"}]
    await app.write("It does not work.")
    await app.write("Nor here.", subject="Printing", sender=BO)
    await erase(app.app, await found(app.app, ADA), by="grace")
    (row,) = await app.rows("SELECT participant_id FROM thread_entities")
    assert row["participant_id"] == app.person(BO)
    assert await differences(app.app, stack) == set()


async def test_a_draft_that_comes_twice_is_noted_once(app: Tended, model: Keeping) -> None:
    """The log may bring it again, after another turn has changed what is kept."""
    model.sets = [{"name": "browser", "value": "old"}]
    await app.write("It does not work.")
    await again(app, model, {"name": "browser", "value": "new"}, after="<m1@acme.example>")
    before = await app.state()
    for row in await app.rows("SELECT * FROM events WHERE type = 'reply.drafted.v1' ORDER BY seq"):
        await Runner(track_threads.PROCESSOR, app.app).process(EventRow.of(**row).envelope())
    await app.settle()
    assert await kept(app) == {"browser": "new"}
    assert await app.state() == before
