"""A person is erased: nothing of them is found in any store, nothing of anybody else is lost, and the fold agrees."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from deploy.local import Endpoints
from services.cli.keys import rewrap_all
from services.core.app import App, open_keys
from services.core.archive.archive import archive_of
from services.core.archive.places import ArchiveMissing
from services.core.bus.delivery import Record
from services.core.bus.event_row import EventRow
from services.core.db import fetch_all
from services.core.ids import participant_id
from services.core.keys import Erased
from services.core.keys.aead import seal_json
from services.core.keys.master import FILE, add_master_key
from services.operations import history_lock as alone
from services.operations.archive import move
from services.operations.erase import run
from services.operations.erase.export import export, new_folder
from services.operations.erase.proof import prove
from services.operations.erase.run import erase, finish
from services.operations.erase.words import Marks
from services.operations.history_lock import HistoryHeld
from services.operations.idle import until_idle
from services.operations.rebuild import run as rebuilding
from services.operations.rebuild.projections import state_hash
from services.operations.rebuild.scopes import scope
from services.operations.rebuild.shadow_schema import connected
from services.receive_email.accept import accept
from services.send_email.suppressions import RecipientSuppressed, refuse_suppressed
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.dead_letters import all_dead_letters
from tests.support.erasing import differences, found
from tests.support.letters import letter
from tests.support.remembered_people import ADA, BOB, CARL, NAMES, SECRET, remembered, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    async with remembered(stack, database, topic_prefix, tmp_path, running_brokerless) as one:
        yield one


@pytest.fixture
async def on_a_broker(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    """The same, for tests that look at the topics."""
    async with remembered(stack, database, topic_prefix, tmp_path) as one:
        yield one


async def rows(app: App, query: str, **args: Any) -> list[dict[str, Any]]:
    async with app.database.reading() as conn:
        return await fetch_all(conn, query, args)  # type: ignore[arg-type]


async def test_nothing_of_an_erased_person_is_left_and_nothing_of_the_others_is_lost(
    on_a_broker: App, stack: Endpoints, tmp_path: Path
) -> None:
    """Ada is found everywhere before and nowhere after; Bob, Carl and the documents are as they were."""
    app = on_a_broker
    ada = await found(app, ADA)
    marks = ada.marks
    assert {ADA, "a1@quillfeather.example"} <= marks.phrases
    assert {SECRET, "88123"} <= marks.words
    assert "77456" not in marks.words
    assert "ada quillfeather" in ada.said_outside, "a fact of Bob's says so: it is his"
    others = await facts_of(app, BOB, CARL)
    before = await prove(app, marks)
    assert {one.place.split()[0] for one in before.findings} >= {"table", "topic", "blob"}
    nothing_said = Marks(frozenset(), frozenset())
    held = (await prove(app, nothing_said, ada.people)).findings
    assert {"table facts", "table mails", "table subject_keys"} <= {one.place for one in held}, "whoever says her words"

    done = await erase(app, ada, by="the test")
    await until_idle(app, timeout_s=120)

    assert done.events > 20
    after = await prove(app, marks, ada.people)
    assert after.findings == ()
    assert min(after.read[store] for store in ("tables", "topics", "blobs", "files")) > 0
    assert await differences(app, stack) == set()
    mails = await rows(app, "SELECT author_addr, text, recipients FROM mails ORDER BY received_at")
    assert [one["author_addr"] for one in mails] == [BOB, BOB, CARL]
    assert "77456" in mails[0]["text"]
    assert ADA not in mails[0]["recipients"]
    facts = await rows(app, "SELECT DISTINCT participant_id FROM facts")
    ids = {name: participant_id(app.settings.workspace, name) for name in (ADA, BOB, CARL)}
    assert ids[ADA] not in {one["participant_id"] for one in facts}
    assert ids[CARL] in {one["participant_id"] for one in facts}
    assert await facts_of(app, BOB, CARL) == others


async def facts_of(app: App, *who: str) -> list[dict[str, Any]]:
    """The facts of some people with what they rest on, as they are stored, vectors and all."""
    people = [participant_id(app.settings.workspace, one) for one in who]
    return await rows(
        app,
        "SELECT to_jsonb(f) AS fact, (SELECT jsonb_agg(to_jsonb(s) ORDER BY s.quote) FROM fact_sources s"
        " WHERE s.fact_id = f.fact_id) AS sources FROM facts f WHERE participant_id = ANY(%(people)s) ORDER BY fact_id",
        people=people,
    )


async def test_what_was_erased_stays_erased_and_the_person_may_begin_anew(
    app: App, stack: Endpoints, tmp_path: Path
) -> None:
    """Erasing twice changes nothing; a new mail makes a new key and new facts, and old events stay unreadable."""
    await erase(app, await found(app, ADA), by="the test")
    await until_idle(app, timeout_s=120)
    again = await found(app, ADA)
    async with app.database.reading() as conn:
        before = await state_hash(conn)
    assert (await erase(app, again, by="the test")).events == 0
    async with app.database.reading() as conn:
        assert await state_hash(conn) == before

    await write(app, ADA, "My order number is 55001. What does the Team plan cost?", "<a9@quillfeather.example>")
    read = await rows(app, "SELECT * FROM events WHERE type = 'email.read.v1' ORDER BY seq")
    with pytest.raises(Erased):
        EventRow.of(**read[0]).envelope()
    assert read[-1]["data"]["author"]["addr"] == ADA
    [person_row] = await rows(app, "SELECT name FROM participants WHERE addr = %(addr)s", addr=ADA)
    assert person_row["name"] == "Ada Quillfeather"
    assert await differences(app, stack) == set()


async def test_an_erase_that_was_cut_short_after_its_transaction_is_finished_by_the_next_run(app: App) -> None:
    """What lies outside the database is remembered until it is cleared, whoever clears it."""
    ada = await found(app, ADA)
    blobs = [row["data"]["blob"] for row in await rows(app, "SELECT * FROM events WHERE type = 'mail.received.v1'")]
    deleted, app.blobs.delete = app.blobs.delete, _out_of_power  # type: ignore[method-assign]
    with pytest.raises(OSError, match="power"):
        await erase(app, ada, by="the test")
    app.blobs.delete = deleted  # type: ignore[method-assign]
    assert await finish(app, app.settings.workspace) == 1
    assert await finish(app, app.settings.workspace) == 0
    for name in blobs[:1]:
        with pytest.raises(Erased):
            await app.blobs.get(name)


async def _out_of_power(name: str) -> None:
    raise OSError("no power")


async def test_an_export_holds_what_is_held_and_nothing_of_anybody_else(app: App, tmp_path: Path) -> None:
    """Mails as they came, facts with their sources, threads, replies; the other's mail of a shared thread is not in it."""
    folder = tmp_path / "export"
    counts = await export(app, await found(app, ADA), new_folder(folder))
    text = "\n".join(path.read_text("utf-8", "replace") for path in folder.rglob("*") if path.is_file())
    assert counts["mails"] == 2
    assert counts["replies"] >= 1
    assert SECRET in text
    assert "88123" in text
    assert [path.name for path in folder.rglob("*") if path.is_file() and b"77456" in path.read_bytes()] == []
    assert "66789" not in text
    assert {"facts.json", "fact_sources.json", "threads.json"} <= {path.name for path in (folder / "person").iterdir()}


async def test_an_export_says_how_far_each_sender_is_believed(app: App, tmp_path: Path) -> None:
    """Not all that came in a person's name is theirs: each row of a mail or thread carries its sender's level."""
    ada = await found(app, ADA)
    spoofed = await rows(
        app,
        "UPDATE mails SET identity = 'unverified', trusted = false WHERE mail_id = (SELECT mail_id FROM mails"
        " WHERE participant_id = ANY(%(people)s) ORDER BY received_at LIMIT 1) RETURNING mail_id::text",
        people=list(ada.people),
    )
    await export(app, ada, new_folder(tmp_path / "export"))
    person = {path.stem: json.loads(path.read_text("utf-8")) for path in (tmp_path / "export" / "person").iterdir()}
    levels = {row["mail_id"]: row["sender_level"] for row in person["mails"]}
    assert levels[spoofed[0]["mail_id"]] == "unverified"
    assert {row["sender_level"] for row in person["conversation"] if row["mail_id"] == spoofed[0]["mail_id"]} == {
        "unverified"
    }
    assert set(levels.values()) == {"unverified", "vouched"}
    assert all(row["sender_level"] for row in person["threads"])


async def test_an_export_holds_archived_events_too(app: App, tmp_path: Path) -> None:
    """Moved to files, what is held about a person is exported as before; a file that is missing is an error."""
    at_hand, moved = tmp_path / "at_hand", tmp_path / "moved"
    counts = await export(app, await found(app, ADA), new_folder(at_hand))
    assert await _archived(app)
    ada = await found(app, ADA)
    assert await export(app, ada, new_folder(moved)) == counts
    assert _files(moved) == _files(at_hand)
    for file in (app.settings.home / "archive").iterdir():
        file.unlink()
    with pytest.raises(ArchiveMissing, match="events-"):
        await export(app, ada, new_folder(tmp_path / "missing"))


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_a_word_that_is_left_in_any_store_is_found(on_a_broker: App, tmp_path: Path) -> None:
    """One planted in a table, in Redis, on a topic, in its headers, in a blob, in a log file: each is a finding."""
    app = on_a_broker
    marks = Marks(frozenset({ADA}), frozenset({SECRET}))
    await erase(app, await found(app, ADA), by="the test")
    assert (await prove(app, marks)).findings == ()
    topic = app.settings.kafka.topic_prefix + "turns"
    async with app.database.reading() as conn:
        await conn.execute("INSERT INTO receipts VALUES (gen_random_uuid(), 'w', %(who)s, '')", {"who": ADA})
    await app.cache.put(f"brief:{SECRET}", "text", seconds=60)
    await app.cache.put("brief:1", f"about {SECRET}", seconds=60)
    await app.publisher.publish([Record(topic, b"k", b"{}", (("said", ADA.encode()),))])
    sealed = await _sealed_elsewhere(app, f"so {SECRET} it is")
    await app.publisher.publish([Record(topic, b"k", json.dumps(sealed).encode())])
    await app.blobs.put(f"the file of {ADA}".encode())
    (tmp_path / "logs").mkdir(exist_ok=True)
    (tmp_path / "logs" / "deployment.log").write_text(f"sent to {ADA.upper()}\n")
    places = {one.place.split(" ")[0] for one in (await prove(app, marks)).findings}
    assert places == {"table", "Redis", "topic", "blob", "file"}
    findings = {(one.place, one.word) for one in (await prove(app, marks)).findings}
    assert {("Redis", SECRET), (f"topic {topic}", ADA), (f"topic {topic}, opened", SECRET)} <= findings
    await app.cache.drop(f"brief:{SECRET}", "brief:1")


async def _sealed_elsewhere(app: App, text: str) -> dict[str, Any]:
    """A text that is sealed with the key of somebody else, who is not erased."""
    bob = frozenset({participant_id(app.settings.workspace, BOB)})
    async with app.database.transaction(app.settings.workspace) as conn:
        key = (await app.keys.hold(conn, app.settings.workspace, [bob]))[bob]
    return seal_json(key, {}, {"text": text}, of="")


async def test_an_erase_that_fails_inside_changes_nothing_and_the_next_one_completes(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash before the commit leaves keys, events and tables as they were; then the same erase is made."""
    ada = await found(app, ADA)
    async with app.database.reading() as conn:
        before = await state_hash(conn)
    monkeypatch.setattr(run, "refold", _crash)
    with pytest.raises(RuntimeError, match="killed"):
        await erase(app, ada, by="the test")
    monkeypatch.undo()
    async with app.database.reading() as conn:
        assert await state_hash(conn) == before
    assert (await found(app, ADA)).events == ada.events
    assert (await erase(app, ada, by="the test")).events > 20
    assert (await prove(app, ada.marks)).findings == ()


async def _crash(*_: Any) -> int:
    raise RuntimeError("killed")


async def test_mail_under_way_while_its_author_is_erased_ends_well(app: App, stack: Endpoints) -> None:
    """Mails of Ada and of others come in during the erase: each is done, nothing waits, and the fold agrees."""
    ada = await found(app, ADA)
    async with asyncio.TaskGroup() as group:
        for number in range(6):
            who = ADA if number % 2 else CARL
            group.create_task(_offer(app, who, f"<f{number}@x.example>", number))
        group.create_task(erase(app, ada, by="the test"))
    await until_idle(app, timeout_s=120)
    assert await differences(app, stack) == set()
    mails = await rows(app, "SELECT message_id FROM mails WHERE author_addr = %(who)s", who=CARL)
    assert len(mails) == 4
    assert [f"{one.group}: {one.error}" for one in await all_dead_letters(app)] == []


async def _offer(app: App, who: str, message_id: str, number: int) -> None:
    raw = letter(f"My order number is 9{number}123.", sender=f"{NAMES[who]} <{who}>", message_id=message_id)
    await accept(app, app.settings.inboxes[0], raw, source="file", source_key=message_id)


async def test_a_rebuild_at_work_keeps_out_whoever_else_changes_or_folds_the_whole_history(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between a rebuild's fold and its swap nobody is erased or archived, nobody folds; so nobody comes back by it."""
    async with running_brokerless(settings_for(stack, database, topic_prefix, tmp_path)) as app:
        await write(app, ADA, "My order number is 88123. What does the Team plan cost?", "<a1@quillfeather.example>")
        await _rebuild_while_others_try(app, monkeypatch)
        await erase(app, await found(app, ADA), by="the test")
        await until_idle(app, timeout_s=120)
        assert await rows(app, "SELECT author_addr FROM mails") == []
        assert await differences(app, stack) == set()


async def _rebuild_while_others_try(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, everything = app.settings, scope("all")
    ada, carry = await found(app, ADA), rebuilding._carry_vectors
    kept_out: list[str] = []

    async def meanwhile(*given: Any) -> None:
        monkeypatch.setattr(rebuilding, "_carry_vectors", carry)
        for attempt in (
            erase(app, ada, by="the test"),
            rebuilding.check(settings, everything, lambda _: None),
            rebuilding.swap(settings, everything, lambda _: None),
            _archived(app),
        ):
            with pytest.raises(HistoryHeld, match="try again"):
                await attempt
            kept_out.append(attempt.__qualname__)
        await carry(*given)

    monkeypatch.setattr(alone, "WAIT_S", 0.0)
    monkeypatch.setattr(rebuilding, "_carry_vectors", meanwhile)
    assert await rebuilding.swap(settings, everything, lambda _: None) > 0
    assert len(kept_out) == 4
    monkeypatch.undo()


async def _archived(app: App) -> list[Any]:
    async with app.database.reading() as conn:
        return [one async for one in move(conn, archive_of(app.settings), datetime(2100, 1, 1, tzinfo=UTC))]


async def test_who_complained_is_not_written_to_after_the_erase(app: App) -> None:
    """The suppression outlives the erase as a keyed hash, which names nobody."""
    workspace = app.settings.workspace
    [reply] = await rows(app, "SELECT reply_id FROM deliveries WHERE recipient = %(who)s LIMIT 1", who=ADA)
    async with app.database.reading() as conn:
        await conn.execute(
            "INSERT INTO suppressions (workspace, addr, reason, mail_id, reply_id, at) VALUES"
            " (%(workspace)s, %(addr)s, 'complaint', gen_random_uuid(), %(reply_id)s, now())",
            {"workspace": workspace, "addr": ADA, **reply},
        )
    await erase(app, await found(app, ADA), by="the test")
    [kept] = await rows(app, "SELECT * FROM erased_suppressions")
    assert ADA not in str(kept)
    async with app.database.transaction(workspace) as conn:
        with pytest.raises(RecipientSuppressed, match="complaint"):
            await refuse_suppressed(conn, workspace, ADA)
        await refuse_suppressed(conn, workspace, BOB)


async def test_archived_events_are_erased_too_and_those_of_others_are_kept(app: App, stack: Endpoints) -> None:
    """The files stay as they are: Ada's part of them has no key, Bob's mails in them stand sealed anew beside them."""
    await write(app, ADA, "And for a whole year?", "<a3@quillfeather.example>", "<a2@quillfeather.example>")
    ada = await found(app, ADA)
    assert await _archived(app)
    assert (await found(app, ADA)).marks == ada.marks
    await erase(app, await found(app, ADA), by="the test")
    await until_idle(app, timeout_s=120)
    assert (await prove(app, ada.marks)).findings == ()
    assert await differences(app, stack) == set()
    mails = await rows(app, "SELECT author_addr, text FROM mails ORDER BY received_at")
    assert [one["author_addr"] for one in mails] == [BOB, BOB, CARL]
    assert "77456" in mails[0]["text"]


async def test_a_new_master_key_wraps_every_key_and_the_former_one_is_needed_no_more(app: App, tmp_path: Path) -> None:
    """After a rotation the first line of master.key alone opens all that is stored."""
    before = len(await rows(app, "SELECT key_id FROM subject_keys"))
    add_master_key(tmp_path)
    assert await rewrap_all(app.settings) == before
    newest = (tmp_path / FILE).read_text().split()[0]
    alone = app.settings.model_copy(update={"master_keys": SecretStr(newest)})
    async with open_keys(alone) as keys, connected(alone.database_url, keys) as conn:
        read = await fetch_all(conn, "SELECT * FROM events WHERE type = 'email.read.v1'")
    assert {EventRow.of(**one).envelope().type for one in read} == {"email.read.v1"}
    await write(app, CARL, "What does the Team plan cost?", "<c9@x.example>")
    [last] = await rows(app, "SELECT text FROM mails ORDER BY received_at DESC LIMIT 1")
    assert last["text"].startswith("What does"), "the deployment at work has found the new master key by itself"
