"""Mails broken at random go the whole way of receiving and reading: none is lost, none stops what comes after it.

BROKEN_MAILS=10000 takes ten times as many.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import Sequence
from email.message import EmailMessage
from pathlib import Path
from uuid import UUID, uuid5

import pytest

from deploy.local import Endpoints
from schemas.events.mail import EmailRead, MailReceived
from services.core.app import App
from services.core.bus.event_row import EventRow
from services.core.bus.runner import Runner
from services.core.db import fetch_all
from services.mail.mime import UNREADABLE
from services.read_email import PROCESSOR
from services.receive_email.accept import accept
from tests.benchmarks.mail_fuzz import mutate
from tests.support.app import settings_for
from tests.support.auto_senders import automatic_mails
from tests.support.brokerless import opened_brokerless
from tests.support.corpora import CORPORA

BROKEN = int(os.environ.get("BROKEN_MAILS", "300"))
AT_ONCE = 50
SEED = 20261121


def whole_mails() -> list[bytes]:
    """Robots' mails, one with an attachment, and a few real ones where the corpora are."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ann@a.example", "support@ourcompany.example", "Größe?"
    mail.set_content("Bitte sehen Sie den Anhang.\n\nAnn")
    mail.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="größe.csv")
    real = sorted(path for path in (CORPORA / "mime").rglob("*") if path.is_file())[:60]
    return [mail.as_bytes(), *(one.raw for one in automatic_mails()), *(path.read_bytes() for path in real)]


def broken_mails(count: int) -> list[bytes]:
    """Mails cut, spliced and garbled at random, the same ones each time."""
    chance, whole = random.Random(SEED), whole_mails()
    return [mutate(chance.choice(whole), chance.choice(whole), chance) for _ in range(count)]


async def go_through(app: App, raws: Sequence[bytes], first: int) -> dict[UUID, bytes]:
    """Let mails in and read them, several at a time as lanes do; the bytes of each by its id."""
    runner, inbox = Runner(PROCESSOR, app), app.settings.inboxes[0]

    async def one(number: int, raw: bytes) -> UUID:
        taken = await accept(app, inbox, raw, source="file", source_key=str(number))
        async with app.database.reading() as conn:
            query = "SELECT * FROM events WHERE id = %(id)s"
            (received,) = await fetch_all(conn, query, {"id": uuid5(taken.mail_id, MailReceived.TYPE)})
        await runner.process(EventRow.of(**received).envelope())
        return taken.mail_id

    ids = await asyncio.gather(*(one(first + index, raw) for index, raw in enumerate(raws)))
    return dict(zip(ids, raws, strict=True))


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_broken_mails_are_all_read_or_parked_and_none_is_lost(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Each broken mail ends in exactly one outcome with a reason, our reader fails on none, and its bytes are kept."""
    settings, raws, given = settings_for(stack, database, topic_prefix, tmp_path), broken_mails(BROKEN), {}
    async with opened_brokerless(settings) as app:
        for at in range(0, BROKEN, AT_ONCE):
            given |= await go_through(app, raws[at : at + AT_ONCE], at)
        async with app.database.reading() as conn:
            stored = await fetch_all(conn, "SELECT * FROM events WHERE type = 'email.read.v1'")
            rows = await fetch_all(conn, "SELECT mail_id, verdict, reason FROM mails")
        read = [EventRow.of(**row).envelope().data for row in stored]
        print(BROKEN, Counter(row["verdict"] for row in rows))
        assert len(given) == len(read) == len(rows) == BROKEN
        for one in read:
            assert isinstance(one, EmailRead)
            assert one.verdict.reason
            assert not one.verdict.reason.startswith(UNREADABLE)
            assert await app.blobs.get(one.blob) == given[one.mail_id]
        assert {row["mail_id"] for row in rows} == set(given)
