"""A person's connections: a merge is shown before it is made and can be undone; the graph is a picture and a table."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from deploy.local import Endpoints
from tests.support.beginning import after
from tests.support.console import form, signed_in, text_of
from tests.support.remembering import ADA, fact
from tests.support.tending import Tended, tending

HOME, BO = "ada@home.example", "bo@granite.example"
HOSTILE = "<img src=x onerror=alert(1)>"


async def three_plans(one: Tended) -> None:
    """What three addresses said of their plans."""
    await one.tell("We are on the Team plan.", fact("plan", "Team", "We are on the Team plan."), on=0)
    home = fact("plan", "Free", "I am on the Free plan.")
    await one.tell("I am on the Free plan.", home, on=1, sender=HOME)
    team = fact("plan", "team", "We are on the team plan.")
    await one.tell("We are on the team plan.", team, on=2, sender=f'"{HOSTILE}" <{BO}>')


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """Ada writes from work and from home, on another plan there; Bo is on Ada's plan, under a hostile name."""
    async with after(three_plans, tending, stack, template_database, topic_prefix, tmp_path) as one:
        yield one


def place(app: Tended, addr: str = ADA) -> str:
    return f"/console/people/{app.person(addr)}/connections"


async def test_a_merge_is_previewed_made_and_undone(app: Tended) -> None:
    """Looking changes nothing; both addresses then name each other; taken apart, neither does. Each is recorded with a name."""
    async with signed_in(app.app, role="agent") as grace:
        page = await grace.get(f"/console/people/{app.person()}")
        assert "Merge, and what they share with others" in text_of(page)
        page = await grace.get(place(app), params={"other": HOME})
        assert "Merge?" in text_of(page)
        assert "plan Team Free" in text_of(page)
        assert "No other address is known to be theirs." in text_of(page)
        async with app.at_work():
            merged = await form(page, "/merge").send(grace, reason="the same signature")
        assert "They are one person now" in merged.text
        assert HOME in text_of(merged)
        assert ADA in text_of(await grace.get(place(app, HOME)))
        async with app.at_work():
            apart = await form(await grace.get(place(app)), "/unmerge").send(grace)
        assert "Each is again what was learned under their own address." in apart.text
        assert "No other address is known to be theirs." in text_of(apart)
    kinds = "('participant.merged.v1', 'participant.unmerged.v1')"
    rows = await app.rows(f"SELECT type, data FROM events WHERE type IN {kinds} ORDER BY seq")
    assert [(row["type"], row["data"]["by"]) for row in rows] == [
        ("participant.merged.v1", "Grace"),
        ("participant.unmerged.v1", "Grace"),
    ]


async def test_the_graph_is_a_picture_and_a_table_and_no_name_in_it_runs(app: Tended) -> None:
    """Who shares a thing is drawn, listed and led to; the one with another value is not."""
    async with signed_in(app.app, role="viewer") as vic:
        page = await vic.get(place(app))
    assert '<svg class="graph"' in page.text
    assert HOSTILE not in page.text
    assert f"/console/people/{app.person(BO)}" in page.text
    assert f"/console/people/{app.person(HOME)}" not in page.text
    assert "plan Team" in text_of(page)
    assert "/merge" not in page.text, "a viewer merges nobody"


@pytest.mark.parametrize(
    ("other", "status", "said"),
    [
        ("nobody@nowhere.example", 404, "nobody@nowhere.example"),
        (ADA, 409, "the same address"),
        ("\u202e" + HOSTILE, 404, ""),
    ],
)
async def test_nobody_is_merged_with_nobody_or_themselves(app: Tended, other: str, status: int, said: str) -> None:
    """In words, on a page; what was typed runs nothing."""
    async with signed_in(app.app, role="agent") as grace:
        page = await grace.get(place(app), params={"other": other})
        assert page.status_code == status
        assert said in page.text
        assert HOSTILE not in page.text
        sent: httpx.Response = await form(await grace.get(place(app), params={"other": HOME}), "/merge").send(
            grace, into=other
        )
        assert sent.status_code in (status, 422)
    assert await app.rows("SELECT 1 FROM events WHERE type = 'participant.merge_requested.v1'") == []
