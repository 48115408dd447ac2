"""Incidents on the whole flow: what opens one, what the agent is told, the end and its drafts, erase and rebuild."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from deploy.local import Endpoints
from schemas.events.answers import AssignmentRequested
from schemas.events.replies import DraftDecided
from services import watch_incidents
from services.cli import incidents as command
from services.cli.terminal import Terminal
from services.core.bus.event_row import EventRow
from services.core.bus.runner import Runner
from services.core.web import make_app
from services.operations.drafts.listing import HeldDraft, waiting_drafts
from services.operations.erase.run import erase
from services.operations.incidents import (
    AnswerRefused,
    IncidentLine,
    IncidentUnknown,
    WholeIncident,
    change,
    list_incidents,
    whole_incident,
)
from services.operations.replay.model import Asking
from services.operations.replay.run import past_cases, replay
from services.operations.replay.selection import Selection
from services.operations.requests import ask
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.console import form, signed_in, text_of
from tests.support.erasing import differences, found
from tests.support.scripted_model import ScriptedModel, Seen, reply_tool
from tests.support.tending import Tended, tending

pytestmark = pytest.mark.timeout(300)
QUIET = 20  # seconds
TOKEN = "a token for tests"
TROUBLES = {  # by what stands in the mail: the same trouble in other words, and others
    "export": "csv export times out",
    "secret": "zebra csv export hangs",
    "csv": "csv export never finishes",
    "refund": "refund not received",
}
ANSWER = "Hello,\n\nthe export works again. We are sorry for the trouble.\n\nSupport"


@dataclass
class Desk:
    """A deployment whose customers report troubles, as a scripted model names them."""

    app: Tended
    server: ScriptedModel
    prompts: list[str] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)
    named: str = ""  # what the model calls each trouble, where it is not for the mail to say
    is_over: bool = False  # whether the next mails say that their trouble is

    def answer(self, request: Seen) -> Any:
        """As the model: the trouble that the mail speaks of."""
        text = request.text
        if "reflect" in request.tools:
            trouble = next((name for word, name in reversed(TROUBLES.items()) if f"the {word}" in text), "")
            signals = {"issue_key": self.named or trouble, "intent": "bug_report", "issue_resolved": self.is_over}
            return reply_tool("reflect", {"summary": "They report a trouble.", "brief": "", "signals": signals})
        self.prompts.append(text)
        return reply_tool(
            "reply", {"text": "Hello,\n\nwe look into it.\n\nSupport", "state": "awaiting_reply", **self.said}
        )

    async def report(self, sender: str, word: str = "export", **how: Any) -> UUID:
        """A customer's mail about a trouble, and the turn that answers it; its thread."""
        thread = await self.app.write(f"Hello, the {word} is broken since today.", sender=sender, **how)
        await self.app.wait(seconds=QUIET)
        return thread

    async def incidents(self) -> list[IncidentLine]:
        async with self.app.app.database.reading() as conn:
            return list(await list_incidents(conn, self.app.app.settings))

    async def whole(self) -> WholeIncident:
        """The one incident."""
        (line,) = await self.incidents()
        async with self.app.app.database.reading() as conn:
            whole = await whole_incident(conn, self.app.app.settings, line.incident_id)
        assert whole is not None
        return whole

    async def threads(self) -> list[UUID]:
        """All threads, in the order of their first mails."""
        rows = await self.app.rows("SELECT thread_id FROM mails ORDER BY received_at")
        return [row["thread_id"] for row in rows]

    async def change(self, op: Any, answer: str = "", reason: str = "by hand") -> WholeIncident:
        """A person closes or reopens the one incident."""
        (line,) = await self.incidents()
        told = {"answer": answer, "reason": reason, "by": "grace"}
        async with self.app.at_work():
            whole = await change(self.app.app, line.incident_id, op, **told, timeout_s=60)
        await self.app.settle()
        return whole

    async def waiting(self) -> list[HeldDraft]:
        async with self.app.app.database.reading() as conn:
            return list(await waiting_drafts(conn, self.app.workspace))

    async def decide(self, held: HeldDraft, *, approve: bool = True) -> None:
        """A person's word on a draft."""
        word = DraftDecided(
            reply_id=held.reply_id, thread_id=held.thread_id, approve=approve, text_sha256=held.text_sha256, by="grace"
        )
        await ask(self.app.app, word)
        await self.app.settle()

    async def told(self, thread_id: UUID) -> str:
        """What the layer told the agent in the last turn of a thread."""
        rows = await self.app.rows(
            "SELECT * FROM events WHERE type = 'memory.loaded.v1' AND key = %(key)s ORDER BY seq DESC LIMIT 1",
            key=str(thread_id),
        )
        loaded: Any = EventRow.of(**rows[0]).envelope().data
        return next((one.text for one in loaded.layers if one.name == "incidents"), "")

    async def calls(self) -> list[str]:
        """What people were called for, because of incidents."""
        rows = await self.app.rows("SELECT * FROM events WHERE type = 'person.called.v1' ORDER BY seq")
        told: list[Any] = [EventRow.of(**row).envelope().data for row in rows]
        return [one.reason for one in told if one.kind == "incident"]


def said(request: pytest.FixtureRequest, server: ScriptedModel) -> dict[str, Any]:
    """The settings, with what a test asks for over them."""
    return {
        "incidents": {"customers": 3},
        "threads": {"quiet_s": QUIET},
        "model": {"provider": "anthropic", "api_key": "k", "base_url": server.base_url},
        **getattr(request, "param", {}),
    }


def scripted(app: Tended, server: ScriptedModel) -> Desk:
    """The desk whose troubles the model names."""
    one = Desk(app, server)
    server.script(one.answer)
    return one


@pytest.fixture
async def desk(
    request: pytest.FixtureRequest, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> AsyncIterator[Desk]:
    async with (
        ScriptedModel() as server,
        tending(stack, database, topic_prefix, tmp_path, **said(request, server)) as app,
    ):
        yield scripted(app, server)


async def three(desk: Desk) -> list[UUID]:
    """Three customers report the same trouble in other words; their threads."""
    return [
        await desk.report("ann@one.example"),
        await desk.report("bo@two.example", "csv"),
        await desk.report("cy@three.example", "secret"),
    ]


@pytest.fixture
async def reported(
    request: pytest.FixtureRequest, stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path
) -> AsyncIterator[Desk]:
    """A desk to which these three have reported."""
    async with ScriptedModel() as server:

        async def begin(app: Tended) -> None:
            await three(scripted(app, server))

        async with after(
            begin, tending, stack, template_database, topic_prefix, tmp_path, **said(request, server)
        ) as app:
            yield scripted(app, server)


async def test_the_third_customer_opens_it_a_person_is_called_and_the_agent_is_told(desk: Desk) -> None:
    """By meaning: three wordings; of these the next customer's prompt holds what three said, and no other word."""
    await desk.report("ann@one.example")
    await desk.report("ann@one.example", "csv", subject="Again")
    await desk.report("bo@two.example", "csv")
    await desk.report("dan@four.example", "refund")
    assert await desk.incidents() == []
    await desk.report("cy@three.example", "secret")
    (line,) = await desk.incidents()
    assert (line.customers, line.reports, line.words, line.is_open) == (3, 4, "csv export", True)
    assert await desk.calls() == ["3 customers report the same issue since 2026-01-05 09:00 UTC"]

    desk.prompts.clear()
    told = await desk.told(await desk.report("eve@five.example", "refund"))
    assert told == "- 3 customers report «csv export» since 2026-01-05 09:00"
    for word in ("zebra", "hangs", "one.example", "finishes"):
        assert not any(word in one for one in desk.prompts), word


async def test_a_turn_that_was_told_of_an_incident_is_replayed_as_it_was(reported: Desk) -> None:
    """The reports of others are part of its case, so that the layer says the same in an empty deployment."""
    thread = await reported.report("eve@five.example", "refund")
    assert await reported.told(thread)
    settings = reported.app.app.settings
    cases = past_cases(settings, Selection(until="load_memory", thread=thread), documents=False)
    results = [result async for _, result, _ in replay(settings, cases, Asking())]
    assert [one.model_dump() for one in results if one.code or one.error] == []
    assert len(results) == 1


async def test_an_author_meets_their_own_words(reported: Desk) -> None:
    """What they reported themselves is told as they reported it."""
    told = await reported.told(await reported.report("cy@three.example", "refund", subject="Refund"))
    assert told == "- 3 customers report what the author reports as «zebra csv export hangs» since 2026-01-05 09:00"


OPEN = [
    {"name": "support", "address": "support@ourcompany.example", "vouched_by": "the test"},
    {"name": "open", "address": "open@ourcompany.example", "unproven": "review"},
]


@pytest.mark.parametrize("desk", [{"inboxes": OPEN}], indirect=True)
async def test_who_is_not_proven_never_counts_and_is_told_nothing(desk: Desk) -> None:
    """Four forged senders, one more than open an incident, open nothing and join nothing; their prompts hold no word of it."""
    for number in range(4):
        await desk.report(f"x@forged{number}.example", inbox=1)
    assert await desk.app.rows("SELECT report_id FROM trouble_reports") == []
    await three(desk)
    forged = await desk.report("eve@five.example", inbox=1)
    assert (await desk.whole()).incident.reports == 3
    assert await desk.told(forged) == ""


@pytest.mark.parametrize(
    "desk", [{"inboxes": [{**OPEN[0], "incidents": {"customers": 2}}], "incidents": {}}], indirect=True
)
async def test_an_inbox_has_its_own_numbers_and_three_addresses_of_a_domain_are_one_customer(desk: Desk) -> None:
    """Two open one here; an attacker with a domain of their own is one of them."""
    for number in range(3):
        await desk.report(f"eve{number}@mail{number}.evil.example")
    assert await desk.incidents() == []
    await desk.report("ann@one.example")
    assert (await desk.whole()).incident.customers == 2


@pytest.mark.parametrize("desk", [{"incidents": {}}], indirect=True)
async def test_by_default_nothing_is_noted(desk: Desk) -> None:
    """Without a number of customers no trouble is kept beside what is known of its author."""
    await three(desk)
    assert await desk.app.rows("SELECT report_id FROM trouble_reports") == []


async def test_imported_mail_is_no_report(desk: Desk) -> None:
    """What was broken years ago opens nothing today."""
    for number in range(3):
        await desk.report(f"a@c{number}.example", mode="history")
    assert await desk.app.rows("SELECT report_id FROM trouble_reports") == []


async def test_the_answer_waits_for_approval_and_goes_to_each_who_reported_it(reported: Desk) -> None:
    """Nothing leaves by itself under `auto`; approved it is a reply in the customer's thread, rejected it is not."""
    threads = await reported.threads()
    sent_before = await reported.app.rows("SELECT reply_id FROM deliveries WHERE state = 'sent'")
    whole = await reported.change("close", ANSWER)
    assert not whole.incident.is_open
    await reported.app.wait(hours=1)
    held = await reported.waiting()
    assert {one.thread_id for one in held} == set(threads)
    assert {one.text for one in held} == {ANSWER}
    assert {one.reason for one in held} == {"an incident that they reported is over"}
    assert await reported.app.rows("SELECT reply_id FROM deliveries WHERE state = 'sent'") == sent_before

    await reported.decide(held[0])
    await reported.decide(held[1], approve=False)
    states = {one.thread_id: one.answer for one in (await reported.whole()).reported}
    assert states == {held[0].thread_id: "sent", held[1].thread_id: "discarded", held[2].thread_id: "draft"}
    said = (await reported.app.thread(held[0].thread_id)).conversation
    assert [one.text for one in said][-1] == ANSWER
    assert {(await reported.app.thread(one.thread_id)).thread.state for one in held} == {"awaiting_reply"}

    await reported.report("cy@three.example", "refund", subject="Refund")
    await reported.change("close", ANSWER)  # it is closed already
    assert len(await reported.waiting()) == 1


async def test_a_newer_mail_takes_the_place_of_the_draft_and_is_answered_with_what_we_say(reported: Desk) -> None:
    """The customer writes while the draft waits: it is discarded, and the agent knows the answer."""
    await reported.change("close", ANSWER)
    rows = await reported.app.rows("SELECT message_id FROM mails WHERE author_addr = 'ann@one.example'")
    thread = await reported.report("ann@one.example", "refund", after=rows[0]["message_id"], subject="Re: Export")
    assert thread not in {one.thread_id for one in await reported.waiting()}
    assert "What we say: Hello," in await reported.told(thread)


async def test_where_the_thread_is_being_answered_no_draft_is_made_and_the_incident_says_so(reported: Desk) -> None:
    """A person has one thread: the text is a note there. In another a mail waits: it is answered, and told."""
    threads = await reported.threads()
    taken = AssignmentRequested(thread_id=threads[0], assignee="bo", take_over=True, by="bo")
    await ask(reported.app.app, taken)
    await reported.app.settle()
    rows = await reported.app.rows("SELECT message_id FROM mails WHERE author_addr = 'bo@two.example'")
    await reported.app.write("Any news?", sender="bo@two.example", after=rows[0]["message_id"])
    await reported.change("close", ANSWER)
    states = {one.thread_id: (one.answer, one.detail) for one in (await reported.whole()).reported}
    assert states[threads[0]] == ("refused", "a person has the thread: the text is a note there")
    assert states[threads[1]] == ("refused", "a mail of this thread waits for an answer")
    assert states[threads[2]][0] == "draft"
    assert any(ANSWER in one.text for one in (await reported.app.thread(threads[0])).notes)


async def test_late_reporters_get_the_answer_and_three_more_reopen_it(reported: Desk) -> None:
    """A mail that came before the end and was learned from after it; then new reports."""
    late = await reported.app.write("Hello, the export is broken since today.", sender="dan@four.example")
    await reported.change("close", ANSWER)
    await reported.app.wait(seconds=QUIET)
    joined = next(one for one in (await reported.whole()).reported if one.thread_id == late)
    assert (await reported.whole()).incident.reports == 4
    assert joined.answer in ("draft", "refused"), "its own reply may be on its way, which knows of the answer"
    assert "What we say" in await reported.told(late)
    for number in range(3):
        assert not (await reported.whole()).incident.is_open
        await reported.report(f"x@new{number}.example")
    assert (await reported.whole()).incident.is_open
    assert (await reported.calls())[-1] == "3 customers report it again since it was closed"
    assert len(await reported.incidents()) == 1


async def test_what_is_over_is_no_report_and_what_begins_long_after_an_end_is_another_incident(reported: Desk) -> None:
    """Who says that it works again joins nothing; reports later than `days` after the end are looked at by themselves."""
    reported.is_over = True
    await reported.report("dan@four.example")
    assert (await reported.whole()).incident.reports == 3
    reported.is_over = False
    await reported.change("close", ANSWER)
    await reported.app.wait(days=3)
    for number in range(3):
        assert len(await reported.incidents()) == 1
        await reported.report(f"x@new{number}.example")
    assert [(one.is_open, one.reports) for one in await reported.incidents()] == [(True, 3), (False, 3)]


async def test_every_event_twice_changes_nothing(reported: Desk) -> None:
    """Handled again from an empty journal, by two processes at once, and cut off before the commit."""
    await reported.change("close", ANSWER)
    tables = ("incidents", "trouble_reports", "deliveries", "turns")
    before = {table: await reported.app.rows(f"SELECT * FROM {table} ORDER BY 1") for table in tables}
    await reported.app.rows("DELETE FROM journal WHERE consumer = 'watch_incidents' RETURNING event_id")
    wishes = "SELECT id FROM events WHERE type = 'thread.draft_requested.v1'"
    await reported.app.rows(f"DELETE FROM journal WHERE event_id IN ({wishes}) RETURNING event_id")
    waiting = await reported.app.waiting(watch_incidents.PROCESSOR)
    assert waiting
    one, other = (Runner(watch_incidents.PROCESSOR, reported.app.app) for _ in range(2))
    cut = asyncio.create_task(one.process(waiting[0]))
    await asyncio.sleep(0)
    cut.cancel()
    await asyncio.gather(cut, return_exceptions=True)
    for envelope in waiting:
        await asyncio.gather(one.process(envelope), other.process(envelope))
    await reported.app.settle()
    assert {table: await reported.app.rows(f"SELECT * FROM {table} ORDER BY 1") for table in tables} == before


async def test_an_erased_customer_leaves_no_trace_and_rows_follow_from_events(reported: Desk, stack: Endpoints) -> None:
    """Two of three are left: the incident stands, the agent is told nothing any more; a rebuild gives the same."""
    whole = await reported.change("close", ANSWER)
    assert whole.incident.customers == 3
    app = reported.app.app
    assert not await differences(app, stack)
    await erase(app, await found(app, "cy@three.example"), by="grace")
    left = await reported.whole()
    assert [one.customer for one in left.reported] == ["ann@one.example", "bo@two.example"]
    assert left.incident.words == ""
    assert not await differences(app, stack)
    for row in await reported.app.rows("SELECT data::text AS text FROM events"):
        assert "zebra" not in row["text"]
    assert await reported.told(await reported.report("eve@five.example", "refund")) == ""
    assert {one.recipient for one in await reported.waiting()} == {"ann@one.example", "bo@two.example"}
    assert await reported.told(await reported.report("ann@one.example", "refund", subject="Money")) == "", "nor is one"


@pytest.mark.parametrize("reported", [{"incidents": {"customers": 3}, "web": {"api_token": TOKEN}}], indirect=True)
async def test_the_api_lists_shows_closes_and_reopens(reported: Desk) -> None:
    """An unknown incident is a 404; an answer that is too long is refused, in words."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    transport = httpx.ASGITransport(app=make_app([routes(reported.app.app)]))
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:
        (line,) = (await client.get("/api/incidents")).json()
        path = f"/api/incidents/{line['incident_id']}"
        assert len((await client.get(path)).json()["reported"]) == 3
        async with reported.app.at_work():
            closed = await client.put(path, json={"is_open": False, "answer": ANSWER, "by": "grace"})
            opened = await client.put(path, json={"is_open": True, "by": "grace"})
        assert (closed.json()["incident"]["is_open"], closed.json()["incident"]["changed_by"]) == (False, "grace")
        assert opened.json()["incident"]["is_open"] is True
        unknown = await client.get(f"/api/incidents/{UUID(int=1)}")
        assert (unknown.status_code, unknown.json()["error"]) == (404, "incident_unknown")
        long = await client.put(path, json={"is_open": False, "answer": "a" * 32_001, "by": "grace"})
        assert long.status_code == 422
    with pytest.raises(AnswerRefused, match="32,000"):
        await change(reported.app.app, UUID(line["incident_id"]), "close", answer="a\0", reason="", by="g", timeout_s=1)
    with pytest.raises(IncidentUnknown, match="correspondent incidents"):
        await change(reported.app.app, UUID(int=1), "close", answer="", reason="", by="g", timeout_s=1)


async def test_the_console_shows_closes_and_reopens_an_incident(desk: Desk) -> None:
    """A list, one with who reported it and each answer; a viewer only reads; what is refused keeps its words."""
    hostile = "</textarea><script>alert(1)</script>"
    async with signed_in(desk.app.app, role="agent") as grace, signed_in(desk.app.app, "Vic", role="viewer") as vic:
        assert "once 3 customers of support" in text_of(await grace.get("/console/incidents"))
        threads = await three(desk)
        listed = await grace.get("/console/incidents")
        (line,) = await desk.incidents()
        place = f"/console/incidents/{line.incident_id}"
        assert place in listed.text
        page = await grace.get(place)
        assert all(f"/console/threads/{one}" in page.text for one in threads)
        assert "ann@one.example" in text_of(page)
        seen = await vic.get(place)
        refused = await vic.post(place, data={"form_token": form(seen, "/sign-out").fields["form_token"]})
        assert (refused.status_code, "/textarea" in seen.text) == (403, False)
        long = await form(page, place).send(grace, answer=hostile + "x" * 32_000, reason="by hand")
        assert (long.status_code, form(long, place).fields["reason"]) == (422, "by hand")
        assert "Your words are kept" in text_of(long)
        assert "<script>alert" not in long.text
        async with desk.app.at_work():
            closed = await form(page, place).send(grace, answer=f"{ANSWER} {hostile}", reason="fixed")
        await desk.app.settle()
        assert "The incident is closed" in text_of(closed)
        over = await grace.get(place)
        assert "What we said" in text_of(over)
        assert text_of(over).count("an incident that they reported is over") == 3
        assert "<script>alert" not in over.text
        async with desk.app.at_work():
            opened = await form(over, place).send(grace, reason="it came back")
        assert "open again" in text_of(opened)
        assert "it came back" in text_of(opened)
        assert (await grace.get(f"/console/incidents/{UUID(int=1)}")).status_code == 404
    acts = await desk.app.rows("SELECT act FROM console_audit WHERE by = 'Grace' AND act LIKE '/incidents%%'")
    assert [one["act"] for one in acts] == ["/incidents/{incident_id}"] * 3


@pytest.mark.parametrize("desk", [{"incidents": {"customers": 0}}], indirect=True)
async def test_the_page_says_how_incidents_are_switched_on(desk: Desk) -> None:
    """Where no inbox watches for them, the page says so, and with which setting it would."""
    async with signed_in(desk.app.app, role="viewer") as vic:
        assert "[incidents] customers = 3" in text_of(await vic.get("/console/incidents"))


async def test_the_page_shows_what_the_commands_print(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/how-to/incidents.md has this story as `incidents list`, `close` and `show` print it, ids apart."""
    desk.named = "csv export report timeout"
    for sender in ("ann@one.example", "bo@two.example", "cy@three.example"):
        await desk.report(sender)
        await desk.app.wait(minutes=20)
    out = StringIO()
    monkeypatch.setattr(command, "console", Terminal(file=out, width=170, highlight=False))
    command.console.print(command.table_of(await desk.incidents()))
    command.print_whole(await desk.change("close", "The export works again. We are sorry.", reason=""))
    command.print_whole(await desk.whole())
    page = _without_ids((Path(__file__).parents[2] / "docs" / "how-to" / "incidents.md").read_text(encoding="utf-8"))
    printed = [_without_ids(f"    {line}".rstrip()) for line in out.getvalue().splitlines()]
    assert [line for line in printed if line not in page.splitlines()] == [], "\n".join(printed)


def _without_ids(text: str) -> str:
    """Without ids, and without the last digit of minutes: simulated minutes pass while the machine works."""
    return re.sub(r"\b(\d\d:\d)\d\b", r"\1", re.sub(r"\b[0-9a-f]{8}\b", "ID", text))
