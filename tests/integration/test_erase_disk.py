"""What was erased leaves the disk of the database: heap files, long values, indices, statistics, the write-ahead log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from deploy.local import Endpoints
from services.core import db
from services.core.app import App
from services.core.db import fetch_all
from services.operations.erase.proof import Proof, prove_disk
from services.operations.erase.run import erase
from services.operations.erase.words import Marks
from services.operations.rebuild.shadow_schema import connected
from services.operations.scrub import run as scrubbing
from services.operations.scrub.disk import words_in_bytes
from services.operations.scrub.run import Scrubbed, pending, scrub
from services.operations.scrub.tables import RowsStillRead
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.erasing import differences, found
from tests.support.remembered_people import write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
EVE, FINN = "eve@disk-searched.example", "finn@kept-on-disk.example"
WORD, OTHER = "xylopyrographer", "sesquipedalia"  # of this module alone: other tests' words lie in the same log


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    async with running_brokerless(settings_for(stack, database, topic_prefix, tmp_path)) as one:
        long = (
            f"The {WORD} machine is slow, whatever we do about the {WORD} machine. " * 200
        )  # compressed where it lies
        await write(one, EVE, f"My order number is 88123. {long}", "<e1@disk-searched.example>")
        await write(one, EVE, f"We are on the {WORD} plan. What does it cost?", "<e2@disk-searched.example>")
        await write(one, FINN, f"My order number is 66789. The {OTHER} export is slow.", "<f1@kept-on-disk.example>")
        yield one


def lying(stack: Endpoints, database: str, marks: Marks) -> set[str]:
    """The files of the data folder that hold a word, read from outside; other databases of the server apart."""
    with psycopg.connect(database) as conn:
        rows = conn.execute("SHOW data_directory").fetchone()
        oid = conn.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
    assert rows
    assert oid
    folder, words = Path(rows[0]), words_in_bytes(marks)
    paths = (path for path in folder.rglob("*") if path.is_file())
    ours = (path for path in paths if path.parent.parent.name != "base" or path.parent.name == str(oid[0]))
    return {str(path.relative_to(folder)) for path in ours if words.found_in(path.read_bytes())}


async def vacuum(app: App) -> None:
    async with connected(app.settings.database_url) as conn:
        await conn.execute("VACUUM")
        await conn.execute("CHECKPOINT")


async def test_no_file_of_the_server_holds_a_word_of_an_erased_person(
    app: App, stack: Endpoints, database: str
) -> None:
    """Before the scrub the words lie in heap and log, VACUUM or not; after it nowhere, and the proof says both."""
    eve = await found(app, EVE)
    marks = Marks(frozenset({EVE}), frozenset({WORD}))
    assert marks.phrases <= eve.marks.phrases
    assert marks.words <= eve.marks.words
    await erase(app, eve, by="the test")
    await vacuum(app)
    places = lying(stack, database, marks)
    assert {one.split("/")[0] for one in places} >= {"base", "pg_wal"}
    before = await prove_disk(app, marks, Scrubbed(), Proof())
    assert not before.holds
    assert {"mails", "subject_keys", "pg_wal"} <= set(before.unscrubbed)
    assert {one.place.removeprefix("server file ") for one in before.findings} == places

    done = await scrub(app)

    assert done.left == ()
    assert done.tables > 20
    assert lying(stack, database, marks) == set()
    proof = await prove_disk(app, marks, done, Proof())
    assert (proof.holds, proof.unreached) == (True, ())
    await vacuum(app)
    assert lying(stack, database, marks) == set()
    assert lying(stack, database, Marks(frozenset({FINN}), frozenset({OTHER}))), "what others said is still there"
    assert await scrub(app) == Scrubbed(), "nothing is left to do"
    assert await differences(app, stack) == set()


async def test_a_compressed_word_does_not_pass_for_a_scrubbed_table(app: App) -> None:
    """No byte search sees a word in a compressed value: a table whose file is as old as the erase proves nothing."""
    marks = Marks(frozenset(), frozenset({WORD}))
    await erase(app, await found(app, EVE), by="the test")
    done = await scrub(app)
    async with connected(app.settings.database_url) as conn:
        text = f"{WORD} " * 500
        insert = "INSERT INTO receipts VALUES (gen_random_uuid(), 'w', %(text)s, '')"
        await conn.execute("DROP INDEX receipts_by_fingerprint")
        await conn.execute(insert, {"text": text})
        [size] = await fetch_all(conn, "SELECT max(pg_column_size(inbox)) AS size FROM receipts")
        assert size["size"] < len(text) / 10, "it is compressed"
        await conn.execute("DELETE FROM receipts WHERE workspace = 'w'")
        await scrubbing.mark(conn, app.now(), events=False)
        assert "receipts" in await pending(conn)
    proof = await prove_disk(app, marks, done, Proof())
    assert "receipts" in proof.unscrubbed
    assert not proof.holds


async def test_a_scrub_waits_for_whoever_may_still_see_what_was_deleted(
    app: App, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rewrite would keep the rows of a snapshot from before the erase: the scrub says who holds it, and goes on later."""
    async with connected(database) as reader:
        await reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        await reader.execute("SELECT count(*) FROM mails")
        await erase(app, await found(app, EVE), by="the test")
        monkeypatch.setattr("services.operations.scrub.tables.READERS_S", 1.0)
        with pytest.raises(RowsStillRead, match="process"):
            await scrub(app)
        async with connected(database) as conn:
            assert "mails" in await pending(conn)
        waiting = asyncio.create_task(scrub(app))
        await reader.execute("COMMIT")
        assert (await waiting).tables > 20


async def test_a_role_without_rights_says_what_it_could_not_scrub_and_not_look_at(app: App, database: str) -> None:
    """As on a managed server: an owner rewrites tables; log, statistics and files are said to be out of reach."""
    await erase(app, await found(app, EVE), by="the test")
    async with connected(database) as conn:
        await conn.execute("DROP ROLE IF EXISTS plain_owner")
        await conn.execute("CREATE ROLE plain_owner LOGIN PASSWORD 'x'")
        own = "relnamespace = 'public'::regnamespace AND relkind = 'r' AND NOT relispartition"
        rows = await fetch_all(conn, f"SELECT relname AS name FROM pg_class WHERE {own}")  # type: ignore[arg-type]
        for row in rows:
            if row["name"] != "mails":
                await conn.execute(f'ALTER TABLE "{row["name"]}" OWNER TO plain_owner')  # type: ignore[arg-type]
        await conn.execute("GRANT SELECT ON mails TO plain_owner")
        await conn.execute("GRANT CREATE, USAGE ON SCHEMA public TO plain_owner")
    url = database.replace("postgres:", "plain_owner:", 1).split("@")
    plain = f"postgresql://plain_owner:x@{url[-1]}"
    settings = app.settings.model_copy(update={"database_url": plain})
    plain_app = replace(app, settings=settings)
    done = await scrub(plain_app)
    assert {one.place: one.out_of_reach for one in done.left} == {"pg_wal": True, "pg_statistic": True, "mails": False}
    proof = await prove_disk(plain_app, Marks(frozenset({EVE}), frozenset()), done, Proof())
    assert proof.unscrubbed == ("mails",)
    assert len(proof.unreached) == 3
    assert not proof.holds


async def test_who_was_erased_before_there_were_scrubs_is_cleared_by_the_next(database: str) -> None:
    """The migration marks every table of a database in which somebody has been erased, but for the sealed events."""
    file = Path(db.__file__).parent / "migrations" / "0189_residues.sql"
    marking = file.read_text(encoding="utf-8").partition("INSERT INTO residues")[2].partition(";")[0]
    statement: Any = f"INSERT INTO residues{marking}"
    erasure = "INSERT INTO erasures VALUES (gen_random_uuid(), 'w', gen_random_uuid(), 'x', now(), '{}', '{}', now())"
    async with connected(database) as conn:
        await conn.execute(statement)
        assert await pending(conn) == [], "nobody was erased"
        await conn.execute(erasure)
        await conn.execute(statement)
        places = await pending(conn)
    assert {"mails", "subject_keys", "facts", "pg_wal"} <= set(places)
    assert places[-1] == "pg_wal"
    assert not {"events", "residues"} & set(places)
