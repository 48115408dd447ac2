"""What an operator types about topics and dead letters, on a deployment at work, with records that outsiders wrote."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deploy.local import Endpoints
from schemas.topics import catalogue
from services.cli.main import app as command_line
from services.core.app import App
from services.core.bus.dead_letters import dead_letter_topic
from services.core.bus.delivery import Record
from services.core.bus.outbox_relay import refill
from services.core.settings import Settings
from services.operations import deployment as running
from services.operations.dead_letters.dead_letter import DeadLetter
from services.operations.health import state
from services.operations.idle import until_idle
from services.operations.topics import readings
from services.operations.webhooks.endpoints import Wanted, add_endpoint
from services.receive_email.accept import accept
from tests.integration.test_health import AWAY, REFUSED, UNFETCHED
from tests.support.app import running_app, settings_for
from tests.support.bus import until_true
from tests.support.dead_letters import all_dead_letters
from tests.support.letters import letter
from tests.support.stack import uses_apache_kafka

IN_OUTBOX = "INSERT INTO outbox (event_id, seq, source) SELECT id, seq, source FROM events ON CONFLICT DO NOTHING"
NAMES = ("learn_documents", "summarize_threads")
DOCUMENT = "7b2d3c1e-0000-5000-8000-00000000000"
TEXT = b"# Refunds\n\nRefunds take five days.\n"
LOST = hashlib.sha256(TEXT).hexdigest()
HOSTILE = "\x1b[2J\x1b]0;owned\x07[bold red]\u202e"


@dataclass
class Place:
    """A deployment with two processors at work, and the command line that talks to it."""

    app: App
    folder: Path

    async def type(self, *arguments: str) -> Result:
        """Run `correspondent` with these arguments, in a thread of its own as it starts its own loop."""
        return await asyncio.to_thread(CliRunner().invoke, command_line, list(arguments), env={"COLUMNS": "220"})

    async def dead_letters(self) -> list[DeadLetter]:
        return await all_dead_letters(self.app)

    async def submit(self, number: int, blob: str, **more: str) -> str:
        """Type `topics produce` with one submitted document."""
        data = {"document_id": f"{DOCUMENT}{number}", "title": "Refunds", "origin": "refunds.md", "by": "operator"}
        file = self.folder / "events.jsonl"
        entry = {"type": "document.submitted.v1", "data": {**data, "media_type": "text/markdown", "blob": blob, **more}}
        file.write_text(json.dumps(entry))
        result = await self.type("topics", "produce", "document-events", str(file))
        assert result.exit_code == 0, result.output
        return str(data["document_id"])

    async def poison(self, number: int, **more: str) -> DeadLetter:
        """Submit a document whose bytes are not there, and wait for its dead letter."""
        before = len(await self.dead_letters())
        await self.submit(number, LOST, **more)
        await until_true(lambda: self.has(before + 1))
        return (await self.dead_letters())[-1]

    async def has(self, count: int) -> bool:
        return len(await self.dead_letters()) == count


@pytest.fixture
async def place(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Place]:
    """The deployment, and commands that find it."""
    hooks = {"private_hosts": True}
    settings = settings_for(stack, database, topic_prefix, tmp_path / "home", outgoing_webhooks=hooks)

    def here(_: Path) -> Settings:
        return settings

    monkeypatch.setattr(running, "settings_here", here)
    async with running_app(settings, NAMES) as app:
        yield Place(app, tmp_path)


async def test_a_dead_letter_is_listed_shown_redriven_once_mended_and_gone(place: Place) -> None:
    """The whole way of a dead letter: it fails, is seen with its reason, fails again, is mended, is redriven."""
    dead_letter = await place.poison(1)
    listed = await place.type("dlq", "list")
    assert str(dead_letter.id)[:8] in listed.output
    assert "learn_documents" in listed.output
    assert "BlobMissing" in listed.output
    shown = await place.type("dlq", "show", str(dead_letter.id)[:8])
    assert "document.submitted.v1" in shown.output
    assert '"title": "Refunds"' in shown.output
    again = await place.type("dlq", "redrive", str(dead_letter.id)[:8])
    assert (again.exit_code, "0 redriven, 1 failed." in again.output) == (1, True)
    await place.app.blobs.put(TEXT)
    redriven = await place.type("dlq", "redrive", "--group", "learn_documents", "--error", "blobmissing")
    assert (redriven.exit_code, "1 redriven, 0 failed." in redriven.output) == (0, True), redriven.output
    await until_idle(place.app)
    assert [one.state for one in await place.dead_letters()] == ["redriven"]
    assert "No dead letters." in (await place.type("dlq", "list")).output


async def test_a_discarded_letter_counts_as_consumed_for_a_broker_that_forgot(place: Place) -> None:
    """At its start only what still waits is told again; the discarded event is not, and can be redriven all the same."""
    first, second = await place.poison(1), await place.poison(2)
    await place.type("dlq", "discard", "--reason", "not ours", str(first.id))
    assert await refill(place.app, [("document-events", "learn_documents")]) == 1
    await until_true(lambda: place.has(3))
    assert [one.event_id for one in await place.dead_letters()] == [first.event_id, second.event_id, second.event_id]
    await place.app.blobs.put(TEXT)
    await place.type("dlq", "redrive", str(first.id))
    assert [one.state for one in await place.dead_letters()] == ["redriven", "waiting", "waiting"]


async def test_status_says_who_consumes(place: Place) -> None:
    """A consumer with a process at work is told from one without; Apache Kafka also says where, with how many partitions."""
    lines = dict(
        line.split(maxsplit=1) for line in (await place.type("status")).output.splitlines() if len(line.split()) > 1
    )
    assert lines["learn_documents"].startswith("1")
    assert lines["generate_reply"].strip() == "nobody"
    if uses_apache_kafka():
        read = sum(one.partitions for one in catalogue().topics.values() if "learn_documents" in one.consumers)
        assert f"127.0.0.1 ({read} partitions)" in lines["learn_documents"]


async def test_status_listed_no_endpoint_of_webhooks(place: Place) -> None:
    """Each endpoint is there with how telling it goes; without any, nothing is said of them."""
    address = "http://127.0.0.1:9/hooks"
    before = (await place.type("status")).output
    await add_endpoint(place.app, Wanted(address), by="grace")
    after = (await place.type("status")).output
    assert "how it stands" not in before
    (line,) = [line for line in after.splitlines() if address in line]
    assert "nothing told yet" in line


async def test_a_redrive_reaches_its_own_group_alone(place: Place) -> None:
    """Nothing is put on the origin topic again: its records stay as many as they were."""
    dead_letter = await place.poison(1)
    before = {(one.topic, one.group): one.end for one in await readings(place.app)}
    await place.type("dlq", "redrive", str(dead_letter.id))
    assert {(one.topic, one.group): one.end for one in await readings(place.app)} == before


async def test_discarded_letters_are_out_of_sight_and_can_come_back(place: Place) -> None:
    """Discarding needs to be told which; what is discarded is shown with --all and can be redriven by id."""
    first, second = await place.poison(1), await place.poison(2)
    assert (await place.type("dlq", "discard", "--reason", "x")).exit_code == 2
    meant = await place.type("dlq", "discard", "--reason", "not ours", "--thread", first.key, "--dry-run")
    assert str(first.id)[:8] in meant.output
    assert [one.state for one in await place.dead_letters()] == ["waiting", "waiting"]
    await place.type("dlq", "discard", "--reason", "not ours", "--thread", first.key)
    listed = (await place.type("dlq", "list")).output
    assert (str(first.id)[:8] in listed, str(second.id)[:8] in listed) == (False, True)
    assert "discarded" in (await place.type("dlq", "list", "--all")).output
    assert "discarded: not ours" in (await place.type("dlq", "show", str(first.id))).output
    assert (await place.type("dlq", "discard", "--all")).exit_code == 2, "without a reason"
    assert "1 dead letters" in " ".join((await place.type("status")).output.split())


async def test_records_that_outsiders_wrote_break_nothing_and_command_no_terminal(place: Place) -> None:
    """Garbage on topics and dead letter topics is shown harmlessly, kept from redrive, and can be discarded."""
    prefix = place.app.settings.kafka.topic_prefix
    dead_letters = dead_letter_topic(f"{prefix}document-events", f"{prefix}learn_documents")
    evil = HOSTILE.encode()
    await place.app.publisher.publish(
        [
            Record(
                dead_letters, evil, evil * 50, (("dlq_error_class", evil), ("dlq_error_message", b"\xff\xfe" + evil))
            ),
            Record(dead_letters, None, b"", (("dlq_origin_offset", b"NaN"), ("dlq_failed_at", b"yesterday"))),
            Record(f"{prefix}document-events", b"\xff\x00", evil, (("ce_type", evil),)),
        ]
    )
    await until_true(lambda: place.has(3))
    waiting = await place.dead_letters()
    for arguments in (
        ("dlq", "list"),
        *(("dlq", "show", str(one.id)) for one in waiting),
        ("topics", "tail", "document-events"),
        ("topics", "list"),
        ("status",),
    ):
        result = await place.type(*arguments)
        assert result.exit_code == 0, result.output
        assert not {"\x1b", "\x07", "\u202e"} & set(result.output)
    result = await place.type("dlq", "redrive", "--all")
    assert (result.exit_code, result.output.count("CannotRedrive")) == (1, 2)
    await place.type("dlq", "discard", "--reason", "garbage", "--all")
    assert {one.state for one in await place.dead_letters()} == {"discarded"}


async def test_lag_and_tail_show_what_nobody_has_read_yet(place: Place) -> None:
    """A group that is not at work falls behind, and says since when; the one at work does not."""
    sha = await place.app.blobs.put(TEXT)
    key = await place.submit(3, sha)
    await settle_documents(place)
    behind = {(one.topic, one.group): one for one in await readings(place.app)}
    assert behind["document-events", "learn_documents"].lag == 0
    file = place.folder / "turn.json"
    data = {"thread_id": key, "turn_id": key, "processor": "x", "error": "by hand"}
    file.write_text(json.dumps([{"type": "turn.failed.v1", "data": data}] * 3))
    assert "3 sent." in (await place.type("topics", "produce", "turns", str(file))).output
    behind = {(one.topic, one.group): one for one in await readings(place.app)}
    assert behind["turns", "track_threads"].lag == 3
    assert behind["turns", "track_threads"].oldest_ms is not None
    listed = (await place.type("topics", "list")).output
    assert "learn_documents" in listed
    tail = (await place.type("topics", "tail", "turns", "--thread", key, "--type", "turn.failed", "-n", "2")).output
    assert tail.count("by hand") == 2
    assert "No such record." in (await place.type("topics", "tail", "turns", "--type", "turn.opened")).output


async def settle_documents(place: Place) -> None:
    async def done() -> bool:
        found = [one for one in await readings(place.app) if one.group == "learn_documents"]
        return all(one.lag == 0 for one in found)

    await until_true(done)


async def test_a_bad_file_sends_nothing(place: Place) -> None:
    """One fault in a file, and none of its events is on the topic."""
    data = {"thread_id": f"{DOCUMENT}1", "turn_id": f"{DOCUMENT}1", "processor": "x", "error": ""}
    good = {"type": "turn.failed.v1", "data": data}
    file = place.folder / "events.jsonl"
    file.write_text(json.dumps(good) + "\n" + json.dumps({**good, "data": {}}) + "\n")
    result = await place.type("topics", "produce", "turns", str(file))
    assert "line 2: thread_id: is missing" in str(result.exception)
    file.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in str((await place.type("topics", "produce", "turns", str(file))).exception)
    assert sum(one.end for one in await readings(place.app)) == 0


async def test_status_shows_each_thing_that_stands_still(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model, a fetch that failed, a refused publish, a stalled partition and the oldest undone event: each in words."""
    monkeypatch.setattr(state, "OLD_S", 0.0)
    monkeypatch.setattr(state.GroupHealth.stalled, "__defaults__", (-1.0,))
    app = place.app
    calm = (await place.type("status")).output
    assert "the model: no outage is noted" in calm
    assert "stands still" not in calm
    await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key="1")
    async with app.database.reading() as conn:
        for statement in (AWAY, UNFETCHED, IN_OUTBOX, REFUSED):
            await conn.execute(statement, {"workspace": app.settings.workspace})
    said = " ".join((await place.type("status")).output.split())
    assert "the model is away for 60 min, its turns wait" in said
    assert "529: overloaded" in said
    assert "1 mails of the inbox" in said
    assert "are not handed over by its server: NO some messages" in said
    assert "1 stored events that the broker refuses (correspondent outbox)" in said
    assert "read_email stands still in inbound-email.raw/" in said
    assert "read_email has not done 1 events since" in said
