"""A person who goes on with a thread from another of their addresses is the one who began it; a stranger is not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from deploy.local import Endpoints
from schemas.events.merging import ParticipantMergeRequested
from services.core.bus.runner import enter
from services.operations.threads import requests
from tests.support.tending import Tended, tending

WORK, HOME = "ada@acme.example", "ada@home.example"


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """Ada has asked from work, we have answered, and a person has promised her a patch; she also wrote from home."""
    async with tending(stack, database, topic_prefix, tmp_path) as one:
        await one.write("We are on the Team plan. The export of report 4471 fails.")
        await one.write("Hello, a first mail from home.", subject="Other", sender=HOME)
        async with one.at_work():
            await requests.mark(one.app, await begun(one), timeout_s=60, by="grace", add_goals=("Send Ada the patch",))
        await one.settle()
        yield one


async def begun(app: Tended) -> UUID:
    """The thread that was begun from work."""
    (row,) = await app.rows("SELECT thread_id FROM threads WHERE subject = 'Export'")
    thread_id: UUID = row["thread_id"]
    return thread_id


async def asked_again(app: Tended, inbox: int = 0) -> tuple[UUID, dict[str, str]]:
    """A reply from home to the mail from work: its thread, and the context that it is answered from."""
    args: dict[str, Any] = {"subject": "Re: Export", "sender": HOME, "after": "<m1@acme.example>", "inbox": inbox}
    thread_id = await app.write("Any news about the export?", **args)
    rows = await app.rows("SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq DESC LIMIT 1")
    return thread_id, {one["name"]: one["text"] for one in rows[0]["data"]["layers"]}


async def test_a_merged_person_goes_on_with_their_thread_from_the_other_address(app: Tended) -> None:
    """Summary, goals, our replies and their own mail are there, and nobody is taken for another person."""
    ids = {"participant_id": app.person(HOME), "into": app.person(WORK)}
    command = ParticipantMergeRequested.model_validate({**ids, "op": "merge", "by": "grace"})
    await enter(app.app, app.event(command, app.clock()))
    await app.settle()
    thread_id, found = await asked_again(app)
    assert thread_id == await begun(app)
    assert "4471" in found["summary"]
    assert "open goal: Send Ada the patch" in found["thread"]
    assert "customer:\nWe are on the Team plan." in found["recent"]
    assert "agent:\nHello," in found["recent"]
    assert "another person" not in found["recent"]


async def test_a_stranger_does_not_go_on_with_it(app: Tended) -> None:
    """Whom nobody has said to be the same person opens a thread of their own, and is shown nothing of it."""
    thread_id, found = await asked_again(app)
    assert thread_id != await begun(app)
    assert "4471" not in "".join(found.values())
    assert "patch" not in "".join(found.values())
