"""A command waits until a deployment is at rest, and takes little from those who work in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest

from deploy.local import Endpoints
from services.core.app import App
from services.operations import idle
from services.operations.idle import StillBusy, left_to_do, until_idle
from services.receive_email.accept import accept
from tests.support.app import settings_for
from tests.support.brokerless import opened_brokerless
from tests.support.letters import letter


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    """A deployment in which nobody is at work, with a mail that waits."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    async with opened_brokerless(settings) as one:
        await accept(one, one.settings.inboxes[0], letter("Hello"), source="file", source_key=str(uuid4()))
        yield one


async def test_who_is_behind_is_said(app: App) -> None:
    """Where nobody takes up what is left, the wait ends with the consumer's name."""
    with pytest.raises(StillBusy, match="1 of read_email"):
        await until_idle(app, timeout_s=0)


async def test_a_wait_looked_as_often_as_it_could_where_looking_was_dear(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a look that took long the pause is longer than the look: a wait leaves the database to those who work."""
    looks = count(1)

    async def slow_look(app: App, *, since: int = 0) -> dict[str, int]:
        next(looks)
        await asyncio.sleep(0.2)
        return await left_to_do(app, since=since)

    monkeypatch.setattr(idle, "left_to_do", slow_look)
    with pytest.raises(StillBusy):
        await until_idle(app, timeout_s=2)
    assert next(looks) <= 5
