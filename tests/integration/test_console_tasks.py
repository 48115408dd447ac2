"""What somebody new has to get done, in a real browser: from the inbox on, by what the screen says, in so many clicks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deploy.local import Endpoints
from schemas.events.documents import DocumentSubmitted
from services.core.app import App, open_app
from services.core.bus.codec import encode
from services.core.bus.dead_letters import make_dead_letter
from services.core.bus.delivery import Delivery
from services.core.bus.envelope import first
from services.core.clock import random_id
from services.core.errors import Permanent
from services.operations.preparation import prepare
from tests.support.app import settings_for
from tests.support.chromium import WHERE_INSTALLED, Window, chromium, link_for, served_here
from tests.support.remembering import ADA, day, fact
from tests.support.tending import Tended, tending

pytestmark = WHERE_INSTALLED
TEN = [f"person{number}@granite.example" for number in range(10)]
SHOWN = """
const wanted = arguments[0];
const said = (one) => one.innerText.replace(/\\s+/g, " ").trim();
return [...document.querySelectorAll("a, button, summary")].filter((one) => one.checkVisibility())
  .find((one) => said(one).startsWith(wanted)) || null;
"""


@dataclass
class Somebody:
    """Who looks at a screen, and clicks on what it says."""

    window: Window
    clicked: list[str] = field(default_factory=list)

    def click(self, words: str) -> None:
        """On the first link, button or fold that begins with these words."""
        found = self.window.until(lambda driver: driver.execute_script(SHOWN, words))
        self.window.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", found)
        self.clicked.append(words)
        found.click()

    def sees(self, words: str) -> None:
        """Wait until the page says so."""
        self.window.until(lambda _: words in self.window.text("#main"))


@pytest.fixture
def somebody() -> Iterator[Somebody]:
    """Somebody before a browser."""
    with chromium() as driver:
        yield Somebody(Window(driver))


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment in which Ada's plan is remembered wrong, Bo is angry, and every reply waits for a person."""
    async with tending(stack, database, topic_prefix, tmp_path, send={"approval": "review"}) as one:
        mail = await one.mail("We are on the Team plan.", on=0)
        await one.learn(mail, fact("plan", "Team", "We are on the Team plan."))
        one.clock.forward(day(1))
        await one.write("Which plan are we on?", subject="Our plan")
        await one.write(
            "This is the third time that I write, and nobody helps!", subject="Third time", sender="bo@flint.example"
        )
        async with one.at_work():
            yield one


async def done(somebody: Somebody, app: App, task: Callable[[], None]) -> list[str]:
    """What was clicked on from the inbox until the task was done."""
    async with served_here(app) as place:
        await asyncio.to_thread(somebody.window.sign_in, await link_for(app, place))
        await asyncio.to_thread(task)
        assert await asyncio.to_thread(somebody.window.said) == []
    return somebody.clicked


async def test_why_the_agent_answered_so_is_found(app: Tended, somebody: Somebody) -> None:
    """Thread, then why: the fact that the reply rests on stands there, with what the model was given."""

    def find() -> None:
        somebody.click("Our plan")
        somebody.click("Why the newest answer")
        somebody.sees("Why the agent answered so")
        somebody.sees("We are on the Team plan.")

    assert len(await done(somebody, app.app, find)) == 2


async def test_a_wrong_plan_is_corrected(app: Tended, somebody: Somebody) -> None:
    """By the person's name beside the thread: the right value holds, and the wrong one was never told again."""

    def correct() -> None:
        somebody.click("Our plan")
        somebody.click(ADA)
        somebody.sees("We are on the Team plan")
        somebody.click("Correct")
        value = somebody.window.find("details[open] input[name=value]")
        value.clear()
        value.send_keys("Enterprise")
        somebody.window.find("details[open] form button").click()
        somebody.clicked.append("Correct")
        somebody.sees("The fact was corrected.")

    assert len(await done(somebody, app.app, correct)) == 4
    assert await app.current() == ["Enterprise"]


async def test_an_angry_customer_is_answered(app: Tended, somebody: Somebody) -> None:
    """In place of the agent, whose draft waits: what it wrote is given up, and the customer gets one answer."""

    def answer() -> None:
        somebody.click("Third time")
        somebody.click("Write to bo@flint.example")
        somebody.window.until(lambda _: somebody.window.find("#reply-text").is_displayed())
        somebody.window.find("#reply-text").send_keys("I am sorry, Bo. I am on it myself now.")
        somebody.click("Send")
        somebody.sees("Your reply is on its way.")

    assert len(await done(somebody, app.app, answer)) == 3
    (event,) = await app.rows("SELECT data FROM events WHERE type = 'thread.reply_accepted.v1'")
    assert event["data"]["by"] == "Grace"


async def test_ten_drafts_are_approved(app: Tended, somebody: Somebody) -> None:
    """One click a draft: the next one comes by itself, until none is left."""
    for sender in TEN:
        await app.write("How do I reset my password?", subject="Password", sender=sender)
    (row,) = await app.rows("SELECT count(*) AS waiting FROM deliveries WHERE state = 'draft'")

    def approve() -> None:
        somebody.click("Drafts")
        somebody.click("Begin with the oldest")
        for _ in range(row["waiting"]):
            before = somebody.window.driver.current_url
            somebody.click("Approve, then the next one")
            somebody.window.until(lambda driver, seen=before: driver.current_url != seen)

    clicked = await done(somebody, app.app, approve)
    assert row["waiting"] >= len(TEN)
    assert len(clicked) == row["waiting"] + 2
    assert await app.rows("SELECT FROM deliveries WHERE state = 'draft'") == []


@pytest.fixture
async def stuck(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    """A deployment one of whose processors could not handle an event."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    await prepare(settings)
    async with open_app(settings) as one:
        blob = await one.blobs.put(b"# Plans\\n\\nThe Team plan costs 12 dollars.")
        named = {"document_id": random_id(), "title": "Plans", "origin": "plans.md", "by": "ann"}
        data = DocumentSubmitted(**named, media_type="text/markdown", blob=blob)
        record = encode(first(data, id=random_id(), source="console", time=one.now(), workspace=settings.workspace))
        came = Delivery(f"{topic_prefix}document-events", 0, 7, record.key, record.value, record.headers, 0)
        error, at = Permanent("the embedder is away"), datetime(2026, 1, 5, tzinfo=UTC)
        await one.publisher.publish(
            [make_dead_letter(came, group=f"{topic_prefix}learn_documents", error=error, attempts=3, at=at)]
        )
        yield one


async def test_why_nothing_is_done_is_found(stuck: App, somebody: Somebody) -> None:
    """The pipeline says which processor stands with which event and why, and handles it again."""

    def look() -> None:
        somebody.click("Pipeline")
        somebody.sees("learn_documents could not handle document.submitted.v1")
        somebody.sees("the embedder is away")
        somebody.click("Redrive")
        somebody.sees("was handled")

    assert await done(somebody, stuck, look) == ["Pipeline", "Redrive"]
