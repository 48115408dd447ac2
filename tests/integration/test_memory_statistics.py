"""What a memory holds and was used for, counted: each fact once, each week by its own events, of nobody by name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from deploy.local import Endpoints
from services.cli.memory.statistics import show
from services.cli.terminal import console
from services.core.web import make_app
from services.operations.memory.statistics import KindOfFacts, monday_of, statistics
from services.web.routes import routes
from tests.support.remembering import ADA, Memory, day, fact, remembering
from tests.support.tending import Tended, tending

TOKEN = "a token for tests"


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        yield one


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    prices = {"provider": "offline", "prices": {"input": 3.0, "output": 15.0}}
    async with tending(stack, database, topic_prefix, tmp_path, web={"api_token": TOKEN}, model=prices) as one:
        yield one


def of_kind(found: tuple[KindOfFacts, ...], kind: str) -> KindOfFacts:
    (one,) = [each for each in found if each.kind == kind]
    return one


async def test_each_fact_stands_in_one_column(memory: Memory) -> None:
    """A value that gave way is replaced, one that a person took back withdrawn, and one of the past two weeks expired."""
    await memory.tell("We are on the Team plan.", fact("plan", "Team", "on the Team plan"), on=1)
    await memory.tell("We are on Enterprise now.", fact("plan", "Enterprise", "on Enterprise now"), on=9)
    await memory.tell("Our city is Graz.", fact("city", "Graz", "Our city is Graz"), on=10)
    await memory.tell("Our city is Graz.", fact("colour", "red", "words that nobody wrote"), on=11)
    memory.clock.forward(day(12))
    found = await statistics(memory.app, 3)
    plan = of_kind(found.kinds, "customer_info")
    assert (plan.stored, plan.standing, plan.replaced) == (3, 2, 1)
    assert plan.stored == sum(
        getattr(plan, name) for name in ("standing", "doubtful", "expired", "replaced", "merged", "withdrawn")
    )
    assert [sum(week.decisions.get("recorded", 0) for week in found.weeks), sum(found.refusals.values())] == [3, 1]
    assert not [reason for reason in found.refusals if "red" in reason]


async def test_what_was_shown_and_cost_counts_in_its_week(app: Tended) -> None:
    """Each turn is counted once, with the facts that its context held; dollars are those of the prices that are set."""
    await app.write("We are on the Team plan. What does the Enterprise plan cost?", sender=ADA)
    app.clock.forward(app.app.now() + timedelta(days=7))
    await app.write("Which plan are we on?", sender=ADA)
    found = await statistics(app.app, 2)
    assert [week.turns for week in found.weeks] == [1, 1]
    assert found.weeks[0].shown == 0 < found.weeks[1].shown
    assert found.weeks[1].monday == monday_of(app.app.now())
    assert {one.purpose for one in found.spent} == {"replies", "learning"}
    for one in found.spent:
        used = one.usage
        assert one.dollars == pytest.approx((3 * used.input + 15 * used.output) / 1e6, abs=1e-3)
    assert (await statistics(app.app, 1)).weeks[0] == found.weeks[1]


async def test_the_command_and_the_api_tell_the_same(app: Tended) -> None:
    """The command prints what the API answers; an empty memory is said, and so many weeks only."""
    with console.capture() as said:
        show(await statistics(app.app, 1))
    assert "Nothing is remembered yet" in said.get()
    await app.write("We are on the Team plan.", sender=ADA)
    transport = httpx.ASGITransport(make_app([routes(app.app)]))
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as api:
        told = (await api.get("/api/memory/statistics", params={"weeks": 1})).json()
        refused = [(await api.get("/api/memory/statistics", params={"weeks": n})).status_code for n in ("0", "54", "x")]
    assert set(refused) == {422}
    print(said.get())
    (kind,) = told["kinds"]
    with console.capture() as said:
        show(await statistics(app.app, 1))
    assert [word in said.get() for word in (kind["kind"], "replies", "learning", told["since"])] == [True] * 4
