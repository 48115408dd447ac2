"""What tests of a file begin with is played once and copied: no test meets what another one did."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.cache import Cache
from tests.support.beginning import after
from tests.support.remembering import Memory, day, fact, remembering

TEAM = "We are on the Team plan."
_played: list[str] = []


async def begun(one: Memory) -> None:
    """A plan, told on the second day."""
    _played.append(one.workspace)
    await one.tell(TEAM, fact("plan", "Team", TEAM), on=1)
    one.clock.forward(day(2))


@pytest.mark.parametrize("time", range(3))
async def test_each_test_has_the_beginning_and_nothing_of_another(
    stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path, time: int
) -> None:
    """Its rows, files, clock and count of mails; what a test adds, in the cache too, is gone for the next one."""
    async with after(begun, remembering, stack, template_database, topic_prefix, tmp_path) as memory:
        assert len(_played) == 1
        assert await memory.current() == ["Team"]
        assert memory.clock() > day(2)
        (row,) = await memory.rows("SELECT count(*) AS mails, min(blob) AS blob FROM mails")
        assert row["mails"] == 1
        assert TEAM.encode() in await memory.app.blobs.get(row["blob"])
        cache = Cache(stack.redis)
        assert await cache.get("seen") is None
        await cache.put("seen", "yes", seconds=60)
        await cache.close()
        mail = await memory.mail("We are on the Growth plan.", on=3)
        assert mail["message_id"] == "m2@acme.example"
        await memory.learn(mail, fact("plan", f"Growth {time}", "on the Growth plan"))


async def test_other_settings_are_another_beginning(
    stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """What was played under some settings is no beginning for a deployment with others."""
    played = len(_played)
    async with after(
        begun, remembering, stack, template_database, topic_prefix, tmp_path, send={"approval": "review"}
    ) as memory:
        assert memory.workspace == topic_prefix.strip(".") == _played[-1]
    assert len(_played) == played + 1
