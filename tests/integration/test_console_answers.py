"""A person answers on the page: reply, files, taking back, conflict with their words kept, taking over, assigning."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest

from deploy.local import Endpoints
from services.core.web import make_app
from services.operations.threads.changes import LASTS_S
from services.web.console.answer import HOLD_S
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.console import a_user, form, signed_in, text_of
from tests.support.tending import Tended, tending

HOSTILE = "</textarea><script>alert(1)</script>"


async def waiting(one: Tended) -> None:
    """A mail whose reply waits."""
    await one.write("The CSV export stops.", subject="Export")


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment in which every reply waits for a person, with a mail that does, and processors at work."""
    async with (
        after(waiting, tending, stack, template_database, topic_prefix, tmp_path, send={"approval": "review"}) as one,
        one.at_work(),
    ):
        yield one


@pytest.fixture
async def grace(app: Tended) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who answers."""
    async with signed_in(app.app, role="agent") as client:
        yield client


async def thread_of(app: Tended) -> UUID:
    """The one thread."""
    (row,) = await app.rows("SELECT thread_id FROM threads")
    found: UUID = row["thread_id"]
    return found


async def test_a_reply_is_held_and_can_be_taken_back(app: Tended, grace: httpx.AsyncClient) -> None:
    """It waits ten seconds whether or not the tab is open; taken back, nothing leaves, and the thread is theirs."""
    place = f"/console/threads/{await thread_of(app)}"
    sent = await form(await grace.get(place), "/reply").send(grace, text=f"We are on it. {HOSTILE}")
    assert "Your reply is on its way" in text_of(sent)
    (row,) = await app.rows(
        "SELECT d.state, d.retry_at, u.by FROM deliveries d JOIN turns u USING (turn_id) WHERE u.by <> ''"
    )
    assert (row["state"], row["by"]) == ("approved", "Grace")
    assert 0 < (row["retry_at"] - app.clock()).total_seconds() <= HOLD_S
    back = await form(await grace.get(place), "/cancel").send(grace)
    assert "taken back" in text_of(back)
    states = await app.rows("SELECT state FROM deliveries d JOIN turns u USING (turn_id) WHERE u.by <> ''")
    assert [one["state"] for one in states] == ["discarded"]
    while not await app.rows("SELECT 1 FROM threads WHERE assignee = 'Grace'"):  # track_threads hears of it next
        await asyncio.sleep(0.05)


async def test_files_go_along_and_name_no_place(app: Tended, grace: httpx.AsyncClient) -> None:
    """A file of a reply is stored as it was sent, byte for byte; its name is a name alone."""
    thread = await thread_of(app)
    filled = form(await grace.get(f"/console/threads/{thread}"), "/reply")
    content = bytes(range(256)) + b"\r\n--x\n"
    given = [("files", ("../../etc/\u202epasswd.txt", content, "text/plain")), ("files", ("", b"", "text/plain"))]
    answer = await grace.post(filled.action, data=filled.fields | {"text": "Here it is."}, files=given)
    assert "on its way" in text_of(answer)
    (event,) = await app.rows("SELECT data FROM events WHERE type = 'thread.reply_accepted.v1'")
    (file,) = event["data"]["files"]
    assert file["filename"] == "·passwd.txt"
    assert file["size"] == len(content)


async def test_what_came_meanwhile_is_shown_and_the_words_are_kept(app: Tended, grace: httpx.AsyncClient) -> None:
    """Nothing is sent; the same form then goes, since the page now shows what came."""
    place = f"/console/threads/{await thread_of(app)}"
    filled = form(await grace.get(place), "/reply")
    await app.write("One more thing: PDF stops, too.", subject="Re: Export", after="<m1@acme.example>")
    page = await filled.send(grace, text=f"My words {HOSTILE}", then="resolve")
    assert page.status_code == 409
    assert "What came since you looked" in text_of(page)
    assert "PDF stops" in text_of(page)
    assert "<script>alert(1)" not in page.text
    kept = form(page, "/reply")
    assert kept.fields["text"] == f"My words {HOSTILE}"
    assert kept.fields["then"] == "resolve"
    assert not await app.rows("SELECT 1 FROM turns WHERE by <> ''")
    again = await kept.send(grace)
    assert "on its way" in text_of(again)


@pytest.mark.parametrize(
    "changed", [{"text": " "}, {"text": "x" * 32_001}, {"then": "explode"}, {"thread_version": "-1"}]
)
async def test_what_cannot_be_sent_says_why_and_keeps_the_words(
    app: Tended, grace: httpx.AsyncClient, changed: dict[str, str]
) -> None:
    """Nothing is asked for, and the page shows what was written."""
    filled = form(await grace.get(f"/console/threads/{await thread_of(app)}"), "/reply")
    page = await filled.send(grace, **({"text": "Words"} | changed))
    assert page.status_code == 409
    assert "Not sent" in text_of(page)
    if changed.get("text") is None:
        assert form(page, "/reply").fields["text"] == "Words"


async def test_a_person_takes_over_assigns_and_hands_back(app: Tended, grace: httpx.AsyncClient) -> None:
    """Taking over gives the agent's draft up; whoever answers can be assigned, a viewer is not offered."""
    await a_user(app.app, "Bob", "agent")
    await a_user(app.app, "Vic", "viewer")
    place = f"/console/threads/{await thread_of(app)}"
    page = await form(await grace.get(place), "/take").send(grace)
    assert "You have the thread" in text_of(page)
    (row,) = await app.rows("SELECT state, assignee FROM threads")
    assert (row["state"], row["assignee"]) == ("escalated", "Grace")
    assert "<option>Bob</option>" in page.text
    assert "<option>Vic</option>" not in page.text
    await form(page, "/assign").send(grace, assignee="Bob")
    (row,) = await app.rows("SELECT assignee FROM threads")
    assert row["assignee"] == "Bob"
    page = await form(await grace.get(place), "/move").send(grace, to="in_progress")
    assert "state was changed" in text_of(page)
    (row,) = await app.rows("SELECT state FROM threads")
    assert row["state"] == "in_progress"


@pytest.mark.parametrize(
    "body", [b"", b"--x\r\n", b"no boundary at all", b"--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--"]
)
async def test_a_form_that_cannot_be_read_does_nothing(app: Tended, grace: httpx.AsyncClient, body: bytes) -> None:
    """A broken multipart body is refused in words."""
    place = f"/console/threads/{await thread_of(app)}/reply"
    for kind in (
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "multipart/form-data; boundary=" + "y" * 300,
    ):
        answer = await grace.post(place, content=body, headers={"Content-Type": kind})
        assert answer.status_code in (403, 422)
    assert not await app.rows("SELECT 1 FROM turns WHERE by <> ''")


CANNED = [
    {"name": "Thanks", "text": "Hi {first_name|there},\n\nthank you for writing about {subject}.\n\n{me}"},
    {"name": "Elsewhere", "text": "Not for this inbox.", "inbox": "billing"},
]


async def for_a_person(one: Tended) -> None:
    """A mail that only a person can answer, from a name that means harm."""
    await one.write("HUMAN", subject=f"Export {HOSTILE}", sender=f'"Ada {HOSTILE}" <ada@acme.example>')


@pytest.fixture
async def escalated(
    stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path
) -> AsyncIterator[Tended]:
    """A thread that a person has, with the agent's suggestion in a note; there are canned answers."""
    changes = {"canned_answers": CANNED, "web": {"api_token": "a token for tests"}}
    async with after(for_a_person, tending, stack, template_database, topic_prefix, tmp_path, **changes) as one:
        yield one


async def test_a_canned_answer_is_added_behind_what_was_written(escalated: Tended) -> None:
    """With its variables, for this inbox; nothing leaves, nothing that a customer wrote runs, and a copy is kept."""
    async with signed_in(escalated.app, role="agent") as client:
        place = f"/console/threads/{await thread_of(escalated)}"
        page = await client.get(place)
        assert "Elsewhere" not in page.text
        write = form(page, "/reply")
        added = await client.post(
            f"{place}/compose", data=write.fields | {"text": "My words.", "cc": "bob@acme.example", "canned": "Thanks"}
        )
        kept = form(added, "/reply").fields
        unknown = await client.post(f"{place}/compose", data=write.fields | {"canned": "Elsewhere"})
    assert added.status_code == 200
    assert kept["text"].startswith("My words.\n\nHi Ada,\n\nthank you for writing about Export")
    assert kept["text"].endswith("\n\nGrace")
    assert kept["cc"] == "bob@acme.example"
    assert "<script>alert" not in added.text
    assert unknown.status_code == 409
    assert await escalated.rows("SELECT 1 FROM deliveries d JOIN turns u USING (turn_id) WHERE u.by <> ''") == []


async def test_canned_answers_are_a_route_of_the_api(escalated: Tended) -> None:
    """Filled in for the thread, those of its inbox alone; 404 for no thread."""
    transport = httpx.ASGITransport(make_app([routes(escalated.app)]), raise_app_exceptions=False)
    headers = {"authorization": "Bearer a token for tests"}
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as api:
        (one,) = (await api.get(f"/api/threads/{await thread_of(escalated)}/canned-answers")).json()
        nobodys = await api.get(f"/api/threads/{uuid4()}/canned-answers")
    assert one["name"] == "Thanks"
    assert one["text"].startswith("Hi Ada,")
    assert nobodys.status_code == 404


async def test_a_copy_goes_to_whom_the_person_typed(app: Tended, grace: httpx.AsyncClient) -> None:
    """An address in Cc is asked for; what is none is refused, and the words are kept."""
    place = f"/console/threads/{await thread_of(app)}"
    refused = await form(await grace.get(place), "/reply").send(grace, text="Look.", cc="no address")
    assert (refused.status_code, form(refused, "/reply").fields["text"]) == (409, "Look.")
    assert form(refused, "/reply").fields["cc"] == "no address"
    sent = await form(refused, "/reply").send(grace, cc="bob@acme.example, eve@acme.example")
    assert "Your reply is on its way" in text_of(sent)
    (event,) = await app.rows("SELECT data FROM events WHERE type = 'thread.reply_requested.v1'")
    assert event["data"]["cc"] == ["bob@acme.example", "eve@acme.example"]


async def test_a_colleague_sees_who_is_writing(app: Tended, grace: httpx.AsyncClient) -> None:
    """For half a minute, in the page and in what it asks; a viewer is never said to write, and nothing is recorded."""
    place = f"/console/threads/{await thread_of(app)}"
    async with signed_in(app.app, "Ann", role="agent") as ann, signed_in(app.app, "Vic", role="viewer") as vic:
        assert (await ann.get(f"{place}/writing?mine=1")).json() == {"names": []}
        await vic.get(f"{place}/writing?mine=1")
        assert (await grace.get(f"{place}/writing")).json() == {"names": ["Ann"]}
        assert "Ann is writing" in text_of(await grace.get(place))
        app.clock.forward(app.clock() + timedelta(seconds=LASTS_S))
        assert (await grace.get(f"{place}/writing")).json() == {"names": []}
    assert await app.rows("SELECT 1 FROM console_audit WHERE act LIKE '%%writing'") == []
