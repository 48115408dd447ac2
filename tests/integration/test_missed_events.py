"""An event that its consumer's offset has passed undone is published again; what only waits is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.app import open_app
from services.core.bus.codec import encode
from services.core.bus.dead_letters import make_dead_letter
from services.core.bus.delivery import Delivery, Partition, Record
from services.core.bus.event_row import EventRow
from services.core.bus.event_store import SQL
from services.core.bus.publisher import Outcome, Publisher
from services.core.db import fetch_one
from services.core.errors import Permanent
from services.operations.health import missed
from services.operations.health.missed import MissedEvents
from services.operations.idle import until_idle
from services.operations.preparation import prepare
from services.receive_email.accept import accept
from tests.support.app import running_app, settings_for
from tests.support.letters import letter


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is undone is suspected at once."""
    monkeypatch.setattr(missed, "OLD_S", 0.0)
    monkeypatch.setattr(missed, "LOOK_EVERY_S", 0.5)


@pytest.fixture
def gone_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every group has committed everything, although none is running."""

    async def committed_by(
        brokers: object, wanted: Mapping[str, Sequence[Partition]]
    ) -> dict[str, dict[Partition, int]]:
        return {name: dict.fromkeys(places, 10**6) for name, places in wanted.items()}

    monkeypatch.setattr(missed, "committed_by", committed_by)


async def test_a_record_that_the_broker_acknowledged_and_lost_was_never_told_again(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mail is read although its record is not on the log, and its neighbours' records are."""
    lost: list[Record] = []
    publish_each = Publisher.publish_each

    async def losing(publisher: Publisher, records: Sequence[Record]) -> list[Outcome]:
        mails = [one for one in records if one.topic.endswith(".inbound-email.raw")]
        if lost or not mails:
            return await publish_each(publisher, records)
        lost.extend(mails)
        return [None] * len(records)

    monkeypatch.setattr(Publisher, "publish_each", losing)
    async with running_app(settings_for(stack, database, topic_prefix, tmp_path)) as app:
        for number in range(3):
            raw = letter("What does it cost?", message_id=f"<{number}@people.example>")
            await accept(app, app.settings.inboxes[0], raw, source="file", source_key=str(number))
        await until_idle(app, timeout_s=120)
    assert len(lost) == 1


async def test_what_a_consumer_has_not_come_to_is_not_published_again(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A consumer that is not running has passed nothing."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    await prepare(settings)
    async with open_app(settings) as app:
        await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key="1")
        looks = MissedEvents(app)
        assert [await looks.look() for _ in range(3)] == [0, 0, 0]


async def test_a_dead_letter_that_waits_is_not_published_again(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, gone_on: None
) -> None:
    """Its consumer has passed it, and has done what it can."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    await prepare(settings)
    async with open_app(settings) as app:
        await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key="1")
        async with app.database.reading() as conn:
            row = await fetch_one(conn, "SELECT e.id FROM events e WHERE type = 'mail.received.v1'")
            assert row is not None
            stored = await fetch_one(conn, SQL.by_id, {"id": row["id"]})
        assert stored is not None
        record = encode(EventRow.of(**stored).envelope(), topic_prefix=topic_prefix)
        came = Delivery(record.topic, 0, 0, record.key, record.value, record.headers, 0)
        error, group = Permanent("no mail"), f"{topic_prefix}read_email"
        before = MissedEvents(app)
        assert [await before.look() for _ in range(2)] == [0, 1]
        dead = make_dead_letter(came, group=group, error=error, attempts=1, at=datetime.now(UTC))
        await app.publisher.publish([dead])
        after = MissedEvents(app)
        assert [await after.look() for _ in range(2)] == [0, 0]


async def test_an_event_that_stays_undone_is_published_again_a_few_times_only(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, gone_on: None
) -> None:
    """Then it is an alert's, and in the way of no other."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    await prepare(settings)
    async with open_app(settings) as app:
        await accept(app, app.settings.inboxes[0], letter("Hello"), source="file", source_key="1")

        looks = MissedEvents(app)
        assert sum([await looks.look() for _ in range(9)]) == missed.TRIES
