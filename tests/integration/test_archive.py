"""Old events leave the table for files: none is lost, none is there twice, and everybody still reads them."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from typer.testing import CliRunner

from deploy.local import Endpoints
from services.cli.main import app as command_line
from services.core.app import open_app, open_keys
from services.core.archive.archive import Archive, archive_of
from services.core.archive.file import ArchiveDamaged, Manifest
from services.core.archive.history import archived_rows, manifests, stored_events
from services.core.archive.places import ArchiveMissing
from services.core.db import Connection, fetch_all, fetch_one
from services.core.object_blobs import ObjectStoreAway
from services.core.settings import Settings
from services.operations.archive import move, thaw
from services.operations.rebuild import run
from services.operations.rebuild.projections import fold, state_hash
from services.operations.rebuild.scopes import scope
from services.operations.rebuild.shadow_schema import connected
from services.operations.replay.model import Asking
from services.operations.replay.run import past_cases, replay
from services.operations.replay.selection import Selection
from services.receive_email.accept import accept
from tests.support.archiver import FOREVER, STEPS
from tests.support.s3_server import running_s3
from tests.support.stack import fresh_database

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
async def long_ago(lived_in: Settings) -> Settings:
    """The deployment, in which each event was stored when it happened."""
    async with open_keys(lived_in) as keys, connected(lived_in.database_url, keys) as conn:
        await conn.execute("UPDATE events SET stored_at = time")
    return lived_in


@pytest.fixture
def settings(stack: Endpoints, long_ago: Settings, tmp_path: Path) -> Iterator[Settings]:
    """The same deployment in a database of this test's own, with an empty archive."""
    with fresh_database(stack.database, template=urlsplit(long_ago.database_url).path[1:]) as url:
        archive = long_ago.archive.model_copy(update={"url": str(tmp_path / "archive")})
        yield long_ago.model_copy(update={"database_url": url, "archive": archive})


@pytest.fixture
async def conn(settings: Settings) -> AsyncIterator[Connection]:
    """A connection to that database."""
    async with open_keys(settings) as keys, connected(settings.database_url, keys) as conn:
        yield conn


@pytest.fixture
def archive(settings: Settings) -> Archive:
    """Where its archived events lie."""
    return archive_of(settings)


async def test_every_event_is_in_the_table_or_in_one_file(conn: Connection, archive: Archive) -> None:
    """A move makes a file a day, and the events of table and files together are those of before, byte for byte."""
    before = Counter(await _lines(conn))
    moved = [one async for one in move(conn, archive, FOREVER)]
    after = Counter(await _lines(conn))
    assert sum(after.values()) == 0
    assert len({one.day for one in moved}) == len(moved) > 5
    said = await manifests(conn)
    assert said == moved
    ids = [row.id async for row in archived_rows(said, archive)]
    assert len(set(ids)) == len(ids) == sum(before.values())
    assert await _thawed(conn, archive) == before


async def test_tables_are_a_fold_of_files_and_table(
    conn: Connection, settings: Settings, archive: Archive, stack: Endpoints
) -> None:
    """Half of the days archived: a fold into an empty database, a check and a swap all give the live state."""
    hashes = await state_hash(conn)
    await _move_half(conn, archive)
    with fresh_database(stack.database) as url:
        assert await fold(conn, url, archive=archive) > 200
        async with connected(url) as target:
            assert await state_hash(target) == hashes
    found = await run.check(settings, scope("all"), lambda count: None, archive)
    assert found.differences == ()
    assert found.events == await run.count_events(settings.database_url, scope("all"))
    await run.swap(settings, scope("all"), lambda count: None, archive)
    assert await state_hash(conn) == hashes


async def test_files_may_lie_in_an_object_store(conn: Connection) -> None:
    """A move to a bucket writes one object a file, which is read back from there; a store that is away moves nothing."""
    before = Counter(await _lines(conn))
    with running_s3() as server:
        archive = Archive("s3://mail/archive", server.access())
        server.failing = True
        with pytest.raises(ObjectStoreAway):
            _ = [one async for one in move(conn, archive, FOREVER)]
        assert Counter(await _lines(conn)) == before
        server.failing = False
        moved = [one async for one in move(conn, archive, FOREVER)]
        assert set(server.objects) == {f"/mail/archive/{one.file}" for one in moved}
        assert await _thawed(conn, archive) == before


async def test_a_past_state_is_folded_across_the_border(conn: Connection, settings: Settings, archive: Archive) -> None:
    """A state before and one after the newest archived event are what they were when nothing was archived."""
    row = await fetch_one(
        conn, "SELECT percentile_disc(ARRAY[0.3, 0.8]) WITHIN GROUP (ORDER BY time) AS at FROM events"
    )
    assert row is not None

    async def states() -> list[dict[str, str]]:
        found = []
        for number, until in enumerate(row["at"]):
            await run.past(settings, scope("all"), until, f"past{number}", lambda count: None, archive)
            async with conn.transaction():
                await conn.execute(f"SET LOCAL search_path TO past{number}, public")
                found.append(await state_hash(conn))
            await conn.execute(f"DROP SCHEMA past{number} CASCADE")
        return found

    before = await states()
    await _move_half(conn, archive)
    assert await states() == before
    assert before[0] != before[1]


@pytest.mark.parametrize("processor", ["generate_reply", "learn_facts"])
async def test_archived_mails_are_replayed(
    settings: Settings, conn: Connection, archive: Archive, processor: str
) -> None:
    """With every event in files, a replay finds as many cases as before, and no difference."""
    before = [case.name async for case, _ in past_cases(settings, Selection(until=processor), documents=False)]
    assert [one async for one in move(conn, archive, FOREVER)]
    cases = past_cases(settings, Selection(until=processor), documents=False)
    results = [result async for _, result, _ in replay(settings, cases, Asking())]
    assert [one.name for one in results] == before
    assert [one for one in results if one.code] == []


async def test_one_thread_is_replayed_without_thawing_the_others(
    settings: Settings, conn: Connection, archive: Archive
) -> None:
    """A thread that is named is found in the files, with the history that its context needs."""
    row = await fetch_one(conn, "SELECT key FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq DESC LIMIT 1")
    assert row is not None
    wanted = Selection(thread=UUID(row["key"]), rebuild_context=True)
    assert [one async for one in move(conn, archive, FOREVER)]
    results = [one async for _, one, _ in replay(settings, past_cases(settings, wanted, documents=False), Asking())]
    assert [one.code for one in results] == [0] * len(results)
    assert results


@pytest.mark.parametrize("step", STEPS)
async def test_killed_at_any_step_the_next_move_completes_it(
    step: str, settings: Settings, conn: Connection, archive: Archive
) -> None:
    """SIGKILL before and after the file is written, after it was read back, and after the first day is gone."""
    before = Counter(await _lines(conn))
    command = [sys.executable, "-m", "tests.support.archiver", settings.database_url, settings.archive.url, step]
    killed = await asyncio.to_thread(subprocess.run, command, check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert len(await manifests(conn)) == (1 if step == "committed" else 0)
    assert [one async for one in move(conn, archive, FOREVER)]
    assert await _lines(conn) == []
    assert await _thawed(conn, archive) == before


async def test_what_is_not_at_rest_stays_with_all_that_follows_it(conn: Connection, archive: Archive) -> None:
    """An unpublished event, one that a consumer has not done, and a thread with an open turn hold back later versions."""
    unpublished, undone, open_ = await fetch_all(
        conn,
        """SELECT DISTINCT ON (key) id, key, version FROM events e WHERE type = 'thread.state_changed.v1'
             AND key IN (SELECT thread_id::text FROM turns)
           ORDER BY key, version LIMIT 3""",
    )
    await conn.execute("UPDATE events SET published_at = NULL WHERE id = %s", [unpublished["id"]])
    await conn.execute("DELETE FROM journal WHERE event_id = %s", [undone["id"]])
    await conn.execute(
        "UPDATE turns SET closed_at = NULL WHERE turn_id = (SELECT turn_id FROM turns WHERE thread_id = %s LIMIT 1)",
        [open_["key"]],
    )
    assert [one async for one in move(conn, archive, FOREVER)]
    left = await fetch_all(
        conn, "SELECT key, min(version) AS first FROM events WHERE aggregate = 'thread' GROUP BY key"
    )
    assert {row["key"]: row["first"] for row in left} == {
        unpublished["key"]: unpublished["version"],
        undone["key"]: undone["version"],
        open_["key"]: 1,
    }
    events = [one async for one in stored_events(conn, archive=archive)]
    versions = [one.version for one in events if one.data.AGGREGATE == "thread" and one.key == undone["key"]]
    assert versions == sorted(versions)
    await conn.execute("UPDATE events SET published_at = stored_at WHERE id = %s", [unpublished["id"]])
    (more,) = [one async for one in move(conn, archive, FOREVER)][-1:]
    assert more.kinds["thread"] > 0


async def test_a_damaged_file_is_noticed_by_every_reader(
    conn: Connection, settings: Settings, archive: Archive
) -> None:
    """A flipped byte is an error with the file's name, never a shorter history."""
    moved = await _move_half(conn, archive)
    path = Path(settings.archive.url) / moved[0].file
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(ArchiveDamaged, match=moved[0].file):
        _ = [one async for one in stored_events(conn, archive=archive)]
    path.unlink()
    with pytest.raises(ArchiveMissing, match=moved[0].file):
        _ = [one async for one in stored_events(conn, archive=archive)]
    with pytest.raises(ArchiveMissing, match="say where"):
        _ = [one async for one in stored_events(conn)]


async def test_an_archived_mail_is_not_let_in_again(settings: Settings, conn: Connection, archive: Archive) -> None:
    """The same mail offered by the same source long afterwards is known, and `mails` still lists it."""
    row = await fetch_one(conn, "SELECT data FROM events WHERE type = 'mail.received.v1' ORDER BY seq LIMIT 1")
    assert row is not None
    listed = await _type(settings, "mails", "--limit", "500")
    assert [one async for one in move(conn, archive, FOREVER)]
    async with open_app(settings) as app:
        raw = await app.blobs.get(row["data"]["blob"])
        inbox = next(one for one in settings.inboxes if one.name == row["data"]["inbox"])
        again = await accept(app, inbox, raw, source="file", source_key=row["data"]["source_key"])
    assert (again.new, str(again.mail_id)) == (False, row["data"]["mail_id"])
    assert await _lines(conn) == []
    assert await _type(settings, "mails", "--limit", "500") == listed


def test_the_command_moves_and_checks(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`archive` says which files it wrote, to another folder where asked; `--check` exits 1 once a byte has changed."""
    monkeypatch.setattr("services.operations.deployment.settings_here", lambda home: settings)
    elsewhere = tmp_path / "elsewhere"
    moved = CliRunner().invoke(command_line, ["archive", "--older-than", "0d", "--to", elsewhere.as_uri()])
    assert moved.exit_code == 0, moved.output
    files = sorted(elsewhere.iterdir())
    assert all(one.name in moved.output.replace("\n", "") for one in files)
    checked = CliRunner().invoke(command_line, ["archive", "--check"])
    assert checked.exit_code == 0, checked.output
    assert f"{len(files)} of {len(files)} files are whole" in checked.output
    files[0].write_bytes(files[0].read_bytes()[:-1])
    assert CliRunner().invoke(command_line, ["archive", "--check"]).exit_code == 1
    assert CliRunner().invoke(command_line, ["archive", "--older-than", "soon"]).exit_code == 2


async def _move_half(conn: Connection, archive: Archive) -> list[Manifest]:
    row = await fetch_one(conn, "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY stored_at) AS at FROM events")
    assert row is not None
    moved = [one async for one in move(conn, archive, row["at"])]
    assert moved
    assert await _lines(conn)
    return moved


async def _lines(conn: Connection) -> list[str]:
    return [row["line"] for row in await fetch_all(conn, "SELECT to_jsonb(e)::text AS line FROM public.events e")]


async def _thawed(conn: Connection, archive: Archive) -> Counter[str]:
    async with conn.transaction(force_rollback=True):
        await thaw(conn, archive, await manifests(conn), lambda row: True)
        return Counter(row["line"] for row in await fetch_all(conn, "SELECT to_jsonb(e)::text AS line FROM events e"))


async def _type(settings: Settings, *arguments: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("services.operations.deployment.settings_here", lambda home: settings)
        result = await asyncio.to_thread(CliRunner().invoke, command_line, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout
