"""Where every reply waits for a person: what somebody wrote an hour ago is known in their next thread all the same."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deploy.local import Endpoints
from tests.support.tending import Tended, tending

BOB = "bob@other.example"


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    said = {
        "send": {"approval": "review"},
        "inboxes": [
            {"name": "support", "address": "support@ourcompany.example", "vouched_by": "the test"},
            {"name": "open", "address": "open@ourcompany.example", "unproven": "review"},
        ],
    }
    async with tending(stack, database, topic_prefix, tmp_path, **said) as one:
        yield one


async def session(app: Tended, name: str = "session") -> str:
    """What the newest turn was shown of the last hours, or another layer."""
    rows = await app.rows("SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq DESC LIMIT 1")
    return {one["name"]: str(one["text"]) for one in rows[0]["data"]["layers"]}[name]


async def test_while_a_draft_waited_the_next_thread_knew_nothing_of_the_first(app: Tended) -> None:
    """The mail of an hour ago stands in the session, and that its reply waits; nobody else's, none in their name, no old one."""
    await app.write("The export of report 4471 fails with a timeout.")
    await app.write("Bob's own trouble.", subject="Bob", sender=BOB)
    await app.write("Forged trouble.", subject="Forged", inbox=1)
    await app.wait(hours=1)
    await app.write("It is me again: any idea by when?", subject="One more thing")
    shown = await session(app)
    assert "The export of report 4471 fails with a timeout." in shown + await session(app, "brief")
    assert "done: 2026-01-05 09:00 a reply is written and waits to be sent" in shown
    assert "we replied" not in shown
    assert "trouble" not in shown
    assert "One more thing" not in shown
    await app.write("And I, from nowhere?", subject="Not Ada", inbox=1)
    assert await session(app) == "", "nobody is met with it who only claims to be them"
    await app.wait(hours=24)
    await app.write("A day later.", subject="A third thing")
    assert "4471" not in await session(app)


async def test_what_a_summary_covers_is_not_told_twice(app: Tended) -> None:
    """A mail that was handed to a person is in its summary at once: in the session, or in the brief that says so already."""
    await app.write("human\n\nThe export of report 4471 fails.")
    await app.wait(hours=1)
    await app.write("Any idea by when?", subject="One more thing")
    assert "in another thread" not in await session(app)
    assert "4471" in await session(app) + await session(app, "brief")
