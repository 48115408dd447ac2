"""Before DATA the sender asks the rows of others whether its reply is still wanted, whoever has not caught up yet."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.events.base import EventData
from schemas.events.mail import EmailRead, Identity, Verdict
from schemas.events.threads import ThreadOpened, TurnOpened
from services.core.bus.envelope import first
from services.core.bus.unit import Apply
from services.core.db import Connection, Database, row_as
from services.read_email.apply import APPLIERS as READ
from services.send_email.deliver import overtaken
from services.track_threads.apply import APPLIERS as TRACKED

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
APPLIERS: Mapping[type[EventData], Apply] = {**READ, **TRACKED}
THREAD, TURN, QUESTION = uuid4(), uuid4(), uuid4()


class Rows:
    """What `overtaken` needs of a unit of work: a way to ask."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    async def row_as(self, kind: Any, query: Any, **args: Any) -> Any:
        return await row_as(self._conn, kind, query, args)


async def tell(conn: Connection, data: EventData, at: datetime, version: int) -> None:
    """Apply one event as its own processor does."""
    envelope = replace(first(data, id=uuid4(), source="test", time=at, workspace="main"), version=version)
    await APPLIERS[type(data)](conn, envelope)


def mail(mail_id: UUID, kind: str, **given: Any) -> EmailRead:
    fields = {
        "mail_id": mail_id, "thread_id": THREAD, "participant_id": None, "inbox": "support", "mode": "live",
        "blob": "0" * 64, "message_id": f"{mail_id}@acme.example", "content_sha256": "0" * 64,
        "identity": Identity(level="verified"), "verdict": Verdict(kind=kind, reason="because"),  # type: ignore[arg-type]
    }  # fmt: skip
    return EmailRead.model_validate(fields | given)


@pytest.fixture
async def conn(database: str) -> AsyncIterator[Connection]:
    """Rows of a thread whose turn answers one mail, undisturbed so far."""
    app = Database(database, size=1)
    await app.open()
    try:
        async with app.reading() as opened:
            person = {"thread_id": THREAD, "participant_id": None, "inbox": "support"}
            await tell(opened, mail(QUESTION, "answer"), NOW, 1)
            await tell(opened, ThreadOpened.model_validate(person | {"subject": "A question"}), NOW, 1)
            opening = {"turn_id": TURN, "mail_ids": (QUESTION,), "trusted": True, "waiting_since": NOW}
            await tell(opened, TurnOpened.model_validate(person | opening), NOW, 2)
            yield opened
    finally:
        await app.close()


async def why_not(conn: Connection) -> str:
    return await overtaken(Rows(conn), THREAD, TURN)  # type: ignore[arg-type]


async def test_a_reply_to_the_newest_mail_is_wanted(conn: Connection) -> None:
    """Nothing has come in between."""
    assert await why_not(conn) == ""


@pytest.mark.parametrize(
    ("kind", "named", "why"),
    [
        ("colleague", QUESTION, "a colleague answered"),
        ("colleague", uuid4(), ""),
        ("park", QUESTION, ""),
    ],
)
async def test_a_colleagues_answer_stops_it_before_the_thread_knows(
    conn: Connection, kind: str, named: UUID, why: str
) -> None:
    """read_email has seen it in Sent and track_threads has not yet; only what answers a mail of the turn counts."""
    verdict = Verdict(kind=kind, reason="in Sent", filter="sent_folder")  # type: ignore[arg-type]
    by_hand = mail(uuid4(), kind, verdict=verdict, in_reply_to=(f"{named}@acme.example",))
    await tell(conn, by_hand, NOW + timedelta(seconds=5), 1)
    assert await why_not(conn) == why


async def test_a_newer_mail_stops_it_before_the_thread_knows(conn: Connection) -> None:
    """It will be answered together with what it came after."""
    await tell(conn, mail(uuid4(), "answer"), NOW + timedelta(seconds=5), 1)
    assert await why_not(conn) == "a newer mail came"
