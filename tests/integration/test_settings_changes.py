"""Settings that are changed while the deployment runs: stored, taken on by every process, told apart, taken back."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.local import Endpoints
from schemas.events.threads import TurnOpened
from services.core import settings_keeper, stored_settings
from services.core.app import App, open_app
from services.core.bus.processor import Processor
from services.core.bus.runner import Runner
from services.core.bus.work import Work
from services.core.db.notices import listen
from services.core.settings import Settings
from services.core.settings.changeable import value_of
from services.core.web import make_app
from services.operations.health.state import read_health
from services.operations.settings_changes import SettingConflict, SettingRefused, change, history, undo
from services.operations.users import tokens
from services.web.routes import routes
from tests.support.bus import PATIENCE_S
from tests.support.console import a_user, form, signed_in, text_of
from tests.support.tending import Tended, tending

TOKEN = "a token for tests"
PERSONA, LIMIT = "inboxes[support].persona", "limits.thread_per_hour"
INSERT = """INSERT INTO settings_changes (workspace, version, name, is_set, value, at, by, reason)
    VALUES (%(workspace)s, %(version)s, %(name)s, true, %(value)s::jsonb, now(), 'a hand', '')"""


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment whose file says a little."""
    inbox = {"name": "support", "address": "support@ourcompany.example", "vouched_by": "t", "persona": "The file's."}
    reads = [{"name": "reader", "token": "only-for-reading-1", "scopes": ["settings:read", "operations:read"]}]
    changes: dict[str, Any] = {"inboxes": [inbox], "web": {"api_token": TOKEN, "tokens": reads}}
    async with tending(stack, database, topic_prefix, tmp_path, **changes) as one:
        yield one


async def stored_by_hand(app: Tended, name: str, value: str, version: int = 1) -> None:
    """A row that no change of ours would make, as a database may hold it after an upgrade."""
    async with app.app.database.reading() as conn:
        row = {"workspace": app.workspace, "version": version, "name": name, "value": value}
        await conn.execute(INSERT, row)


async def events(app: Tended, kind: str) -> list[dict[str, Any]]:
    """What the events of a type hold, oldest first."""
    async with app.app.database.reading() as conn:
        from services.core.db import fetch_all

        rows = await fetch_all(conn, "SELECT data FROM events WHERE type = %(type)s ORDER BY seq", {"type": kind})
    return [row["data"] for row in rows]


@asynccontextmanager
async def another_process(settings: Settings) -> AsyncIterator[App]:
    """An App of its own that listens and looks as a process does."""
    stop, changed = asyncio.Event(), asyncio.Event()
    async with open_app(settings, publishes=False) as one, asyncio.TaskGroup() as group:
        heard = {settings_keeper.CHANNEL: lambda _: changed.set()}
        group.create_task(settings_keeper.keep(one, stop, changed))
        group.create_task(listen(settings.database_url, heard, stop))
        try:
            yield one
        finally:
            stop.set()


async def taken_on(app: App, version: int) -> None:
    """Wait until a process goes by a version."""
    async with asyncio.timeout(PATIENCE_S):
        while app.in_force.stored.version != version:
            await asyncio.sleep(0.02)


async def test_the_next_reply_is_made_with_what_was_changed(app: Tended) -> None:
    """Persona and approval hold for the next mail without a restart, and the draft says under which version."""
    await app.write("What does it cost?")
    await change(app.app, {PERSONA: "You are brief.", "send.approval": "review"}, base=None, by="grace")
    await app.write("What does it cost?", subject="Again", sender="bo@bo.example")
    before, after = await events(app, "memory.loaded.v1")
    assert (before["settings"]["persona"]["value"], before["settings_version"]) == ("The file's.", 0)
    assert (after["settings"]["persona"]["value"], after["settings_version"]) == ("You are brief.", 1)
    assert [one["settings_version"] for one in await events(app, "reply.drafted.v1")] == [0, 1]


async def test_limits_and_service_levels_hold_at_once(app: Tended) -> None:
    """A promise of an hour gives the next mail a deadline; over a limit of one the second mail is a person's."""
    values = {LIMIT: 1, "service_levels.normal.first_response_hours": 1}
    await change(app.app, values, base=None, by="grace")
    thread = await app.write("What does it cost?")
    (deadline,) = await app.rows("SELECT kind FROM thread_deadlines WHERE thread_id = %(id)s", id=thread)
    assert deadline["kind"] == "first_response"
    await app.write("And a year?", after="<m1@acme.example>")
    filters = await app.rows("SELECT filter, verdict FROM mails ORDER BY received_at, mail_id")
    assert "human" in {one["verdict"] for one in filters}


async def test_another_process_takes_a_change_on(app: Tended) -> None:
    """It hears of it; one that starts later begins with it."""
    async with another_process(app.app.in_force.given or app.app.settings) as other:
        await change(app.app, {LIMIT: 4}, base=None, by="grace")
        await taken_on(other, 1)
        assert other.settings.limits.thread_per_hour == 4
    async with open_app(app.app.in_force.given or app.app.settings, publishes=False) as later:
        assert (later.settings.limits.thread_per_hour, later.in_force.stored.version) == (4, 1)


async def test_an_announcement_that_was_lost_costs_seconds(app: Tended, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process looks by itself, too."""
    monkeypatch.setattr(settings_keeper, "LOOK_S", 0.1)
    async with app.app.database.reading() as conn:
        await conn.execute("ALTER TABLE settings_changes DISABLE TRIGGER settings_changes_announced")
    async with another_process(app.app.settings) as other:
        await change(app.app, {LIMIT: 5}, base=None, by="grace")
        await taken_on(other, 1)
        assert other.settings.limits.thread_per_hour == 5


KILLED = """
import asyncio, os, signal, sys
from services.core.app import open_app
from services.core.settings import Settings
from services.operations.settings_changes import changes

async def dies(app):
    os.kill(os.getpid(), signal.SIGKILL)

async def run():
    settings = Settings.model_validate_json(sys.stdin.read())
    async with open_app(settings, publishes=False) as app:
        changes.look = dies
        await changes.change(app, {"limits.thread_per_hour": 6}, base=None, by="grace")

asyncio.run(run())
"""


async def test_a_process_that_dies_when_it_has_stored_has_announced_too(app: Tended, monkeypatch: Any) -> None:
    """Postgres announces with the commit: no step between the two can be lost."""
    monkeypatch.setattr(settings_keeper, "LOOK_S", 3600.0)
    given = {
        "database_url": app.app.settings.database_url,
        "workspace": app.workspace,
        "home": str(app.app.settings.home),
    }
    async with another_process(app.app.settings) as other:
        await asyncio.sleep(0.5)  # it listens by then
        command = (sys.executable, "-c", KILLED)
        pipes = {"stdin": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE}
        process = await asyncio.create_subprocess_exec(*command, **pipes)  # type: ignore[arg-type]
        import json

        _, said = await process.communicate(json.dumps(given).encode())
        assert process.returncode == -9, said.decode()
        await taken_on(other, 1)
        assert other.settings.limits.thread_per_hour == 6


async def test_what_is_being_handled_keeps_its_settings(app: Tended) -> None:
    """A handler reads the same settings from its beginning to its end; the next one reads the new ones."""
    seen: list[int] = []

    async def handle(work: Work[TurnOpened]) -> None:
        seen.append(work.app.settings.limits.thread_per_hour)
        await change(app.app, {LIMIT: len(seen) + 20}, base=None, by="grace")
        seen.append(work.app.settings.limits.thread_per_hour)

    await app.write("What does it cost?")
    await app.write("What does it cost?", subject="Again", sender="bo@bo.example")
    from services.core.bus.event_row import EventRow
    from services.core.db import fetch_all

    async with app.app.database.reading() as conn:
        rows = await fetch_all(conn, "SELECT * FROM events WHERE type = 'turn.opened.v1' ORDER BY seq")
    runner = Runner(Processor(name="of_a_test", handlers={TurnOpened: handle}), app.app)
    for row in rows:
        await runner.process(EventRow.of(**row).envelope())
    assert seen == [10, 10, 21, 21]


async def test_two_people_change_different_settings_and_both_hold(app: Tended) -> None:
    """Each saw version 0; what each of them did not touch is the other's."""
    await change(app.app, {LIMIT: 3, "limits.same_words": 3}, base=0, by="ann")
    second = await change(app.app, {LIMIT: 10, "limits.same_words": 7}, base=0, by="bo")
    assert (second.version, second.values) == (2, {"limits.same_words": 7})
    held = app.app.settings.limits
    assert (held.thread_per_hour, held.same_words) == (3, 7)


async def test_two_people_change_one_setting_and_the_second_is_told(app: Tended) -> None:
    """Nothing of theirs is stored, also what would have fitted; the same value twice is no conflict."""
    await change(app.app, {LIMIT: 3}, base=0, by="ann")
    with pytest.raises(SettingConflict) as caught:
        await change(app.app, {LIMIT: 4, "limits.same_words": 9}, base=0, by="bo")
    (one,) = caught.value.conflicts
    assert (one.name, one.theirs, one.yours, one.by, caught.value.version) == (LIMIT, 3, 4, "ann", 1)
    assert app.app.settings.limits.same_words == 3
    same = await change(app.app, {LIMIT: 3}, base=0, by="bo")
    assert (same.version, same.names) == (1, ())
    assert (await change(app.app, {LIMIT: 4}, base=1, by="bo")).version == 2


async def test_changes_at_the_same_time_get_a_version_each(app: Tended) -> None:
    """None is lost and none overwrites another."""
    names = ["sender_per_hour", "thread_per_hour", "all_per_hour", "unproven_per_hour"]
    await asyncio.gather(*(change(app.app, {f"limits.{name}": 77}, base=0, by=name) for name in names))
    assert [one.version for one in await history(app.app, limit=10)] == [4, 3, 2, 1]
    await settings_keeper.look(app.app)
    assert {getattr(app.app.settings.limits, name) for name in names} == {77}


async def test_a_change_is_taken_back_unless_it_was_changed_again(app: Tended) -> None:
    """Taking back is a change of its own, which can be taken back; values of before come back, the file's too."""
    await change(app.app, {LIMIT: 3}, base=None, by="ann")
    await change(app.app, {LIMIT: 4, PERSONA: "Brief."}, base=None, by="ann", reason="busy")
    back = await undo(app.app, 2, by="bo")
    assert (back.version, back.values, back.unset) == (3, {LIMIT: 3}, (PERSONA,))
    assert app.app.settings.inboxes[0].persona == "The file's."
    again = await undo(app.app, 3, by="bo")
    assert (again.values, app.app.settings.inboxes[0].persona) == ({LIMIT: 4, PERSONA: "Brief."}, "Brief.")
    with pytest.raises(SettingConflict):
        await undo(app.app, 1, by="bo")
    with pytest.raises(SettingRefused):
        await undo(app.app, 99, by="bo")
    newest = (await history(app.app, limit=1))[0]
    assert (newest.version, newest.by, newest.undoes) == (4, "bo", 3)


async def test_unset_is_as_the_file_has_it(app: Tended) -> None:
    """And unset what never was set changes nothing."""
    await change(app.app, {PERSONA: "Brief."}, base=None, by="ann")
    gone = await change(app.app, {}, [PERSONA], base=None, by="ann")
    assert (gone.unset, app.app.settings.inboxes[0].persona) == ((PERSONA,), "The file's.")
    assert (await change(app.app, {}, [PERSONA], base=None, by="ann")).names == ()
    assert (await change(app.app, {PERSONA: "The file's."}, base=None, by="ann")).names == ()


async def test_a_stored_value_that_does_not_fit_any_more_is_said_and_stops_nothing(app: Tended) -> None:
    """After an upgrade a name may be gone or a value refused: the file's holds, and status and console say so."""
    await stored_by_hand(app, "limits.renamed_since", "1")
    await stored_by_hand(app, LIMIT, '"many"', 2)
    await stored_by_hand(app, "inboxes[gone].persona", '"x"', 3)
    await stored_by_hand(app, "limits.same_words", "8", 4)
    async with open_app(app.app.in_force.given or app.app.settings, publishes=False) as later:
        assert (later.settings.limits.thread_per_hour, later.settings.limits.same_words) == (10, 8)
        assert set(later.in_force.ignored) == {"limits.renamed_since", LIMIT, "inboxes[gone].persona"}
        said = dict((await read_health(later)).problems())
        assert "does not count" in said[f"setting {LIMIT}"]
    await settings_keeper.look(app.app)
    async with signed_in(app.app) as grace:
        page = await grace.get("/console/settings")
        assert "Stored changes that do not count" in text_of(page)
        assert "limits.renamed_since" in text_of(page)
        changed = await form(await grace.get("/console/settings/change/limits"), "/change/limits").send(
            grace, act="save", **{LIMIT: "12"}
        )
        assert changed.status_code == 200, text_of(changed)
    assert app.app.settings.limits.thread_per_hour == 12
    assert (await change(app.app, {}, ["limits.renamed_since"], base=None, by="ann")).unset == ("limits.renamed_since",)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("database_url", "postgresql://evil"),
        ("web.api_token", "mine"),
        ("inboxes[support].address", "evil@evil.example"),
        ("inboxes[support].imap.host", "evil.example"),
        (LIMIT, 0),
        (LIMIT, "NaN"),
        (LIMIT, float("nan")),
        (LIMIT, [1]),
        (PERSONA, "a\x00b"),
        (PERSONA, "a\ud800b"),
        (PERSONA, {"a": object()}),
        (PERSONA, "x" * 50_000),
        ("inboxes[support].display_name", "Support\r\nBcc: evil@evil.example"),
        ("inboxes[support].unproven_subject", "a\x07b"),
        ("office_hours.hours", {"mon": "9"}),
        ("office_hours.hours", {"mon\x00": "09:00-10:00"}),
        ("inboxes[" + "x" * 5000 + "].persona", "x"),
    ],
)
async def test_what_is_not_listed_or_does_not_fit_is_refused(app: Tended, name: str, value: Any) -> None:
    """With its name, and without anything being stored."""
    with pytest.raises(SettingRefused) as caught:
        await change(app.app, {name: value, "limits.same_words": 9}, base=None, by="eve")
    assert set(caught.value.faults) == {name}
    assert await app.rows("SELECT 1 FROM settings_changes") == []


async def test_the_form_of_a_group_shows_file_value_and_who_changed_it(app: Tended) -> None:
    """It previews, saves, says what is wrong at its field, and gives a setting back to the file."""
    async with signed_in(app.app) as grace:
        place = "/console/settings/change/inboxes%5Bsupport%5D"
        sent = form(await grace.get(place), place)
        assert sent.fields[PERSONA] == "The file's."
        shown = await sent.send(grace, act="preview", **{PERSONA: "Be <b>brief</b>."})
        assert "What would change" in text_of(shown)
        assert "Be <b>brief</b>." in text_of(shown)
        assert "<b>brief" not in shown.text
        assert app.app.in_force.stored.version == 0
        saved = await form(shown, place).send(grace, act="save", reason="too long")
        assert "Stored." in text_of(saved)
        assert app.app.settings.inboxes[0].persona == "Be <b>brief</b>."
        page = await grace.get(place)
        assert "Changed by Grace" in text_of(page)
        assert "In the file: The file's." in text_of(page)
        wrong = await form(page, place).send(grace, act="save", **{"inboxes[support].replies_per_hour": "lots"})
        assert wrong.status_code == 422
        assert 'aria-invalid="true"' in wrong.text
        assert "must be a" in text_of(wrong)
        back = await form(page, place).send(grace, act="save", **{f"file {PERSONA}": "1"})
        assert "Stored." in text_of(back)
        assert app.app.settings.inboxes[0].persona == "The file's."
        log = text_of(await grace.get("/console/settings/history"))
        assert "Change 2" in log
        assert "too long" in log
        undone = await form(await grace.get("/console/settings/history"), "/history/2/undo").send(grace)
        assert "takes back 2" in text_of(undone)
        assert app.app.settings.inboxes[0].persona == "Be <b>brief</b>."
        audit = text_of(await grace.get("/console/users/audit"))
        assert "settings/change" in audit


async def test_two_forms_of_one_setting_meet(app: Tended) -> None:
    """The second is shown what the first stored and keeps its words; saved again it holds."""
    async with signed_in(app.app, "Ann") as ann, signed_in(app.app, "Bo") as bo:
        place = "/console/settings/change/limits"
        first, second = form(await ann.get(place), place), form(await bo.get(place), place)
        await first.send(ann, act="save", **{LIMIT: "3"})
        met = await second.send(bo, act="save", **{LIMIT: "4"})
        assert met.status_code == 409
        assert "Ann" in text_of(met)
        assert form(met, place).fields[LIMIT] == "4"
        assert app.app.settings.limits.thread_per_hour == 3
        await form(met, place).send(bo, act="save")
        assert app.app.settings.limits.thread_per_hour == 4


async def test_admins_alone_change_settings(app: Tended) -> None:
    """An agent and a viewer see what is in force and no form; a forged or foreign form is refused."""
    for role in ("agent", "viewer"):
        async with signed_in(app.app, role.title(), role=role) as client:
            page = await client.get("/console/settings")
            assert page.status_code == 200
            assert "/settings/change/" not in page.text
            for place in ("/console/settings/change/limits", "/console/settings/history"):
                assert (await client.get(place)).status_code == 403
            token = form(page, "/sign-out").fields["form_token"]
            sent = {"form_token": token, "base": "0", "act": "save", LIMIT: "99"}
            assert (await client.post("/console/settings/change/limits", data=sent)).status_code == 403
    async with signed_in(app.app) as grace:
        token = form(await grace.get("/console/settings"), "/sign-out").fields["form_token"]
        sent = {"base": "0", "act": "save", LIMIT: "99"}
        assert (await grace.post("/console/settings/change/limits", data=sent)).status_code == 403
        for base in ("", "-1", "x", "9" * 30, "１"):
            odd = {**sent, "form_token": token, "base": base}
            assert (await grace.post("/console/settings/change/limits", data=odd)).status_code == 422
        for place in ("smtp", "inboxes[gone]", "limits/x", "%00"):
            assert (await grace.get(f"/console/settings/change/{place}")).status_code in (404, 422)
        assert (await grace.get("/console/settings/history?after=x")).status_code == 400
        for version in ("0", "99", "9" * 12):
            answer = await grace.post(f"/console/settings/history/{version}/undo", data={"form_token": token})
            assert answer.status_code == 422
    assert await app.rows("SELECT 1 FROM settings_changes") == []


async def test_every_form_is_there_and_saving_it_as_it_is_changes_nothing(app: Tended) -> None:
    """Each group that is listed on the page of settings."""
    async with signed_in(app.app) as grace:
        import re

        places = re.findall(r'href="(/console/settings/change/[^"]+)"', (await grace.get("/console/settings")).text)
        assert len(places) == 13
        for place in places:
            page = await grace.get(place)
            assert page.status_code == 200, place
            sent = await form(page, place).send(grace, act="save")
            assert "Nothing changed" in text_of(sent), (place, text_of(sent))
    assert app.app.in_force.stored.version == 0


async def test_the_api_changes_settings_for_whom_it_is_open(app: Tended) -> None:
    """All or nothing, against a version; the token of an agent may not, whatever it is for."""
    transport = httpx.ASGITransport(make_app([routes(app.app)]))
    agent = await tokens.make_token(app.app, await a_user(app.app, "Al", "agent"), "all", ["all"])
    admin = await tokens.make_token(app.app, await a_user(app.app, "Ada", "admin"), "all", ["settings:write"])
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as client:

        async def patch(token: str, **body: Any) -> httpx.Response:
            return await client.patch("/api/settings", json=body, headers={"authorization": f"Bearer {token}"})

        for nobody in (agent, "only-for-reading-1"):
            assert (await patch(nobody, values={LIMIT: 3})).status_code == 403
        done = await patch(admin, values={LIMIT: 3}, base=0, by="somebody else", reason="busy")
        assert done.json() == {"version": 1, "values": {LIMIT: 3}, "unset": []}
        met = await patch(TOKEN, values={LIMIT: 4}, base=0)
        assert (met.status_code, met.json()["settings"], met.json()["version"]) == (409, [LIMIT], 1)
        wrong = await patch(TOKEN, values={LIMIT: 0, "smtp.host": "evil"})
        assert wrong.status_code == 422
        assert set(wrong.json()["settings"]) == {"smtp.host"}
        for odd in ({"values": []}, {"base": -1}, {"unset": ["x"] * 300}, {"nothing": 1}, {"values": {"x" * 400: 1}}):
            assert (await patch(TOKEN, **odd)).status_code == 422, odd
        client.headers["authorization"] = "Bearer only-for-reading-1"
        (one,) = (await client.get("/api/settings/history")).json()
        assert (one["by"], one["reason"], one["settings"][0]["value"]) == ("Ada", "busy", 3)
        shown = (await client.get("/api/settings")).json()
        (line,) = [one for one in shown["settings"] if one["name"] == LIMIT]
        assert (line["value"], line["source"], shown["version"]) == ("3", "changed by Ada", 1)
        client.headers["authorization"] = f"Bearer {TOKEN}"
        assert (await client.post("/api/settings/history/1/undo", json={})).json()["unset"] == [LIMIT]
        assert (await client.post("/api/settings/history/77/undo", json={})).status_code == 422
    assert value_of(app.app.settings, LIMIT) == 10


async def test_a_workspace_does_not_read_another_ones_changes(app: Tended) -> None:
    """Row security holds here as everywhere."""
    await change(app.app, {LIMIT: 3}, base=None, by="ann")
    other = await stored_settings.read_stored(app.app.database, "another")
    assert (other.version, dict(other.values)) == (0, {})
    async with app.app.database.transaction("another") as conn:
        from services.core.db import fetch_all

        assert await fetch_all(conn, "SELECT 1 FROM settings_changes") == []
