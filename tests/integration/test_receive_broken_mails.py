"""Mails broken at random go the whole way of receiving and reading: none is lost, none stops what comes after it."""

from __future__ import annotations

import os
import random
from email.message import EmailMessage
from pathlib import Path

import pytest

from deploy.local import Endpoints
from schemas.events.mail import EmailRead
from services.core.bus import history
from services.core.bus.runner import Runner
from services.core.db import fetch_all
from services.core.house import open_house
from services.process import prepare
from services.read_email import PROCESSOR
from services.receive_email.accept import accept
from tests.benchmarks.mail_fuzz import mutate
from tests.support.auto_senders import automatic_mails
from tests.support.corpora import CORPORA
from tests.support.house import settings_for

BROKEN = int(os.environ.get("BROKEN_MAILS", "120"))
SEED = 20261121


def whole_mails() -> list[bytes]:
    """Robots' mails, one with an attachment, and a few real ones where the corpora are."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ann@a.example", "support@ourcompany.example", "Größe?"
    mail.set_content("Bitte sehen Sie den Anhang.\n\nAnn")
    mail.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="größe.csv")
    real = sorted(path for path in (CORPORA / "mime").rglob("*") if path.is_file())[:60]
    return [mail.as_bytes(), *(one.raw for one in automatic_mails()), *(path.read_bytes() for path in real)]


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_broken_mails_are_all_read_or_parked_and_none_is_lost(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Each of the broken mails gets one event `email.read` with a verdict and a reason, and its bytes stay unchanged."""
    chance, whole = random.Random(SEED), whole_mails()
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    await prepare(settings)
    async with open_house(settings) as house:
        runner, given = Runner(PROCESSOR, house), {}
        for number in range(BROKEN):
            raw = mutate(chance.choice(whole), chance.choice(whole), chance)
            taken = await accept(house, settings.inboxes[0], raw, source="file", source_key=str(number))
            given[taken.mail_id] = raw
            async with house.database.reading() as conn:
                query = "SELECT * FROM events WHERE type = 'mail.received.v1' AND data ->> 'mail_id' = %(id)s"
                (received,) = await fetch_all(conn, query, {"id": str(taken.mail_id)})
            await runner.process(history.envelope(received))
        async with house.database.reading() as conn:
            stored = await fetch_all(conn, "SELECT * FROM events WHERE type = 'email.read.v1'")
        read = [history.envelope(row).data for row in stored]
        assert len(given) == len(read) == BROKEN
        for one in read:
            assert isinstance(one, EmailRead)
            assert one.verdict.kind
            assert one.verdict.reason
            assert await house.blobs.get(one.blob) == given[one.mail_id]
