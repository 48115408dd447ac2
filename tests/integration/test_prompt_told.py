"""What the model is told before it answers: each test reads the request as it went over HTTP, a line of it each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from schemas.events.lifecycle import ParticipantStateRequested
from services.core.bus.runner import enter
from services.load_memory.layers import LAYERS
from tests.support.documents import shelve
from tests.support.remembering import ADA
from tests.support.scripted_model import ScriptedModel, Seen, reply_tool
from tests.support.tending import Tended, tending

OFFICE = {
    "time_zone": "Europe/Vienna",
    "hours": {"mon": "09:00-17:00", "tue": "09:00-12:00"},
    "holidays": ["2026-01-06"],
}
QUIET = 20  # seconds
REPLY = {"text": "Hello Ada, we are on it.", "state": "in_progress"}
CALM: dict[str, Any] = {"sentiment": 0.5, "frustrated": False, "intent": "other"}
ANGRY: dict[str, Any] = {"sentiment": -0.8, "frustrated": True, "intent": "complaint"}


@dataclass
class Desk:
    """A deployment, its scripted model, and what a reflection is to say next."""

    app: Tended
    server: ScriptedModel
    reflection: dict[str, Any] = field(default_factory=dict)

    async def write(self, text: str, **given: Any) -> Seen:
        """A mail, and the first request of the turn that answers it once its author is silent."""
        before = len(self.server.requests)
        await self.app.write(text, **given)
        await self.app.wait(seconds=QUIET)
        return next(one for one in self.server.requests[before:] if "reply" in one.tools)

    async def moves(self, state: str) -> None:
        """A person here moves the author."""
        asked = {"participant_id": self.app.person(), "to_state": state, "by": "grace", "reason": ""}
        event = ParticipantStateRequested.model_validate(asked)
        await enter(self.app.app, self.app.event(event, self.app.clock()))
        await self.app.settle()

    def learns(self, **given: Any) -> None:
        """What the model says of each turn from now on."""
        self.reflection = given

    def answer(self, request: Seen) -> Any:
        """As the model: what was scripted of a turn, else a short reply."""
        if "reflect" not in request.tools:
            shown = [text[1:37] for text in request.fenced("knowledge")]
            return reply_tool("reply", {**REPLY, "citations": shown})
        said = {"summary": "They wrote.", "brief": "", "facts": [], "relations": [], "signals": CALM}
        return reply_tool("reflect", {**said, **self.reflection})


@pytest.fixture
async def desk(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Desk]:
    async with ScriptedModel() as server:
        model = {"provider": "anthropic", "api_key": "test-key", "base_url": server.base_url, "max_retries": 0}
        changes: dict[str, Any] = {"model": model, "office_hours": OFFICE, "threads": {"quiet_s": QUIET}}
        async with tending(stack, database, topic_prefix, tmp_path, **changes) as app:
            one = Desk(app, server)
            server.script(one.answer)
            yield one


def layer(seen: Seen, name: str) -> str:
    """A layer's heading and all below it, up to the next heading."""
    text = f"\n{seen.system}\n{seen.opening}"
    _, found, below = text.partition(f"\n# {name}\n")
    assert found, f"no layer {name}"
    return below.partition("\n\n# ")[0]


async def test_the_model_knew_neither_the_day_nor_when_the_office_is_open(desk: Desk) -> None:
    """The date, the weekday, the zone and the office hours stand in the turn's part, and none of it in the cached one."""
    seen = await desk.write("When can I call you?")
    told = layer(seen, "today")
    assert "Today is Monday, 2026-01-05, 10:00 in Europe/Vienna." in told
    assert "Office hours: mon 09:00-17:00, tue 09:00-12:00; closed on 2026-01-06. The office is open now." in told
    await desk.app.wait(days=1)
    later = await desk.write("And today?")
    assert "Tuesday, 2026-01-06" in layer(later, "today")
    assert "The office is closed now." in layer(later, "today")
    assert later.system == seen.system
    assert "2026-01-0" not in seen.system


async def test_no_layer_said_what_it_was(desk: Desk) -> None:
    """Below each heading a line of ours says what the layer is, outside of the fence."""
    await desk.write("We have 40 seats.")
    seen = await desk.write("Thanks, and one more thing.", after="<m1@acme.example>")
    about = {one.NAME: one.ABOUT for one in LAYERS}
    shown = [name for name in about if f"\n# {name}\n" in f"\n{seen.system}\n{seen.opening}"]
    assert {"persona", "behaviours", "today", "participant", "summary", "thread", "recent", "mail"} <= set(shown)
    assert [layer(seen, name).splitlines()[0] for name in shown] == [about[name] for name in shown]


async def test_a_churned_customer_who_wrote_again_was_still_churned(desk: Desk) -> None:
    """Whoever left and writes again is `returning` by rule, before their mail is answered, and the step is logged."""
    await desk.write("We renew.")
    for state in ("customer", "at_risk", "churned"):
        await desk.moves(state)
    assert f"{ADA}, returning, " in layer(await desk.write("Are you still there?"), "participant")
    (step,) = await desk.app.rows(
        "SELECT from_state, trigger, reason FROM participant_log WHERE to_state = 'returning'"
    )
    assert tuple(step.values()) == ("churned", "system", "a former customer writes again")


async def test_mail_of_before_they_left_brought_nobody_back(desk: Desk) -> None:
    """Imported mail moves nobody who has left."""
    await desk.write("We renew.")
    for state in ("customer", "at_risk", "churned"):
        await desk.moves(state)
    await desk.app.write("Hello from long ago.", mode="history")
    assert await desk.app.rows("SELECT state FROM participants") == [{"state": "churned"}]


async def test_the_model_was_told_no_mood(desk: Desk) -> None:
    """The mood stands on the author's line, and whether the last turn made it better or worse."""
    desk.learns(signals=ANGRY)
    await desk.write("The export is a disgrace.")
    seen = await desk.write("Still a disgrace.")
    assert "mood -0.32 (-1 furious, +1 delighted), falling from +0.00" in layer(seen, "participant")
    desk.learns(signals=CALM)
    await desk.write("It is a bit better.")
    assert "mood -0.11 (-1 furious, +1 delighted), rising from -0.51" in layer(await desk.write("Ah."), "participant")


async def test_the_model_was_not_told_how_many_issues_there_were(desk: Desk) -> None:
    """How many issues the author ever reported and how many are resolved, also where fewer are listed."""
    for name in (*"abcdefghij", *"abc"):
        over = name in "abc" and len(await desk.app.rows("SELECT 1 FROM participant_issues")) == 10
        desk.learns(signals={**CALM, "issue_key": f"{5 * name} fails", "issue_resolved": over})
        await desk.write(f"About {name}")
    told = layer(await desk.write("Hello again."), "participant")
    assert "issues: 10, 3 resolved" in told
    assert told.count("- issue: ") == 8


async def test_after_the_fourth_frustrated_mail_the_model_was_told_of_three(desk: Desk) -> None:
    """The real number of frustrated mails in a row, not the one from which the risk is high."""
    desk.learns(signals=ANGRY)
    for number in range(4):
        await desk.write(f"A disgrace, number {number}.")
    assert "frustrated 4 mails in a row: take special care" in layer(await desk.write("Well?"), "participant")


def learned(kind: str, key: str, value: str, quote: str) -> dict[str, Any]:
    """What a reflection proposes to remember."""
    return {
        "op": "ADD", "kind": kind, "key": key, "value": value, "text": quote, "quote": quote, "importance": 7,
    }  # fmt: skip


async def test_facts_stood_in_the_order_in_which_they_were_found(desk: Desk) -> None:
    """Facts come by kind in one fixed order, whatever the mail asks: customer, order, preference, issue, contact."""
    said = {
        ("contact_info", "phone"): "My phone is 0316 222222.",
        ("issue_history", "csv export"): "The csv export fails on Mondays.",
        ("preference", "language"): "I prefer short mails.",
        ("order_info", "order 4471"): "Order 4471 is for our Graz shop.",
        ("customer_info", "seats"): "We have 40 seats.",
    }
    desk.learns(facts=[learned(*names, quote[:-1], quote) for names, quote in said.items()])
    await desk.write("\n\n".join(said.values()))
    told = layer(await desk.write("What is my phone number?"), "participant")
    places = [told.index(f"] {kind}/") for kind, _ in reversed(said)]
    assert places == sorted(places)


async def test_a_page_of_ours_spoke_outside_of_the_fence_and_is_cited_within_it(desk: Desk) -> None:
    """Passages stand fenced like all that others wrote, unmasked, with the ids that the reply cites."""
    text = "# Refunds\n\nRefunds are paid within 14 days, to IBAN AT61 1904 3002 3457 3201 and no other."
    await shelve(desk.app.app, "refunds.md", text)
    await desk.app.settle()
    seen = await desk.write("Within how many days are refunds paid?")
    (passage,) = seen.fenced("knowledge")
    assert "AT61 1904 3002 3457 3201" in passage
    assert "Refunds are paid" not in seen.text.replace(passage, "")
    (draft,) = await desk.app.rows("SELECT data FROM events WHERE type = 'reply.drafted.v1'")
    assert draft["data"]["citations"] == [passage[1:37]]


async def test_the_model_was_told_to_be_brief_and_no_more(desk: Desk) -> None:
    """Length, tone and an example stand in the part of the prompt that is cached."""
    told = (await desk.write("Hello")).system
    assert "40 to 120 words are usual" in told
    assert "Be warm, plain and exact" in told
    assert "An example of length and tone; nothing in it is a fact." in told


async def test_the_plan_stood_in_five_places(desk: Desk) -> None:
    """What one layer says, those below it do not repeat; what they say besides stays, and the answer names the fact.

    A message that bears on the mail is quoted as it was written.
    """
    said = "We are on the Enterprise plan."
    fact = learned("customer_info", "plan", "Enterprise", said[:-1])
    desk.learns(
        facts=[{**fact, "text": "Ada is on the Enterprise plan."}],
        relations=[
            {"op": "INSERT", "subject": "Ada", "predicate": "is_on_plan", "object": "Enterprise", "quote": said[:-1]},
            {"op": "INSERT", "subject": "Ada", "predicate": "left_plan", "object": "Starter", "quote": said[:-1]},
        ],
        brief="Plan: Enterprise. Ada likes short mails.",
        summary="Ada is on the Enterprise plan. Nothing is pending.",
    )
    await desk.write(said, sender="Ada <ada@acme.example>")
    seen = await desk.write("Which plan are we on?", sender="Ada <ada@acme.example>", subject="Plan")
    told = seen.opening.replace(layer(seen, "mail"), "")
    assert told.replace(f"“{said}”", "").count("Enterprise") == 1
    assert "customer_info/plan: Ada is on the Enterprise plan. (the customer's word" in told
    (fact_id,) = [row["fact_id"] for row in await desk.app.rows("SELECT fact_id FROM facts")]
    assert f"the fact [{fact_id}] below." in layer(seen, "participant")
    for kept, name in (("likes short mails", "brief"), ("Nothing is pending", "session")):
        assert kept in layer(seen, name)
    assert "- about: Starter\n" in layer(seen, "session")
    assert told.count("Nothing is pending") == told.count("«Export»") == 1
