"""The inbox as a place to work in: found by what was said, one's own threads, several threads at once; the same over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest
from lxml import html

from deploy.local import Endpoints
from services.core.web import make_app
from services.operations.drafts.listing import DRAFTS, waiting_drafts
from services.operations.drafts.listing import SQL as DRAFTS_SQL
from services.operations.threads import inbox
from services.operations.users import remove_user
from services.web.console import inbox as console_inbox
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.console import a_user, form, signed_in, text_of
from tests.support.remembering import ADA
from tests.support.tending import Tended, tending

TOKEN = "a token for tests"
HOSTILE = "<script>alert(1)</script>\u202e"


CHANGES = {"send": {"approval": "review"}, "web": {"api_token": TOKEN}}  # every reply waits for a person


@pytest.fixture
async def empty(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment without mail."""
    async with tending(stack, database, topic_prefix, tmp_path, **CHANGES) as one:
        yield one


async def three(one: Tended) -> None:
    """Three threads of Ada's."""
    await one.write("The zebra crossing export stops after 500 rows.", sender=f"Ada Miller <{ADA}>")
    await one.write("My invoices are late.", subject=f"Billing {HOSTILE}")
    await one.write("Where are the settings?", subject="Settings")


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment with three threads of Ada's."""
    async with after(three, tending, stack, template_database, topic_prefix, tmp_path, **CHANGES) as one:
        yield one


@pytest.fixture
async def threads(app: Tended) -> AsyncIterator[list[UUID]]:
    """Ada's threads, the oldest first, and everybody at work."""
    rows = await app.rows("SELECT thread_id FROM mails ORDER BY received_at")
    async with app.at_work():
        yield [row["thread_id"] for row in rows]


@pytest.fixture
async def grace(app: Tended, threads: list[UUID]) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who is signed in."""
    async with signed_in(app.app) as client:
        yield client


def api(app: Tended) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    return httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers)


@pytest.mark.parametrize(("words", "found"), [("zebra", True), ("crossings exp", True), ("zebra invoice", False)])
async def test_threads_are_found_by_what_was_said(grace: httpx.AsyncClient, words: str, found: bool) -> None:
    """Every word has to stand in one passage of a message; another form of a word is found, too."""
    page = await grace.get("/console/inbox", params={"q": words})
    assert ("zebra crossing" in page.text) == found
    assert ("no message has the words" in page.text) != found


async def test_a_search_finds_the_same_whether_few_or_many_threads_have_the_words(
    empty: Tended, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page by page: by the indexes of words, among the threads that changed last, and among all where these are too few."""
    for number in range(7):
        subject = f"Page {number}" if number % 2 else "Export"
        await empty.write("A zebra in the export." if number < 3 else "Where is it?", subject=subject)
    await empty.write("The export again.", sender="zoe@zebra.example")
    by_index = {
        words: await pages_found(empty, words) for words in ("export", "page", "zebra", ADA, "settings", "nothing")
    }
    assert all(len(found) == len(set(found)) for found in by_index.values())
    assert {words for words, found in by_index.items() if not found} == {"settings", "nothing"}
    monkeypatch.setattr(inbox, "MOST_HITS", 1)
    for lately in (1, 4, 100):
        monkeypatch.setattr(inbox, "LATELY", lately)
        assert {words: await pages_found(empty, words) for words in by_index} == by_index


async def pages_found(app: Tended, words: str) -> list[UUID]:
    """All that is found, two threads a page."""
    found: list[UUID] = []
    after = ""
    while True:
        async with app.app.database.reading() as conn:
            page = await inbox.found(conn, app.workspace, words, limit=2, after=after)
        found += [one.thread_id for one in page]
        if not (after := page.next):
            return found


async def test_every_view_counted_all_threads_that_need_a_person(
    app: Tended, threads: list[UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The count ends where it says "many", and the page says so."""
    async with signed_in(app.app) as client:
        assert html.fromstring((await client.get("/console/inbox")).text).findtext(".//span[@class='count']") == "3"
        for module in (inbox, console_inbox):
            monkeypatch.setattr(module, "MOST_COUNTED", 2)
        page = await client.get("/console/inbox?view=all")
    assert html.fromstring(page.text).findtext(".//span[@class='count']") == "1+"


async def test_what_needs_a_person_is_read_page_by_page(app: Tended, threads: list[UUID]) -> None:
    """Escalated threads and drafts that wait stand in one order; the agent's own work and snoozed threads are not among them."""
    first, second, third = threads
    async with app.app.database.transaction() as conn:
        await conn.execute("UPDATE threads SET state = 'escalated', open_turn = NULL WHERE thread_id = %s", [second])
    found: list[UUID] = []
    after = ""
    for _ in range(3):
        async with app.app.database.reading() as conn:
            page = await inbox.inbox(conn, app.workspace, "needs_me", limit=1, after=after)
        found, after = [*found, *(one.thread_id for one in page)], page.next
    assert (found, after) == ([third, second, first], "")
    async with app.app.database.transaction() as conn:
        await conn.execute("UPDATE threads SET snoozed_until = now() WHERE thread_id = %s", [second])
        await conn.execute("UPDATE deliveries SET state = 'discarded' WHERE thread_id = %s", [third])
    async with app.app.database.reading() as conn:
        assert [one.thread_id for one in await inbox.inbox(conn, app.workspace, "needs_me", limit=9)] == [first]
        assert await inbox.count_needing_a_person(conn, app.workspace) == 1


async def test_a_page_of_drafts_read_the_event_of_every_draft(app: Tended, threads: list[UUID]) -> None:
    """However many wait, what is read for one page is that page: the statement stops at its limit."""
    async with app.app.database.reading() as conn:
        args = {"workspace": app.workspace, "reply_id": None, **DRAFTS.args("", 1)}
        await conn.execute("SET enable_seqscan = off")
        rows = await (await conn.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + DRAFTS_SQL.waiting, args)).fetchall()
        await conn.execute("RESET enable_seqscan")
        assert len(await waiting_drafts(conn, app.workspace)) == 3
    plan = json.dumps(rows[0]["QUERY PLAN"])
    assert [one for one in ("deliveries_waiting", "events_one_version") if one not in plan] == []
    assert "Seq Scan" not in plan


async def test_several_threads_are_resolved_at_once(app: Tended, threads: list[UUID], grace: httpx.AsyncClient) -> None:
    """The chosen ones are, and no others; an event says who did it."""
    page = await grace.get("/console/inbox?view=all")
    chosen = {f"thread {one}": "1" for one in threads[:2]}
    answer = await form(page, "/inbox/threads").send(grace, act="resolve", **chosen)
    assert "The threads were resolved." in text_of(answer)
    assert (answer.url.params["view"], answer.url.params["done"]) == ("all", "resolved"), "the list is the one before"
    rows = await app.rows("SELECT thread_id, state FROM threads")
    assert {row["thread_id"] for row in rows if row["state"] == "resolved"} == set(threads[:2])
    steps = await app.rows("SELECT data FROM events WHERE type = 'thread.transition_requested.v1'")
    assert {row["data"]["by"] for row in steps} == {"Grace"}


async def test_what_was_refused_is_said_of_each(threads: list[UUID], grace: httpx.AsyncClient) -> None:
    """A thread that is resolved already, and one that is none, are named with the reason; nothing in a name runs."""
    page = await grace.get("/console/inbox?view=all")
    sent = form(page, "/inbox/threads")
    await sent.send(grace, act="resolve", **{f"thread {threads[1]}": "1"})
    unknown = uuid4()
    answer = await sent.send(grace, act="resolve", **{f"thread {threads[1]}": "1", f"thread {unknown}": "1"})
    assert answer.status_code == 409
    assert f"there is no thread {unknown}" in text_of(answer)
    assert "Billing" in text_of(answer)
    assert "<script>alert" not in answer.text
    assert "\u202e" not in answer.text


@pytest.mark.parametrize("given", [{"act": "resolve"}, {"act": "resolve", "thread x": "1"}, {"act": "drop"}])
async def test_a_form_that_asks_for_nothing_is_refused(
    threads: list[UUID], grace: httpx.AsyncClient, given: dict[str, str]
) -> None:
    """No thread chosen, no thread at all, no act of ours: 422 in words."""
    page = await grace.get("/console/inbox?view=all")
    chosen = {f"thread {threads[0]}": "1"} if given["act"] == "drop" else {}
    answer = await form(page, "/inbox/threads").send(grace, **given, **chosen)
    assert answer.status_code == 422


async def test_ones_own_threads_are_a_view(app: Tended, threads: list[UUID], grace: httpx.AsyncClient) -> None:
    """What is assigned to one is theirs until it is resolved; a colleague does not see it there."""
    assert "No open thread is yours" in text_of(await grace.get("/console/inbox?view=mine"))
    page = await grace.get("/console/inbox?view=all")
    await form(page, "/inbox/threads").send(grace, act="assign", assignee="Grace", **{f"thread {threads[2]}": "1"})
    assert "Settings" in text_of(await grace.get("/console/inbox?view=mine"))
    await a_user(app.app, "Ann", "agent")
    async with signed_in(app.app, "Ann") as ann:
        assert "Settings" not in text_of(await ann.get("/console/inbox?view=mine"))
    await form(page, "/inbox/threads").send(grace, act="resolve", **{f"thread {threads[2]}": "1"})
    assert "Settings" not in text_of(await grace.get("/console/inbox?view=mine"))


async def test_a_viewer_chooses_nothing(app: Tended, threads: list[UUID]) -> None:
    """Who may not act is shown no boxes, and their form is refused."""
    async with signed_in(app.app, "Vic", role="viewer") as client:
        page = await client.get("/console/inbox?view=all")
        assert "Settings" in text_of(page)
        assert 'type="checkbox" form="bulk"' not in page.text
        assert (await client.post("/console/inbox/threads", data={"act": "resolve"})).status_code == 403


async def test_the_inbox_is_a_route_of_the_api(app: Tended, threads: list[UUID]) -> None:
    """The same views and the same search, page by page."""
    async with api(app) as client:
        first = await client.get("/api/inbox?limit=2&view=needs_me")
        rest = await client.get(first.links["next"]["url"])
        found = await client.get("/api/inbox", params={"q": "zebra"})
        nobodys = await client.get("/api/inbox?view=mine")
        wrong = await client.get("/api/inbox?view=nothing")
    assert {one["thread_id"] for one in first.json() + rest.json()} == {str(one) for one in threads}
    assert [one["thread_id"] for one in found.json()] == [str(threads[0])]
    assert nobodys.json() == []
    assert wrong.status_code == 422


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("pip", ("Pipeline",)),
        ("second fac", ("Password, keys, second factor, tokens",)),
        ("mil", (f"Ada Miller {ADA}",)),
        ("acme exam", (f"Ada Miller {ADA}",)),
        ("bill", ("Billing <script>alert(1)</script>",)),
        ("zebra", ("Export Ada Miller",)),
        ("qqq", ("No page, no person and no thread",)),
        ("'; & | ! :* <-> \\ \"", ("No page, no person and no thread",)),
        ("", ("Inbox", "Users", "What was done")),
    ],
)
async def test_a_few_letters_lead_to_pages_people_and_threads(
    grace: httpx.AsyncClient, typed: str, words: tuple[str, ...]
) -> None:
    """By the beginnings of words; what others wrote is text, and what cannot be searched for finds nothing."""
    page = await grace.get("/console/jump", params={"q": typed})
    assert page.status_code == 200
    assert HOSTILE not in page.text
    for one in words:
        assert one in text_of(page)


async def test_a_thread_is_found_by_its_id_and_a_viewer_is_led_to_no_page_of_admins(
    app: Tended, grace: httpx.AsyncClient, threads: list[UUID]
) -> None:
    """An id that is none of ours finds nothing."""
    assert "Settings Ada Miller" in text_of(await grace.get("/console/jump", params={"q": str(threads[2])}))
    assert "no thread has these words" in text_of(await grace.get("/console/jump", params={"q": str(uuid4())}))
    async with signed_in(app.app, "Vic", role="viewer") as viewer:
        page = text_of(await viewer.get("/console/jump"))
        assert "Pipeline" in page
        assert "What was done" not in page


async def test_people_are_found_by_words_of_name_and_address(app: Tended, grace: httpx.AsyncClient) -> None:
    """On their page and over the API, a page at a time; nobody is found by nothing that is a word."""
    assert "Ada Miller" in text_of(await grace.get("/console/people", params={"q": "mill acme"}))
    assert "No name and no address" in text_of(await grace.get("/console/people", params={"q": HOSTILE}))
    async with api(app) as client:
        named = [(await client.get("/api/participants", params={"q": q})).json() for q in ("ada", "bo", "::")]
    assert [[one["addr"] for one in found] for found in named] == [[ADA], [], []]


async def snooze(app: Tended, path: str, **sent: str) -> httpx.Response:
    """The form of a page, sent while the deployment works."""
    async with app.at_work(), signed_in(app.app) as client:
        return await form(await client.get(f"/console{path}"), "/snooze").send(client, **sent)


async def listed(app: Tended, view: str) -> set[UUID]:
    async with api(app) as client:
        found = (await client.get("/api/inbox", params={"view": view})).json()
    return {UUID(one["thread_id"]) for one in found}


@pytest.mark.parametrize("ends", ["moment", "mail", "escalation"])
async def test_a_snoozed_thread_is_off_the_lists_until_something_ends_it(empty: Tended, ends: str) -> None:
    """The moment, the customer's mail or an escalation brings it back, and the history says which; nothing else does."""
    thread_id = await empty.write("The export stops after 500 rows.")
    answer = await snooze(empty, f"/threads/{thread_id}", until="7d")
    assert "The thread is snoozed." in text_of(answer)
    assert "Off the lists until" in text_of(answer)
    await empty.wait(days=6)
    assert (await listed(empty, "needs_me"), await listed(empty, "snoozed")) == (set(), {thread_id})
    assert await listed(empty, "all") == {thread_id}
    if ends == "moment":
        await empty.wait(days=1)
    elif ends == "mail":
        (mail,) = await empty.rows("SELECT message_id FROM mails")
        assert await empty.write("And it is slow.", after=mail["message_id"]) == thread_id
    else:
        async with empty.at_work(), api(empty) as client:
            step = {"to": "escalated", "reason": "angry", "by": "bo"}
            assert (await client.post(f"/api/threads/{thread_id}/steps", json=step)).status_code == 200
    assert (await listed(empty, "needs_me"), await listed(empty, "snoozed")) == ({thread_id}, set())
    said = [one.detail for one in (await empty.thread(thread_id)).actions if one.action == "woken"]
    because = {"moment": "the time is over", "mail": "the customer wrote", "escalation": "the thread became escalated"}
    assert said == [because[ends]]
    rows = await empty.rows("SELECT 1 FROM timers WHERE event ->> 'purpose' = 'snooze'")
    assert rows == []


async def test_a_snooze_is_moved_and_ended_by_hand(empty: Tended) -> None:
    """The moment that was typed counts, on the clock of the office; an earlier one of the same thread is forgotten."""
    thread_id = await empty.write("The export stops after 500 rows.")
    await snooze(empty, f"/threads/{thread_id}", until="3h")
    async with empty.at_work(), api(empty) as client:
        later = empty.clock() + timedelta(days=2)
        wanted = {"until": later.isoformat(), "by": "bo"}
        moved = await client.put(f"/api/threads/{thread_id}/snooze", json=wanted)
        assert datetime.fromisoformat(moved.json()["snoozed_until"]) == later
    await empty.wait(hours=4)
    assert await listed(empty, "snoozed") == {thread_id}
    answer = await snooze(empty, f"/threads/{thread_id}")
    assert "The thread is on the list again." in text_of(answer)
    assert (await listed(empty, "needs_me"), await listed(empty, "snoozed")) == ({thread_id}, set())


async def test_several_threads_are_snoozed_at_once_and_what_is_done_is_not(
    app: Tended, threads: list[UUID], grace: httpx.AsyncClient
) -> None:
    """The one that is resolved is named with the reason; a moment that is none, or past, is refused for all."""
    sent = form(await grace.get("/console/inbox?view=all"), "/inbox/threads")
    await sent.send(grace, act="resolve", **{f"thread {threads[1]}": "1"})
    chosen = {f"thread {one}": "1" for one in threads}
    answer = await sent.send(grace, act="snooze", until="tomorrow", **chosen)
    assert answer.status_code == 409
    assert "the thread is resolved" in text_of(answer)
    assert await listed(app, "snoozed") == {threads[0], threads[2]}
    assert "until" in text_of(await grace.get("/console/inbox?view=snoozed"))
    for until, status in (("someday", 422), ("2001-01-01", 409), ("", 422)):
        assert (await sent.send(grace, act="snooze", until=until, **chosen)).status_code == status


async def test_a_view_is_narrowed_kept_and_forgotten(
    app: Tended, threads: list[UUID], grace: httpx.AsyncClient
) -> None:
    """Inbox, priority and tag narrow every view and a search; what is kept under a name is its user's alone."""
    async with api(app) as client:
        marks = {"priority": "urgent", "add_tags": ["invoices"], "by": "bo"}
        assert (await client.patch(f"/api/threads/{threads[1]}", json=marks)).status_code == 200
        narrowed = [
            (await client.get("/api/inbox", params=asked)).json()
            for asked in (
                {"priority": "urgent"},
                {"view": "all", "tag": "invoices"},
                {"q": "invoices", "priority": "urgent"},
                {"q": "zebra", "priority": "urgent"},
                {"view": "all", "inbox": "another"},
            )
        ]
        assert (await client.get("/api/inbox?priority=soon")).status_code == 422
    assert [[one["thread_id"] for one in found] for found in narrowed] == [[str(threads[1])]] * 3 + [[], []]
    page = await grace.get("/console/inbox?view=all&priority=urgent")
    assert "Billing" in text_of(page)
    assert "Settings" not in text_of(page)
    hostile = "Late money <script>alert(1)</script>"
    assert (await form(page, "/inbox/views").send(grace, name=f"Late\u202e{HOSTILE}"[:40])).status_code == 422
    kept = await form(page, "/inbox/views").send(grace, name=hostile)
    assert "The view is kept" in text_of(kept)
    assert hostile not in kept.text
    (address,) = html.fromstring(kept.text).xpath('//nav[@aria-label="Your views"]/a/@href')
    assert "Settings" not in text_of(await grace.get(address))
    await a_user(app.app, "Ann", "viewer")
    async with signed_in(app.app, "Ann") as ann:
        assert "Late money" not in (await ann.get("/console/inbox")).text
        own = form(await ann.get("/console/inbox?view=resolved"), "/inbox/views")
        assert "The view is kept" in text_of(await own.send(ann, name="Done"))
        assert (await own.send(ann, name="Done", priority="soon")).status_code == 422
        assert (await own.send(ann, name="two\nlines\0")).status_code == 422
    await remove_user(app.app, (await a_user(app.app, "Ann")).user_id)
    rows = await app.rows("SELECT name FROM saved_views")
    assert len(rows) == 1
    gone = await grace.post("/console/inbox/views", data={"form_token": own_token(kept), "forget": hostile})
    assert "The view is kept no longer" in text_of(gone)
    assert await app.rows("SELECT name FROM saved_views") == []


def own_token(page: httpx.Response) -> str:
    return form(page, "/sign-out").fields["form_token"]
