"""What turns do to a person's mood and troubles: each mail counts once, a resolved thread leaves no trouble open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from services.operations.threads import requests
from tests.support.tending import Tended, tending

ANGRY = "This is unacceptable, I am furious. The csv export stops with a timeout."


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """Mails of one burst are one turn."""
    async with tending(stack, database, topic_prefix, tmp_path, threads={"quiet_s": 60}) as one:
        yield one


async def person(app: Tended) -> dict[str, Any]:
    (row,) = await app.rows("SELECT risk, frustrated_in_row, sentiment FROM participants")
    return row


async def test_three_frustrated_mails_of_one_burst_are_high_risk(app: Tended) -> None:
    """One turn answers them, and each of them counts; what was imported moves nothing and begins no session."""
    await app.write("I am furious, this was unacceptable.", subject="Long ago", mode="history")
    assert await app.rows("SELECT 1 FROM participants WHERE risk <> 'low' OR frustrated_in_row > 0") == []
    assert await app.rows("SELECT 1 FROM sessions") == []
    await app.write(ANGRY)
    for _ in range(2):
        await app.write(ANGRY, subject="Re: Export", after="<m2@acme.example>")
    await app.wait(minutes=2)
    who = await person(app)
    assert (who["risk"], who["frustrated_in_row"]) == ("high", 3)
    (session,) = await app.rows("SELECT summary FROM sessions")
    assert session["summary"]


async def test_a_thread_that_a_person_resolves_leaves_no_trouble_open(app: Tended) -> None:
    """The trouble was reported in it: resolved by hand it is over, and its goals are reached."""
    thread_id = await app.write(ANGRY)
    await app.wait(minutes=2)
    (issue,) = await app.rows("SELECT resolved FROM participant_issues")
    assert not issue["resolved"]
    async with app.at_work():
        await requests.mark(app.app, thread_id, timeout_s=60, by="grace", add_goals=("Send the patch",))
        with pytest.raises(requests.GoalUnknown):
            await requests.mark(app.app, thread_id, timeout_s=60, by="grace", close_goals=("Win",))
        (goal,) = [one for one in (await app.thread(thread_id)).goals if one.text == "Send the patch"]
        assert goal.closed_at is None
        state = (await app.thread(thread_id)).thread.state
        if state == "escalated":
            await requests.move(app.app, thread_id, "in_progress", "", "grace", timeout_s=60)
        made = await requests.move(app.app, thread_id, "resolved", "patched", "grace", timeout_s=60)
    assert not made.refused
    await app.settle()
    assert [row["resolved"] for row in await app.rows("SELECT resolved FROM participant_issues")] == [True]
    assert all(one.closed_at for one in (await app.thread(thread_id)).goals)
