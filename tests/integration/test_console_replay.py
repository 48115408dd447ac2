"""Replays asked for on a page and over HTTP: what would differ is shown, nothing changes, and what cannot be is refused in words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from deploy.local import Endpoints
from services.core.bus.codec import encode
from services.core.bus.dead_letters import make_dead_letter
from services.core.bus.delivery import Delivery
from services.core.bus.event_row import EventRow
from services.core.db import row_as
from services.core.errors import Permanent
from services.core.web import make_app
from services.operations.dead_letters.dead_letter import DeadLetter, open_sealed
from services.operations.replay import requests
from services.operations.replay.case import save
from services.operations.replay.model import Asking
from services.operations.replay.redrive import CannotTry
from services.operations.replay.requests import ReplayBusy, Replays, TookTooLong
from services.operations.replay.run import past_cases
from services.operations.replay.selection import Selection
from services.operations.replay.steps import SQL
from services.operations.settings_changes import change
from services.receive_email.accept import accept
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.console import form, signed_in, text_of
from tests.support.letters import letter
from tests.support.tending import Tended, tending

PLACE = "/console/pipeline/replay"
TOKEN = "a token for tests"
BO = "bo@acme.example"
HOSTILE = "<script>alert(1)</script>"
CHANGES = {"web": {"api_token": TOKEN}}
HELD = (
    "events",
    "mails",
    "threads",
    "turns",
    "deliveries",
    "checkpoints",
    "participants",
    "facts",
    "timers",
    "aggregates",
)


async def two(one: Tended) -> None:
    """A mail, and one that answers in its thread."""
    await one.write(f"The export stops. {HOSTILE}")
    (mail,) = await one.rows("SELECT message_id FROM mails")
    await one.write("And it is slow.", after=mail["message_id"], cc=BO)


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment with a thread of two mails."""
    async with after(two, tending, stack, template_database, topic_prefix, tmp_path, **CHANGES) as one:
        yield one


@pytest.fixture
async def admin(app: Tended) -> AsyncIterator[httpx.AsyncClient]:
    """An admin who is signed in."""
    async with signed_in(app.app) as client:
        yield client


async def rows_held(app: Tended) -> dict[str, int]:
    counts = [await app.rows(f"SELECT count(*) AS n FROM {table}") for table in HELD]
    return {table: row[0]["n"] for table, row in zip(HELD, counts, strict=True)}


async def thread_of(app: Tended) -> UUID:
    (row,) = await app.rows("SELECT thread_id FROM threads")
    found: UUID = row["thread_id"]
    return found


async def ask(client: httpx.AsyncClient, **fields: str) -> httpx.Response:
    return await form(await client.get(PLACE), "/pipeline/replay").send(client, **fields)


async def test_what_a_changed_setting_would_change_is_shown_and_nothing_is_kept(
    app: Tended, admin: httpx.AsyncClient
) -> None:
    """Before the change nothing differs; after it the second mail of the thread would have been too many."""
    thread = str(await thread_of(app))
    asked = {"of": "thread", "named": thread, "until": "read_email"}
    alike = text_of(await ask(admin, **asked))
    assert "2 replayed: nothing differs." in alike
    assert "begin with turns" in alike
    assert "begin with turns" not in text_of(await ask(admin, **asked, topic="inbound-email.raw"))
    await change(app.app, {"limits.thread_per_hour": 1}, base=None, by="Grace")
    before = await rows_held(app)
    page = await ask(admin, **asked)
    said = text_of(page)
    assert "1 of 2 differs." in said
    assert "more than 1 mails in this thread within an hour" in said
    assert HOSTILE not in page.text
    assert await rows_held(app) == before
    assert await app.rows("SELECT 1 FROM pg_namespace WHERE starts_with(nspname, 'replay')") == []


async def test_a_program_asks_for_the_same(app: Tended) -> None:
    """Results as data; without anything named, with a processor that sends, or an id of nothing: refused, or empty."""
    thread = str(await thread_of(app))
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as api:
        whole = await api.post("/api/replays", json={"thread": thread})
        topic = await api.post(
            "/api/replays", json={"thread": thread, "topic": "inbound-email", "until": "track_threads"}
        )
        nothing = await api.post("/api/replays", json={"thread": str(UUID(int=1))})
        refused = [
            await api.post("/api/replays", json={}),
            await api.post("/api/replays", json={"thread": thread, "until": "send_email"}),
            await api.post("/api/replays", json={"thread": thread, "model": "other"}),
        ]
    assert [(one["event"], one["same"], one["thread_id"]) for one in whole.json()["cases"]] == [
        ("memory.loaded.v1", True, thread)
    ] * 2
    assert [one["same"] for one in topic.json()["cases"]] == [True, True]
    assert nothing.json() == {"cases": [], "total": 0, "late": False}
    assert [one.status_code for one in refused] == [422, 422, 422]
    assert [one.json()["error"] for one in refused[:2]] == ["nothing_named", "not_replayable"]


async def test_a_saved_case_is_replayed_from_its_file(app: Tended, admin: httpx.AsyncClient, tmp_path: Path) -> None:
    """A file of `correspondent replay --save`; what is none is refused in words."""
    wanted = Selection(until="track_threads", thread=await thread_of(app), topic="inbound-email")
    cases = [case async for case, _ in past_cases(app.app.settings, wanted, documents=False)]
    saved = save(cases[0], tmp_path / "cases").read_bytes()
    fields = form(await admin.get(PLACE), "/pipeline/replay").fields
    for content, status, words in (
        (saved, 200, "1 replayed: nothing differs."),
        (b"{}", 422, "cannot be read as a case"),
    ):
        page = await admin.post(PLACE, data=fields, files={"file": ("one.json", content)})
        assert (page.status_code, words in text_of(page)) == (status, True), text_of(page)


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({}, 422, "Say of what"),
        ({"of": "thread", "named": "no id"}, 422, "is no id of an event or a thread"),
        ({"of": "person", "named": "nobody@nowhere.example"}, 404, "It cannot be replayed"),
        ({"since": "2026-13-01"}, 422, "is no day"),
        ({"since": "2001-01-01", "before": "2001-01-02"}, 200, "Nothing of that kind happened"),
        ({"of": "event", "named": str(UUID(int=1))}, 422, "there is no event"),
    ],
)
async def test_what_cannot_be_replayed_is_said(
    admin: httpx.AsyncClient, fields: dict[str, str], status: int, words: str
) -> None:
    """With what was typed kept."""
    page = await ask(admin, **fields)
    assert (page.status_code, words in text_of(page)) == (status, True), text_of(page)
    if "named" in fields:
        assert form(page, "/pipeline/replay").fields["named"] == fields["named"]


async def dead_letter_of(app: Tended, event_type: str, group: str) -> DeadLetter:
    """What became of the newest event of a type: its processor could not handle it."""
    query = "SELECT id FROM events WHERE type = %(type)s ORDER BY seq DESC LIMIT 1"
    (found,) = await app.rows(query, type=event_type)
    async with app.app.database.reading() as conn:
        row = await row_as(conn, EventRow.of, SQL.event, {"id": found["id"]})
    assert row is not None
    record = encode(row.envelope())
    came = Delivery(record.topic, 0, 7, record.key, record.value, record.headers, 0)
    dead = make_dead_letter(came, group=group, error=Permanent("away"), attempts=3, at=app.clock())
    return await open_sealed(Delivery(dead.topic, 0, 1, dead.key, dead.value, dead.headers, 0), group, app.app.keys)


async def test_a_redrive_of_a_mail_is_seen_in_the_thread_that_it_answers(app: Tended) -> None:
    """Whom only its references name: what would be recorded stands on what is stored by now, and the real one is just that."""
    (mail,) = await app.rows("SELECT message_id, thread_id FROM mails ORDER BY received_at DESC LIMIT 1")
    raw = letter(
        "Still slow.",
        sender=BO,
        subject="Re: Export",
        message_id="<third@acme.example>",
        in_reply_to=mail["message_id"],
    )
    await accept(app.app, app.app.settings.inboxes[0], raw, source="file", source_key="third")
    dead = await dead_letter_of(app, "mail.received.v1", "read_email")
    before = await rows_held(app)
    case = await Replays(app.app).redriven(dead, Asking())
    assert await rows_held(app) == before
    assert (case.error, [one.event for one in case.differences]) == ("", ["email.read.v1"])
    assert f"thread_id: {mail['thread_id']}" in case.differences[0].after
    await app.settle()
    assert [one["thread_id"] for one in await app.rows("SELECT thread_id FROM mails")] == [mail["thread_id"]] * 3
    with pytest.raises(CannotTry, match="handled already"):
        await Replays(app.app).redriven(dead, Asking())


async def test_a_redrive_that_would_fail_again_says_why(app: Tended) -> None:
    """The reason, and no event; a processor that no replay runs is refused."""
    await accept(
        app.app,
        app.app.settings.inboxes[0],
        letter("Hello", message_id="<gone@x.example>"),
        source="file",
        source_key="g",
    )
    dead = await dead_letter_of(app, "mail.received.v1", "read_email")
    for blob in (app.app.settings.home / "blobs").rglob("*"):
        if blob.is_file():
            blob.unlink()
    case = await Replays(app.app).redriven(dead, Asking())
    assert "BlobMissing" in case.error
    sender = await dead_letter_of(app, "reply.drafted.v1", "send_email")
    with pytest.raises(CannotTry, match="send_email cannot be replayed"):
        await Replays(app.app).redriven(sender, Asking())


async def test_one_replays_at_a_time_and_within_a_minute(app: Tended, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes meanwhile is told so; what takes too long is given up, and leaves nothing."""
    replays = Replays(app.app)
    async with replays._alone():
        with pytest.raises(ReplayBusy):
            await replays.past(Selection(thread=await thread_of(app)), Asking())
    monkeypatch.setattr(requests, "WITHIN_S", 0)
    tried = await replays.past(Selection(thread=await thread_of(app)), Asking())
    assert (tried.cases, tried.late) == ((), True)
    with pytest.raises(TookTooLong):
        await replays.redriven(await dead_letter_of(app, "mail.received.v1", "read_email"), Asking())
    assert await app.rows("SELECT 1 FROM pg_namespace WHERE starts_with(nspname, 'replay')") == []
