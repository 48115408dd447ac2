"""Approval that is earned: a simulated quarter, what closes it, what it never lifts, and that rows follow from events."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from io import StringIO
from math import sqrt
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from deploy.local import Endpoints
from schemas.events.approvals import ApprovalRequested
from schemas.events.replies import DraftDecided
from services.cli.patterns import table_of
from services.cli.terminal import Terminal
from services.core.ids import approval_id
from services.core.web import make_app
from services.operations.drafts.listing import HeldDraft, waiting_drafts
from services.operations.patterns import Pattern, patterns
from services.operations.requests import ask
from services.web.routes import routes
from tests.support.console import signed_in, text_of
from tests.support.scripted_model import ScriptedModel, Seen, reply_tool
from tests.support.tending import Tended, tending

pytestmark = pytest.mark.timeout(300)
QUIET = 20  # seconds
TOKEN = "a token for tests"
TEXT = "Hello,\n\nopen the menu and choose Export.\n\nBest regards,\nSupport"
EARNS = {"earn": True, "bound": 0.7, "over": 20, "score": 0.6}


def reached(unchanged: int, of: int, bound: float) -> bool:
    """Whether the lower bound is at least `bound`: what was seen lies 1.96 standard errors of the bound above it."""
    return of > 0 and unchanged / of - bound >= 1.959964 * sqrt(bound * (1 - bound) / of)


def _without_time(line: str) -> str:
    """A line without the time of day that it names: simulated days begin when the machine gets to them."""
    return re.sub(r"\b\d\d:\d\d\b", "", line)


def shown(found: list[Pattern]) -> str:
    """What `correspondent patterns` prints."""
    terminal = Terminal(width=300, file=StringIO())
    terminal.print(table_of(found, earn=True))
    return terminal.file.getvalue()  # type: ignore[attr-defined,no-any-return]


@dataclass
class Desk:
    """A deployment whose drafts wait for a person, the person, and what the model says next."""

    app: Tended
    server: ScriptedModel
    said: dict[str, Any] = field(default_factory=dict)
    subject: str = ""
    settled: bool = False  # whether the next mails need no reply

    def answer(self, request: Seen) -> Any:
        """As the model."""
        if "reflect" in request.tools:
            return reply_tool("reflect", {"summary": "They asked how to export.", "brief": "A customer."})
        if self.settled:
            return reply_tool("no_reply_needed", {"reason": "They say thanks.", "settled": True})
        if self.said.get("tool") == "escalate":
            return reply_tool("escalate", {name: self.said[name] for name in ("reason", "message_to_customer")})
        return reply_tool("reply", {"text": TEXT, "state": "resolved", "intent": "how_to", **self.said})

    async def write(self, who: int, text: str = "How do I export?", *, after: str = "") -> UUID:
        """A customer's mail, and the turn that answers it; `after` is the reply that it answers."""
        self.subject = f"Re: {self.subject.removeprefix('Re: ')}" if after else f"Export {next(self.app.numbers)}"
        sender = f"ann@customer{who}.example"
        thread = await self.app.write(text, sender=sender, subject=self.subject, after=after)
        await self.app.wait(seconds=QUIET)
        return thread

    async def waiting(self) -> list[HeldDraft]:
        """What waits for a person."""
        async with self.app.app.database.reading() as conn:
            return list(await waiting_drafts(conn, self.app.workspace))

    async def decide(self, *, approve: bool = True, text: str = "") -> None:
        """The person's word on the one draft that waits."""
        (held,) = await self.waiting()
        word = DraftDecided(
            reply_id=held.reply_id, thread_id=held.thread_id, approve=approve, text_sha256=held.text_sha256, text=text,
            by="grace",
        )  # fmt: skip
        await ask(self.app.app, word)
        await self.app.settle()

    async def ask(self, is_open: bool) -> None:
        """A person opens or closes the intent."""
        named = {"inbox": "support", "intent": "how_to", "open": is_open, "by": "grace", "reason": "by hand"}
        id = approval_id(self.app.workspace, "support", "how_to")
        await ask(self.app.app, ApprovalRequested.model_validate({"approval_id": id, **named}))
        await self.app.settle()

    async def pattern(self) -> Pattern:
        """How the intent stands."""
        async with self.app.app.database.reading() as conn:
            found = await patterns(conn, self.app.workspace, self.app.app.settings.approval, intent="how_to")
        return found[0]

    async def approved(self) -> list[dict[str, Any]]:
        """Who approved each reply, in order, and whether that was earned."""
        rows = await self.app.rows("SELECT data FROM events WHERE type = 'reply.approved.v1' ORDER BY seq")
        return [row["data"] for row in rows]

    async def last_message_id(self) -> str:
        """Of the reply that left last."""
        rows = await self.app.rows(
            "SELECT message_id FROM deliveries WHERE state = 'sent' ORDER BY sent_at DESC LIMIT 1"
        )
        return f"<{rows[0]['message_id']}>"


@pytest.fixture
async def desk(
    request: pytest.FixtureRequest, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> AsyncIterator[Desk]:
    changes = getattr(request, "param", {})
    async with ScriptedModel() as server:
        said = {
            "send": {"approval": "review"},
            "approval": EARNS,
            "threads": {"quiet_s": QUIET},
            "model": {"provider": "anthropic", "api_key": "k", "base_url": server.base_url},
            **changes,
        }
        async with tending(stack, database, topic_prefix, tmp_path, **said) as app:
            one = Desk(app, server)
            server.script(one.answer)
            yield one


async def first_contacts(desk: Desk) -> None:
    """Each customer has written once before, and was answered in a person's own words, of another intent."""
    desk.said = {"intent": "thanks"}
    for who in range(3):
        await desk.write(who, "Hello there!")
        await desk.decide()
    desk.said = {}


@pytest.mark.slow
async def test_in_a_quarter_an_intent_opens_and_closes_exactly_when_the_bound_says(desk: Desk) -> None:
    """Thirteen weeks: a correction early on, an opening, a matter that comes up again, and another opening."""
    await first_contacts(desk)
    decisions: list[bool] = []
    opened_at = []
    for number in range(26):
        await desk.app.wait(days=3)
        await desk.write(number % 3)
        if not await desk.waiting():
            opened_at.append(number)
            break
        good = number != 2
        await desk.decide(text="" if good else "Hello,\n\nchoose Export in the menu Data.\n\nSupport")
        decisions.append(good)
        window = decisions[-20:]
        now = await desk.pattern()
        assert now.is_open is reached(sum(window), len(window), 0.7), f"after {number + 1} decisions"
        assert (now.unchanged, now.of) == (sum(window), len(window))
    assert opened_at == [15], "14 of 15 have a lower bound of 0.702; 13 of 14 have one of 0.685"
    assert (await desk.approved())[-1]["earned"] is True
    (step,) = await desk.app.rows("SELECT data, seq FROM events WHERE type = 'approval.opened.v1'")
    assert step["data"]["count"]["bound"] >= 0.7

    await desk.write(15 % 3, "It does not work, how do I export?", after=await desk.last_message_id())
    closed = await desk.pattern()
    assert (closed.is_open, closed.unchanged, closed.of) == (False, 0, 1), "the correction is the first that counts"
    assert closed.seen["reopened"].occurrences == 1
    assert "reopened" in closed.reason
    for number in range(20):
        if (await desk.pattern()).is_open:
            break
        if not await desk.waiting():
            await desk.write(number % 3)
        await desk.decide()
    again = await desk.pattern()
    assert again.unchanged == 14, "with the correction among them, as before"
    printed = [_without_time("    " + line.rstrip()) for line in shown([again]).splitlines()]
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "earn-approval.md").read_text(encoding="utf-8")
    said = [_without_time(line) for line in page.splitlines()]
    assert [line for line in printed if line not in said] == [], "\n".join(printed)


async def test_what_is_open_is_not_open_to_everything(desk: Desk) -> None:
    """A first contact, an invented price, a topic of risk, another intent: each waits although how_to is open."""
    await first_contacts(desk)
    await desk.ask(True)
    await desk.write(0)
    assert await desk.waiting() == []
    for who, text, said, floor in (
        (7, "How do I export?", {}, "first contact"),
        (1, "How do I export?", {"text": "Hello,\n\nit costs €99 a month.\n\nSupport"}, "unsupported"),
        (1, "How do I export? Else I call my lawyer.", {}, "law"),
        (1, "How do I export?", {"intent": "billing"}, "a person approves each reply"),
    ):
        desk.said = said
        await desk.write(who, text)
        (held,) = await desk.waiting()
        assert floor in held.reason
        await desk.decide(approve=False)
        await desk.ask(True)  # a rejection closes it


BOXES = [
    {"name": name, "address": f"{name}@ourcompany.example", "vouched_by": "the test"} for name in ("support", "sales")
]


@pytest.mark.parametrize("desk", [{"inboxes": BOXES}], indirect=True)
async def test_what_one_inbox_earned_lets_nothing_leave_from_another(desk: Desk) -> None:
    """An intent is open in the inbox whose drafts people approved."""
    await first_contacts(desk)
    await desk.ask(True)
    await desk.app.write("How do I export?", sender="ann@customer0.example", subject="Sales", inbox=1)
    await desk.app.wait(seconds=QUIET)
    (held,) = await desk.waiting()
    assert held.reason == "a person approves each reply"
    await desk.write(0)
    assert [one.reply_id for one in await desk.waiting()] == [held.reply_id]


async def test_only_what_needed_more_than_thanks_came_up_again(desk: Desk) -> None:
    """A "thanks" to a resolved matter leaves the intent open; a question about it closes it, once."""
    await first_contacts(desk)
    await desk.ask(True)
    await desk.write(0)
    reply = await desk.last_message_id()
    desk.settled = True
    await desk.write(0, "Thanks, solved!", after=reply)
    assert (await desk.pattern()).is_open
    desk.settled = False
    await desk.write(0, "It does not work after all, how do I export?", after=reply)
    now = await desk.pattern()
    assert not now.is_open
    assert now.seen["reopened"].occurrences == 1


async def test_a_person_takes_it_back_and_gives_it_again(desk: Desk) -> None:
    """Closed by hand the next draft waits; opened by hand it leaves; the log says who and why."""
    await first_contacts(desk)
    await desk.ask(True)
    await desk.ask(True)
    await desk.ask(False)
    await desk.write(0)
    assert len(await desk.waiting()) == 1
    steps = await desk.app.rows("SELECT type, data FROM events WHERE type ~ '^approval.(opened|closed)' ORDER BY seq")
    assert [one["type"] for one in steps] == ["approval.opened.v1", "approval.closed.v1"]
    assert {one["data"]["by"] for one in steps} == {"grace"}


async def test_an_outcome_is_counted_once_and_rows_follow_from_events(desk: Desk) -> None:
    """Every event handled twice changes nothing; a rebuild from the events gives the same tables."""
    await first_contacts(desk)
    await desk.write(0)
    await desk.decide()
    await desk.write(1)
    await desk.decide(approve=False)
    before = await desk.pattern()
    await desk.app.rows("DELETE FROM journal WHERE consumer = 'earn_approval' RETURNING event_id")
    await desk.app.settle()
    assert await desk.pattern() == before
    assert {kind: one.occurrences for kind, one in before.seen.items()} == {"unchanged": 1, "rejected": 1}


async def test_what_says_nothing_about_a_draft_is_not_counted(desk: Desk) -> None:
    """One that a newer mail overtook; a matter that was not resolved goes on; a question weeks after it was closed."""

    async def seen(text: str, after: str, state: str = "resolved") -> dict[str, int]:
        """What is counted once a mail in the thread was answered with an approved draft."""
        desk.said = {"state": state}
        await desk.write(0, text, after=after)
        await desk.decide()
        return {kind: one.occurrences for kind, one in (await desk.pattern()).seen.items()}

    await first_contacts(desk)
    await desk.write(0)
    (own,) = await desk.app.rows("SELECT message_id FROM mails ORDER BY received_at DESC LIMIT 1")
    assert await seen("And in colour?", f"<{own['message_id']}>") == {"unchanged": 1}
    again = await seen("It fails after all.", await desk.last_message_id(), "awaiting_reply")
    assert again == {"unchanged": 2, "reopened": 1}
    assert await seen("It still does.", await desk.last_message_id()) == {"unchanged": 3, "reopened": 1}
    await desk.app.wait(days=20)
    assert await seen("And as a PDF?", await desk.last_message_id()) == {"unchanged": 4, "reopened": 1, "held": 1}


@pytest.mark.parametrize("desk", [{"web": {"api_token": TOKEN}}], indirect=True)
async def test_the_api_shows_opens_and_closes(desk: Desk) -> None:
    """An unknown inbox or intent is a 404 that says which there are."""
    api = make_app([routes(desk.app.app)])
    headers = {"Authorization": f"Bearer {TOKEN}"}
    transport = httpx.ASGITransport(app=api)
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:
        assert (await client.get("/api/patterns")).json() == []
        async with desk.app.at_work():
            opened = await client.put("/api/patterns/support/how_to", json={"is_open": True, "by": "grace"})
        assert opened.json()["is_open"] is True
        (listed,) = (await client.get("/api/patterns")).json()
        assert (listed["changed_by"], listed["needed"]) == ("grace", None)
        for place in ("nowhere/how_to", "support/other", "support/nothing"):
            refused = await client.put(f"/api/patterns/{place}", json={"is_open": True})
            assert (refused.status_code, refused.json()["error"]) == (404, "pattern_unknown")


@pytest.mark.parametrize("desk", [{"send": {"approval": "human_only"}}], indirect=True)
async def test_a_draft_that_a_person_words_is_not_sent_by_approving_it(desk: Desk) -> None:
    """It still waits; approved in a person's own words it leaves."""
    await desk.write(0)
    await desk.decide()
    (held,) = await desk.waiting()
    assert held.level == "human_only"
    await desk.decide(text="Dear customer, choose Export.")
    assert await desk.waiting() == []
    assert [one["text"] for one in await desk.approved()] == ["Dear customer, choose Export."]


@pytest.mark.parametrize(
    "desk",
    [
        {
            "send": {"approval": "auto"},
            "approval": {
                "intents": [{"intent": "billing", "level": "human_only"}, {"intent": "how_to", "level": "review"}]
            },
        }
    ],
    indirect=True,
)
async def test_an_intent_has_a_level_of_its_own(desk: Desk) -> None:
    """Before what the inbox has."""
    await desk.write(0)
    (held,) = await desk.waiting()
    assert (held.level, held.intent) == ("review", "how_to")
    await desk.decide()
    desk.said = {"intent": "billing"}
    await desk.write(0)
    (held,) = await desk.waiting()
    assert held.level == "human_only"
    desk.said = {"intent": "status_question"}
    await desk.write(1)
    assert len(await desk.waiting()) == 1


async def test_each_draft_says_its_score_and_what_to_look_at(desk: Desk) -> None:
    """The score, its parts and its floors lie in the ledger and in what a person is shown."""
    desk.said = {"text": "Hello,\n\nit costs €99 a month.\n\nSupport"}
    await desk.write(0)
    (held,) = await desk.waiting()
    assert held.score is not None
    assert {one["name"] for one in held.score["parts"]} == {"support", "knowledge", "recall", "sender", "topic"}
    assert held.unsupported[0] == "€99"
    (row,) = await desk.app.rows("SELECT intent, floors, score FROM deliveries")
    assert (row["intent"], row["floors"]) == ("how_to", ["unsupported", "first_contact"])
    assert row["score"] == pytest.approx(held.score["value"])


async def joined(desk: Desk, first: str, second: str) -> None:
    """One writes with the other in Cc, who is known and answers into that thread; what was waiting is approved."""
    desk.said = {"intent": "thanks"}
    for sender, cc in ((second, ""), (first, second)):
        number = next(desk.app.numbers) + 1
        await desk.app.write("Write to them that all is paid.", sender=sender, cc=cc, subject=f"About {sender}")
        await desk.app.wait(seconds=QUIET)
        await desk.decide()
    desk.said = {}
    begun = f"<m{number}@{first.partition('@')[2]}>"
    await desk.app.write("I agree, thanks.", sender=second, subject=f"Re: About {first}", after=begun)
    await desk.app.wait(seconds=QUIET)


async def last_draft(desk: Desk) -> dict[str, Any]:
    (row,) = await desk.app.rows("SELECT state, floors FROM deliveries ORDER BY created_at DESC LIMIT 1")
    return row


ANY_LEVEL = [{"send": {"approval": "auto"}, "approval": {"hold_floors": True}}, {"approval": EARNS}]


@pytest.mark.parametrize("desk", ANY_LEVEL, indirect=True)
async def test_a_draft_left_that_was_written_with_a_strangers_words_in_view(desk: Desk) -> None:
    """Whoever puts a customer into Cc words what stands above the customer's answer: a person looks at what leaves."""
    await desk.ask(True)
    await joined(desk, "mal@stranger.example", "vic@prey.example")
    (held,) = await desk.waiting()
    assert await last_draft(desk) == {"state": "draft", "floors": ["stranger"]}
    assert held.score is not None
    assert "stranger" in held.score["floors"]


@pytest.mark.parametrize("desk", ANY_LEVEL, indirect=True)
async def test_a_colleague_in_view_holds_nothing(desk: Desk) -> None:
    """Of one company, what one wrote breaks no floor of the other's draft."""
    await desk.ask(True)
    await joined(desk, "cy@works.example", "dee@works.example")
    assert not await desk.waiting()
    assert await last_draft(desk) == {"state": "sent", "floors": []}


HOLDS = {"send": {"approval": "auto"}, "approval": {"hold_floors": True}}
LIFTS = {"approval": {"intents": [{"intent": "thanks", "level": "auto"}]}}


@pytest.mark.parametrize("desk", [HOLDS], indirect=True)
async def test_handing_over_to_a_person_carried_a_promise_past_the_floors(desk: Desk) -> None:
    """What the customer is told with it is a model's text as any other: an invented promise waits."""
    plain = {"reason": "They ask for a person.", "message_to_customer": "Hello,\n\na colleague has your mail now."}
    desk.said = {"tool": "escalate", **plain}
    await desk.write(0)
    assert not await desk.waiting(), "what claims nothing leaves"
    desk.said["message_to_customer"] = "Hello, we will pay you 5,000 EUR today."
    await desk.write(1)
    (held,) = await desk.waiting()
    assert "unsupported" in (held.score or {})["floors"]


@pytest.mark.parametrize("desk", [LIFTS], indirect=True)
async def test_an_intent_that_the_model_named_lifted_a_floor(desk: Desk) -> None:
    """The inbox is under review and thanks are not: calling it thanks lets no invented price out."""
    desk.said = {"intent": "thanks"}
    await desk.write(0)
    await desk.decide()
    await desk.write(0, "Thank you!")
    assert not await desk.waiting(), "thanks that break no floor leave"
    desk.said["text"] = "Hello,\n\nfrom now on it costs €1 a month.\n\nSupport"
    await desk.write(0, "Thank you again!")
    (held,) = await desk.waiting()
    assert (held.level, held.unsupported[0]) == ("review", "€1")


@pytest.mark.parametrize("desk", [{"web": {"api_token": TOKEN}}], indirect=True)
async def test_quality_says_what_people_made_of_drafts_week_by_week(desk: Desk) -> None:
    """Unchanged, edited with how much, rejected, by hand, sent, reopened: on the page and over the API the same."""
    async with signed_in(desk.app.app) as grace:
        assert "Nothing to judge yet" in text_of(await grace.get("/console/quality"))
    await desk.write(0)
    await desk.decide()
    await desk.write(1, "It does not work, how do I export?", after=await desk.last_message_id())
    await desk.decide(approve=False)
    await desk.app.wait(days=14)
    await desk.write(2)
    await desk.decide(text="Hello,\n\nopen the menu and choose Import.\n\nBest regards,\nSupport")
    desk.said = {"intent": "billing"}
    await desk.write(2)
    await desk.decide()
    async with signed_in(desk.app.app) as grace:
        page = await grace.get("/console/quality?weeks=4")
        assert page.status_code == 200
        assert " style=" not in page.text
    transport = httpx.ASGITransport(make_app([routes(desk.app.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as api:
        said = (await api.get("/api/quality", params={"weeks": 4})).json()
        assert (await api.get("/api/quality", params={"weeks": 54})).status_code == 422
    every = said["every"]["total"]
    assert {name: every[name] for name in ("unchanged", "edited", "rejected", "sent")} == {
        "unchanged": 2, "edited": 1, "rejected": 1, "sent": 3,
    }  # fmt: skip
    assert every["changed"] == pytest.approx(desk_changed(said), abs=1e-6)
    assert 0 < every["changed"] < 0.5
    assert [one["unchanged"] + one["edited"] + one["rejected"] for one in said["every"]["weeks"]] == [0, 2, 0, 2]
    assert [(one["name"], one["total"]["edited"]) for one in said["intents"]] == [("how_to", 1), ("billing", 0)]
    assert [one["name"] for one in said["inboxes"]] == ["support"]
    shown = text_of(page)
    assert "how to" in shown
    assert "4 50 % 1" in shown, "decided, unchanged, edited"


def desk_changed(said: dict[str, Any]) -> float:
    """The changes of the intents, added up."""
    return float(sum(one["total"]["changed"] for one in said["intents"]))
