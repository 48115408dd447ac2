"""A person is erased from what lies outside the database and is not read: object stores, archives, packed files."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import EmailMessage
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from schemas.events.mail import Peer
from services.core.app import App
from services.core.archive.archive import archive_of
from services.core.db import fetch_all
from services.operations.archive import move
from services.operations.erase.proof import prove
from services.operations.erase.run import erase
from services.operations.erase.survey import everything
from services.operations.idle import until_idle
from services.operations.rebuild.run import past
from services.operations.rebuild.scopes import scope
from services.receive_email.accept import accept
from tests.support.erasing import differences, found
from tests.support.remembered_people import ADA, BOB, CARL, NAMES, SECRET, remembered
from tests.support.s3_server import S3Server, running_s3
from tests.unit.operations.test_erase_inside import zipped

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture
def bucket() -> Iterator[S3Server]:
    with running_s3() as server:
        yield server


async def test_nothing_is_left_in_object_stores_archives_and_packed_files(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, bucket: S3Server
) -> None:
    """What is Ada's alone goes from every store; where others name her, in an envelope, a quote, a zip, theirs stays."""
    access = bucket.access().model_dump()
    kept = {"blobs": {"url": "s3://mail/blobs", **access}, "archive": {"url": "s3://mail/archive"}}
    async with remembered(stack, database, topic_prefix, tmp_path, **kept) as app:
        await _write(app, BOB, "What does the Team plan cost?", "1", peer=Peer(mail_from=ADA))
        await _write(
            app, CARL, f"It works, thanks.\n\nOn Monday {NAMES[ADA]} <{ADA}> wrote:\n> the export is slow", "2"
        )
        packed = zipped(f"minutes of {NAMES[ADA]} and others, see there. ".encode() * 9)
        await _write(app, BOB, "See the minutes.", "3", attached=packed)
        async with app.database.reading() as conn:
            moved = [one async for one in move(conn, archive_of(app.settings), datetime(2100, 1, 1, tzinfo=UTC))]
        assert moved
        await past(app.settings, scope("all"), app.now(), "earlier", lambda count: None, archive_of(app.settings))
        ada = await found(app, ADA)
        assert {ADA, NAMES[ADA].lower()} <= ada.said_outside
        theirs = await _read(app, BOB, CARL)
        places = {one.place for one in (await prove(app, ada.marks)).findings}
        assert {one.split(" ")[0] for one in places} >= {"blob", "archived", "topic", "table"}
        assert "table earlier.mails" in places
        objects = len(bucket.objects)

        assert (await erase(app, ada, by="the test")).events > 20
        await until_idle(app, timeout_s=120)

        proof = await prove(app, ada.marks)
        assert (proof.findings, proof.closed) == ((), ())
        assert min(proof.read[name] for name in ("tables", "topics", "blobs", "archives")) > 0
        assert len(bucket.objects) < objects
        assert await differences(app, stack) == set()
        assert {(BOB, "See the minutes."), (CARL, "It works, thanks.")} <= await _texts(app)
        left = await _read(app, BOB, CARL)
        assert {id: one for id, one in theirs.items() if left[id] != one}.keys() == {"b1@x.example"}
        assert zipped_names(await app.blobs.get(left["more3@x.example"]["attachments"][0]["blob"])) == ["letter.txt"]

        marks = ada.marks
        bucket.objects["/mail/blobs/left"] = f"a note on {SECRET}".encode()
        bucket.objects["/mail/archive/left.jsonl.gz"] = gzip.compress(f'{{"said": "{SECRET}"}}\n'.encode())
        (tmp_path / "support.zip").write_bytes(zipped(f"the {SECRET} again, and again, and again".encode()))
        places = {one.place for one in (await prove(app, marks)).findings}
        assert places == {"blob left", "archive left.jsonl.gz", "file support.zip"}


async def _write(
    app: App, sender: str, text: str, number: str, *, peer: Peer | None = None, attached: bytes = b""
) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"] = f"{NAMES[sender]} <{sender}>", app.settings.inboxes[0].address
    mail["Subject"], mail["Message-ID"] = f"Matter {number}", f"<more{number}@x.example>"
    mail["Date"] = app.now()
    mail.set_content(text)
    if attached:
        mail.add_attachment(attached, maintype="application", subtype="zip", filename="minutes.zip")
    inbox = app.settings.inboxes[0]
    await accept(app, inbox, mail.as_bytes(), source="file", source_key=f"more{number}", peer=peer)
    await until_idle(app, timeout_s=120)


def zipped_names(content: bytes) -> list[str]:
    with zipfile.ZipFile(BytesIO(content)) as packed:
        return packed.namelist()


async def _read(app: App, *who: str) -> dict[str, dict[str, Any]]:
    """The mails of some people as they were read, by Message-ID."""
    async with app.database.reading() as conn:
        rows = [
            row
            async for row in everything(conn, archive_of(app.settings))
            if row.type == "email.read.v1" and not row.is_sealed
        ]
    return {row.data["message_id"]: row.data for row in rows if row.data["author"]["addr"] in who}


async def _texts(app: App) -> set[tuple[str, str]]:
    async with app.database.reading() as conn:
        return {
            (row["author_addr"], row["text"]) for row in await fetch_all(conn, "SELECT author_addr, text FROM mails")
        }
