"""What the agent is told of the past: what came to pass, by period, and what recurred; both read from rows alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.local import Endpoints
from schemas.events.replies import ContextLayer
from schemas.model_output import SearchMemoryInput
from services.generate_reply.desk import Desk
from services.generate_reply.tools import search
from services.load_memory.layers import grains, patterns
from tests.support.layers import load_layer, turn_of
from tests.support.remembering import ADA, Memory, day, fact, memory_loaded, remembering
from tests.support.tending import Tended, tending

BOB = "bob@acme.example"


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        yield one


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    async with tending(stack, database, topic_prefix, tmp_path) as one:
        yield one


async def plans(memory: Memory, addr: str = ADA) -> None:
    """Three plans in a year, one of which was a mistake that a person corrected."""
    for value, on in (("Starter", 1), ("Team", 100), ("Growth", 380)):
        await memory.tell(
            f"Hello,\n\nwe are on the {value} plan now.\n",
            fact("plan", value, f"on the {value} plan"),
            on=on,
            sender=addr,
        )


async def said(memory: Memory, on: float, addr: str = ADA) -> ContextLayer:
    return await load_layer(grains, turn_of(memory, on, addr))


async def test_what_no_longer_holds_is_told_by_its_period(memory: Memory) -> None:
    """The older, the coarser; what holds now stands in another layer, and what was never so in none."""
    await plans(memory)
    layer = await said(memory, 390)
    assert [one["period"] for one in layer.items] == ["2026-Q1", "2026-04"]
    assert layer.text.splitlines() == [
        "- 2026-Q1: Their plan is Starter. (until 2026-04-15)",
        "- 2026-04: Their plan is Team. (until 2027-01-20)",
    ]
    (team,) = await memory.rows("SELECT fact_id FROM facts WHERE value = 'Team'")
    assert layer.items[1]["entries"] == [{"what": "fact", "id": str(team["fact_id"]), "text": "Their plan is Team."}]
    await memory.ask("correct", 391, key="plan", value="Scale", reason="a misunderstanding")
    assert "Growth" not in (await said(memory, 392)).text
    await memory.ask("forget", 392, fact_id=team["fact_id"])
    assert "Team" not in (await said(memory, 393)).text, "a past value that a person took back"
    assert [one["period"] for one in (await said(memory, 1500)).items] == ["2026"]


async def test_nobody_is_told_anothers_past(memory: Memory) -> None:
    """Not to another person, and not to a sender whom nobody vouches for."""
    await plans(memory)
    await memory.mail("Hello.", on=381, sender=BOB)
    for layer in (grains, patterns):
        assert not (await load_layer(layer, turn_of(memory, 390, BOB))).items
        assert not (await load_layer(layer, replace(turn_of(memory, 390), participant_id=None))).items


async def looked_up(memory: Memory, on: float, **given: object) -> list[str]:
    """The lines that the model's look-up gives, without the ids."""
    event = memory_loaded(memory.person())
    desk = Desk(event=event, app=memory.app, workspace=memory.workspace, now=day(on), mails=())
    found = await search.memory(SearchMemoryInput.model_validate(given), desk)
    return [line.partition("] ")[2] or line for line in found.splitlines()]


async def test_the_model_looks_back_without_a_query_and_by_period(memory: Memory) -> None:
    """What it asks no words for comes newest first; a grain puts what is found under its periods; days bound it."""
    await plans(memory)
    note = fact("dog", "Rex", "a dog called Rex", kind="note", text="They have a dog called Rex.")
    await memory.tell("We have a dog called Rex.", note, on=50)
    growth, team, starter = (
        f"{day} customer_info: Their plan is {plan}. (the customer's word)"
        for day, plan in (("2027-01-20", "Growth"), ("2026-04-15", "Team"), ("2026-01-06", "Starter"))
    )
    rex = "2026-02-24 note: They have a dog called Rex. (the customer's word)"
    assert await looked_up(memory, 390) == [growth, rex]
    assert await looked_up(memory, 390, max_results=1) == [growth]
    assert await looked_up(memory, 390, event_type="note") == [rex]
    assert await looked_up(memory, 390, maximum_days_ago=400) == [growth, team, rex, starter]
    assert await looked_up(memory, 390, grain="quarterly", maximum_days_ago=400) == [
        *("2027-Q1:", growth),
        *("2026-Q2:", team),
        *("2026-Q1:", rex, starter),
    ]
    assert await looked_up(memory, 390, grain="yearly", query_text="What is the name of the dog?") == [
        "memory: sure: They have a dog called Rex.",
        *("2027:", growth),
        *("2026:", rex),
    ]
    assert await looked_up(memory, 390, minimum_days_ago=395, maximum_days_ago=400) == ["nothing found"]


async def test_what_recurred_is_told_with_how_often_and_when_last(app: Tended) -> None:
    """A matter that stayed settled, one that came up again, and why people had to take over, of this person alone."""
    first = await app.write("Just so that you know: we are on the Team plan.")
    await app.wait(days=8)
    await app.wait(days=15)
    assert (await app.thread(first)).thread.state == "closed"
    again = await app.write("It does not work after all.", after="<m1@acme.example>")
    assert again == first
    await app.write("I want to talk to a human being.", subject="A person")
    await app.write("I want to talk to a human being.", subject="A person", sender=BOB)
    layer = await load_layer(patterns, turn_of(app, 31))
    assert layer.text.splitlines() == [
        "- a person had to take over, once, last 2026-01-28: The customer asks for a person.",
        "- a settled matter came up again, once, last 2026-01-28",
        "- a matter stayed settled, once, last 2026-01-26",
    ]
    past = await load_layer(grains, turn_of(app, 31))
    assert "«Export», " in past.text
    assert "«A person», escalated" in past.text
