"""A deployment that was restored is the deployment that it was, goes on working, and sends no mail twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deploy.local import Endpoints
from services.cli.main import app as command_line
from services.core.app import App
from services.core.db import fetch_all, fetch_one
from services.core.settings import Settings
from services.demo.clock import SteppingClock
from services.operations.backup import restore
from services.operations.backup.files import BlobWasDamaged
from services.operations.backup.keys import keep_keys
from services.operations.backup.manifest import NAME, Manifest, NoBackup, newest, read
from services.operations.backup.restore import DeploymentThere, MomentArchived
from services.operations.backup.take import BLOBS, take
from services.operations.idle import until_idle
from services.operations.rebuild import run
from services.operations.rebuild.scopes import scope
from services.operations.rebuild.shadow_schema import connected
from services.receive_email.accept import accept
from services.send_email import deliver
from tests.support.app import running_app, settings_for
from tests.support.bus import until_true
from tests.support.documents import shelve
from tests.support.letters import letter
from tests.support.smtp_server import SmtpServer
from tests.support.stack import fresh_database, uses_apache_kafka

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
BEFORE = 3


@pytest.fixture
def settings(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, server: SmtpServer) -> Settings:
    """The deployment that is backed up."""
    smtp = {"host": "127.0.0.1", "port": server.port}
    return settings_for(stack, database, topic_prefix, tmp_path / "home", smtp=smtp)


@pytest.fixture
def empty(settings: Settings, stack: Endpoints, topic_prefix: str, tmp_path: Path) -> Iterator[Settings]:
    """Where it is restored: an empty database, an empty folder, topics never used."""
    with fresh_database(stack.database) as url:
        kafka = settings.kafka.model_copy(update={"topic_prefix": f"{topic_prefix}again."})
        changes = {"database_url": url, "home": tmp_path / "again", "kafka": kafka}
        yield settings.model_copy(update=changes)


async def test_a_restored_deployment_is_what_it_was_and_sends_nothing_twice(
    settings: Settings, empty: Settings, server: SmtpServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal tables; a reply under way then is unknown, one that was lost waits for the release, and each goes once."""
    monkeypatch.setattr(deliver, "SENDING_HOLD", timedelta(seconds=0.5))
    async with running_app(settings) as app:
        await shelve(app, "plans.md", "# Plans\n\nThe Team plan costs 12 EUR a month.")
        await _write(app, range(BEFORE))
        await until_idle(app, timeout_s=120)
        server.script = lambda session, step: "451 not now" if step == "rcpt" else None
        await _write(app, [BEFORE])
        await _until_deferred(app)
        _, made = await take(settings, tmp_path / "backups")
        assert await keep_keys(settings, tmp_path / "keys" / "keys.dump", days=14)
        server.script = lambda session, step: None
    sent = len(server.accepted)
    assert sent == BEFORE
    keys = ["--keys", str(tmp_path / "keys" / "keys.dump")]
    output = await asyncio.to_thread(_type, empty, ["restore", "--from", str(tmp_path / "backups"), *keys])
    assert "Tables that are not what they were: none." in output
    assert f"{made.blobs} blobs and 0 archived files are back" in output
    async with connected(empty.database_url) as conn:
        bare = await fetch_one(conn, "SELECT count(*) AS n FROM chunks WHERE embedding IS NULL")
        assert bare == {"n": 0}
    async with running_app(empty) as app:
        await _write(app, [BEFORE + 1])
        await _until_states(app, {"sent": BEFORE, "unknown": 1, "approved": 1})
        assert len(server.accepted) == sent, "held"
        assert "leaves within minutes" in await asyncio.to_thread(_type, empty, ["deliveries", "release"])
        await _until_states(app, {"sent": BEFORE + 1, "unknown": 1})
        await until_idle(app, timeout_s=120)
    recipients = [one.recipient for one in server.accepted]
    assert len(set(recipients)) == len(recipients) == BEFORE + 1
    assert (await run.check(empty, scope("all"), lambda count: None)).differences == ()


async def test_a_past_state_is_restored_as_a_deployment_that_lives(
    settings: Settings, empty: Settings, server: SmtpServer, tmp_path: Path
) -> None:
    """As of a moment between two mails the deployment knows the first alone, its tables are a fold, and the second may come."""
    clock = SteppingClock(datetime(2026, 3, 2, 9, tzinfo=UTC))
    async with running_app(settings, now=clock) as app:
        await _write(app, [0])
        await until_idle(app, timeout_s=120)
        clock.forward(datetime(2026, 3, 3, 9, tzinfo=UTC))
        await _write(app, [1])
        await until_idle(app, timeout_s=120)
        await take(settings, tmp_path / "backups")
        await keep_keys(settings, tmp_path / "keys" / "keys.dump", days=14)
    keys = ["--keys", str(tmp_path / "keys" / "keys.dump"), "--as-of", "2026-03-02T18:00"]
    output = await asyncio.to_thread(_type, empty, ["restore", "--from", str(tmp_path / "backups"), *keys])
    assert "came after 2026-03-02 18:00:00 UTC and are forgotten" in output
    await asyncio.to_thread(_type, empty, ["deliveries", "release"])
    async with running_app(empty, now=clock) as app:
        async with app.database.reading() as conn:
            assert await fetch_all(conn, "SELECT subject FROM mails") == [{"subject": "Question 0"}]
        assert (await run.check(empty, scope("all"), lambda count: None)).differences == ()
        await _write(app, [1])
        await _until_states(app, {"sent": 2})


@pytest.mark.skipif(not uses_apache_kafka(), reason="the embedded broker remembers no deployment: Apache Kafka alone")
async def test_topics_that_hold_newer_events_than_the_backup_are_refused(
    settings: Settings, empty: Settings, server: SmtpServer, tmp_path: Path
) -> None:
    """Onto the old topics nothing is restored; on new ones the deployment is what it was, and the newer mail is not known."""
    async with running_app(settings) as app:
        await _write(app, [0])
        await until_idle(app, timeout_s=120)
        _, made = await take(settings, tmp_path / "backups")
        await keep_keys(settings, tmp_path / "keys" / "keys.dump", days=14)
        await _write(app, [1])
        await until_idle(app, timeout_s=120)
    restored = ["restore", "--from", str(tmp_path / "backups"), "--keys", str(tmp_path / "keys" / "keys.dump")]
    onto_old = empty.model_copy(update={"kafka": settings.kafka})
    refused = await asyncio.to_thread(_invoke, onto_old, restored)
    assert isinstance(refused.exception, restore.TopicsInUse)
    assert "kafka.topic_prefix" in str(refused.exception)
    async with connected(empty.database_url) as conn:
        assert await fetch_one(conn, "SELECT to_regclass('events') IS NULL AS nothing") == {"nothing": True}
    assert "Tables that are not what they were: none." in await asyncio.to_thread(_type, empty, restored)
    await asyncio.to_thread(_type, empty, ["deliveries", "release"])
    async with running_app(empty) as app:
        await until_idle(app, timeout_s=120)
        async with app.database.reading() as conn:
            counted = await fetch_one(conn, "SELECT count(*) AS n FROM events")
            assert await fetch_all(conn, "SELECT subject FROM mails") == [{"subject": "Question 0"}]
    assert counted == {"n": made.events}, "what is done is not done again"
    assert [one.recipient for one in server.accepted] == ["ann@customer0.example", "ann@customer1.example"]


async def test_what_is_no_whole_backup_restores_nothing(settings: Settings, empty: Settings, tmp_path: Path) -> None:
    """Refused in words: no manifest, a damaged blob, a deployment in the database, a moment whose events are archived."""
    async with running_app(settings, names=("read_email",)) as app:
        await _write(app, [0])
        folder, made = await take(settings, tmp_path / "backups")
        await keep_keys(settings, tmp_path / "keys" / "keys.dump", days=14)
    await _refuse_archived_moment(empty, folder, made, tmp_path / "keys" / "keys.dump")
    with pytest.raises(DeploymentThere):
        await restore.load(settings, folder, None)
    await restore.load(empty, folder, None)
    blob = next(path for path in (tmp_path / "backups" / BLOBS).rglob("*") if path.is_file())
    blob.write_bytes(b"something else")
    with pytest.raises(BlobWasDamaged, match=blob.name):
        await restore.copy_files(empty, folder, made)
    assert read(newest(tmp_path / "backups")) == made
    (folder / NAME).unlink()
    with pytest.raises(NoBackup):
        newest(tmp_path / "backups")


async def _refuse_archived_moment(empty: Settings, folder: Path, made: Manifest, keys: Path) -> None:
    """Before anything is restored."""
    archived = made.model_copy(update={"archived_until": datetime(2026, 3, 2, tzinfo=UTC)})
    (folder / NAME).write_text(archived.model_dump_json())
    earlier = ["restore", "--from", str(folder), "--keys", str(keys), "--as-of", "2026-03-01"]
    refused = await asyncio.to_thread(_invoke, empty, earlier)
    assert isinstance(refused.exception, MomentArchived)
    async with connected(empty.database_url) as conn:
        assert await fetch_one(conn, "SELECT to_regclass('events') IS NULL AS nothing") == {"nothing": True}
    (folder / NAME).write_text(made.model_dump_json())


def _type(settings: Settings, arguments: list[str]) -> str:
    result = _invoke(settings, arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return " ".join(result.output.split())


def _invoke(settings: Settings, arguments: list[str]) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("services.operations.deployment.settings_here", lambda home: settings)
        patch.setenv("CORRESPONDENT_DATABASE_URL", settings.database_url)
        return CliRunner().invoke(command_line, arguments)


async def _write(app: App, numbers: Iterable[int]) -> None:
    for number in numbers:
        raw = letter(
            "Hello,\n\nwhat does the Team plan cost?\n\nAnn",
            sender=f"Ann <ann@customer{number}.example>",
            message_id=f"<{number}@customer.example>",
            subject=f"Question {number}",
        )
        await accept(app, app.settings.inboxes[0], raw, source="file", source_key=str(number))


async def _until_states(app: App, wanted: dict[str, int]) -> None:
    async def reached() -> bool:
        async with app.database.reading() as conn:
            rows = await fetch_all(conn, "SELECT state, count(*) AS n FROM deliveries GROUP BY state")
        return {row["state"]: row["n"] for row in rows} == wanted

    await until_true(reached)


async def _until_deferred(app: App) -> None:
    async def deferred() -> bool:
        async with app.database.reading() as conn:
            return bool(await fetch_one(conn, "SELECT 1 FROM events WHERE type = 'reply.deferred.v1'"))

    await until_true(deferred)
