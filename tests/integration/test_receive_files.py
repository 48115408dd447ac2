"""Files come in: history, once each, whatever happens half-way."""

from __future__ import annotations

import mailbox
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.app import App
from services.core.bus.publisher import LogUnavailable
from services.core.settings import Settings
from services.receive_email.accept import accept
from services.receive_email.files import NothingToImport, Progress, import_path
from tests.support.imap import letter, on_the_log, receiving_app, settings_for, stored


@pytest.fixture
def settings(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> Settings:
    return settings_for(stack, database, topic_prefix, tmp_path / "home")


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    async with receiving_app(settings) as opened:
        yield opened


def an_mbox(path: Path, numbers: range) -> Path:
    box = mailbox.mbox(path)
    for number in numbers:
        box.add(letter(number).replace(b"\r\n", b"\n"))
    box.close()
    return path


async def test_an_mbox_is_imported_once(app: App, settings: Settings, tmp_path: Path) -> None:
    """Every mail of an mbox becomes one event in mode history, and a second import adds none."""
    path = an_mbox(tmp_path / "old.mbox", range(20))
    seen: list[Progress] = []
    first = await import_path(app, settings.inboxes[0], path, progress=seen.append)
    again = await import_path(app, settings.inboxes[0], path)
    assert (first.total, first.read, first.new) == (20, 20, 20)
    assert (again.read, again.new) == (20, 0)
    assert [one.read for one in seen] == sorted({one.read for one in seen})
    events = await stored(app)
    assert {one.mode for one in events} == {"history"}
    assert len(events) == len(await on_the_log(settings, 20)) == 20


async def test_the_same_mail_in_another_kind_of_file_is_the_same_mail(
    app: App, settings: Settings, tmp_path: Path
) -> None:
    """A mail's name is its content: as .eml after an import as Maildir it brings no second event."""
    raw = letter("one")
    maildir = mailbox.Maildir(tmp_path / "Maildir")
    maildir.add(raw)
    (tmp_path / "one.eml").write_bytes(next(iter((tmp_path / "Maildir" / "new").iterdir())).read_bytes())
    await import_path(app, settings.inboxes[0], tmp_path / "Maildir")
    await import_path(app, settings.inboxes[0], tmp_path / "one.eml")
    assert len(await stored(app)) == 1


async def test_raw_bytes_are_kept_unchanged(app: App, settings: Settings, tmp_path: Path) -> None:
    """The blob holds the file's bytes, broken encodings, NULs and bare carriage returns included."""
    raw = b"From: \xff\xfe\x00\r\nSubject: =?bogus?\r\r\n\n\x00\xe9 body \r without end"
    (tmp_path / "odd.eml").write_bytes(raw)
    await import_path(app, settings.inboxes[0], tmp_path / "odd.eml", vouched_by="olga")
    (event,) = await stored(app)
    assert await app.blobs.get(event.blob) == raw
    assert (event.size, event.vouched_by) == (len(raw), "olga")


async def test_an_empty_file_is_counted_and_brings_no_mail(app: App, settings: Settings, tmp_path: Path) -> None:
    """Files without a byte that is not white space are named in the result, not imported."""
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "a.eml").write_bytes(letter("a"))
    (tmp_path / "box" / "b.eml").write_bytes(b"\r\n")
    done = await import_path(app, settings.inboxes[0], tmp_path / "box")
    assert (done.read, done.new, done.empty) == (2, 1, 1)


async def test_a_path_without_mail_is_refused_in_words(app: App, settings: Settings, tmp_path: Path) -> None:
    """A path that is absent, or holds nothing, is an error that says what to name instead."""
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "absent", tmp_path / "empty"):
        with pytest.raises(NothingToImport, match="no mail at"):
            await import_path(app, settings.inboxes[0], path)


async def test_an_import_that_lost_the_log_goes_on_where_it_was(
    app: App, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the log goes away in the midst of an import, the next one loses no mail and repeats none."""
    path = an_mbox(tmp_path / "old.mbox", range(30))
    publish, calls = type(app.publisher).publish_each, 0

    async def failing(self: object, records: Sequence[object]) -> object:
        nonlocal calls
        calls += 1
        if calls > 12:
            return [LogUnavailable() for _ in records]
        return await publish(self, records)  # type: ignore[arg-type]

    monkeypatch.setattr(type(app.publisher), "publish_each", failing)
    with pytest.raises(LogUnavailable):
        await import_path(app, settings.inboxes[0], path)
    monkeypatch.undo()
    await import_path(app, settings.inboxes[0], path)
    ids = [one["ce_id"] for one in await on_the_log(settings, 30)]
    assert len(ids) == len(set(ids)) == 30
    assert len(await stored(app)) == 30


async def test_the_event_stored_first_is_the_one_published(app: App, settings: Settings) -> None:
    """A mail offered again after a failed publish goes out with the time at which it first came."""
    raw, inbox = letter("late"), settings.inboxes[0]

    async def refuse(_: object, records: Sequence[object]) -> list[LogUnavailable]:
        return [LogUnavailable() for _ in records]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(app.publisher), "publish_each", refuse)
        with pytest.raises(LogUnavailable):
            await accept(app, inbox, raw, source="file", source_key="k")
    async with app.database.reading() as conn:
        (row,) = await (
            await conn.execute("SELECT time, id IN (SELECT event_id FROM outbox) AS unpublished FROM events")
        ).fetchall()
    assert row["unpublished"]
    again = await accept(app, inbox, raw, source="file", source_key="k")
    assert not again.new
    (header,) = await on_the_log(settings, 1)
    assert header["ce_time"] == row["time"].isoformat()
