"""The inbox as a place to work in: found by what was said, one's own threads, several threads at once; the same over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest

from deploy.local import Endpoints
from services.core.web import make_app
from services.web.routes import routes
from tests.support.console import a_user, form, signed_in, text_of
from tests.support.remembering import ADA
from tests.support.tending import Tended, tending

TOKEN = "a token for tests"
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment in which every reply waits for a person."""
    changes = {"send": {"approval": "review"}, "web": {"api_token": TOKEN}}
    async with tending(stack, database, topic_prefix, tmp_path, **changes) as one:
        yield one


@pytest.fixture
async def threads(app: Tended) -> AsyncIterator[list[UUID]]:
    """Three threads of Ada's, and everybody at work."""
    first = await app.write("The zebra crossing export stops after 500 rows.", sender=f"Ada Miller <{ADA}>")
    second = await app.write("My invoices are late.", subject=f"Billing {HOSTILE}")
    third = await app.write("Where are the settings?", subject="Settings")
    async with app.at_work():
        yield [first, second, third]


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


async def test_several_threads_are_resolved_at_once(app: Tended, threads: list[UUID], grace: httpx.AsyncClient) -> None:
    """The chosen ones are, and no others; an event says who did it."""
    page = await grace.get("/console/inbox?view=all")
    chosen = {f"thread {one}": "1" for one in threads[:2]}
    answer = await form(page, "/inbox/threads").send(grace, act="resolve", **chosen)
    assert "The threads were resolved." in text_of(answer)
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
        ("second fac", ("Password, second factor, tokens",)),
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
