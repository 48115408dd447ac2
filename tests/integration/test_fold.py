"""The tables are a fold of the stored events: in a fresh database, in any order of aggregates, each event twice."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

import pytest

from deploy.local import Endpoints
from services.core.app import open_keys
from services.core.archive.history import stored_events
from services.core.db import Connection, fetch_one
from services.core.db.migrate import migrate
from services.core.settings import Settings
from services.operations.rebuild.projections import HistoryBroken, fold, fold_events, projections, state_hash
from services.operations.rebuild.shadow_schema import connected
from tests.support.shuffling import doubled, each, interleaved
from tests.support.stack import fresh_database

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
BARELY_USED = {
    "suppressions",
    "relations",
    "thread_actions",
    "goals",
    "fact_parents",
    "participant_profile",
    "participant_aliases",
    "brief_divergences",  # rebuilt with rows in test_memory_briefs
    "thread_entities",  # and in test_thread_entities
    "reply_ratings",  # and in test_retention
    "memory_periods",  # and in test_memory_periods
    "incidents",  # and in test_incidents
    "trouble_reports",
    "outreach",  # and in test_outreach
    "unsubscribes",
    "investigations",  # and in test_investigations
    "investigation_proposals",
    "investigation_files",
}  # the demo's world need not fill these


@pytest.fixture
async def source(lived_in: Settings) -> AsyncIterator[Connection]:
    """A connection to the lived-in database."""
    async with open_keys(lived_in) as keys, connected(lived_in.database_url, keys) as conn:
        yield conn


@pytest.fixture
async def target(stack: Endpoints, lived_in: Settings) -> AsyncIterator[Connection]:
    """A connection to a fresh, migrated database."""
    with fresh_database(stack.database) as url:
        migrate(url)
        async with connected(url) as conn:
            yield conn


async def test_every_table_equals_a_fold_of_the_events_in_a_fresh_database(
    source: Connection, stack: Endpoints
) -> None:
    """Folding the stored events into an empty server's database gives the same hash for every projection."""
    with fresh_database(stack.database) as url:
        folded = await fold(source, url)
        async with connected(url) as target:
            assert await state_hash(target) == await state_hash(source)
            empty = [name for name in projections() if not await _rows(target, name)]
    assert folded > 200
    assert set(empty) <= BARELY_USED, "nothing is proved by tables without rows"


async def test_a_second_fold_changes_nothing(source: Connection, stack: Endpoints) -> None:
    """A fold that is done again applies no event."""
    with fresh_database(stack.database) as url:
        assert await fold(source, url) > 0
        assert await fold(source, url) == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_keys_interleaved_otherwise_and_every_event_doubled(
    source: Connection, target: Connection, seed: int
) -> None:
    """Any merge of the aggregates' own orders, with each event given twice, gives the same state."""
    events = [one async for one in stored_events(source)]
    dice = random.Random(seed)
    applied = await fold_events(each(doubled(interleaved(events, dice), dice)), target)
    assert applied == len(events)
    assert await state_hash(target) == await state_hash(source)


async def test_one_changed_fact_changes_the_hash_of_its_table_alone(source: Connection, target: Connection) -> None:
    """The hash notices a single value that differs, and says in which table."""
    await fold_events(stored_events(source), target)
    before = await state_hash(target)
    await target.execute(
        "UPDATE facts SET value = value || '.' WHERE fact_id = (SELECT min(fact_id::text)::uuid FROM facts)"
    )
    after = await state_hash(target)
    assert {name for name in before if before[name] != after[name]} == {"facts"}


async def test_vectors_do_not_count(source: Connection, target: Connection) -> None:
    """A cache that was emptied leaves the hash as it was."""
    await fold_events(stored_events(source), target)
    await target.execute("UPDATE facts SET embedding = '[1,0,0]', embedding_model = 'another'")
    assert await state_hash(target) == await state_hash(source)


async def test_a_missing_version_is_an_error(source: Connection, target: Connection) -> None:
    """A hole in an aggregate's versions stops the fold instead of being folded over."""
    events = [one async for one in stored_events(source)]
    holed = [one for one in events if one.version != 2]
    with pytest.raises(HistoryBroken):
        await fold_events(each(holed), target)


async def test_a_fold_until_a_moment_is_the_state_of_that_moment(source: Connection, stack: Endpoints) -> None:
    """Folding until the time of the sixth mail knows the mails of that time and no later ones."""
    row = await fetch_one(
        source, "SELECT time AS at FROM events WHERE type = 'email.read.v1' ORDER BY seq OFFSET 5 LIMIT 1"
    )
    assert row is not None
    with fresh_database(stack.database) as url:
        await fold(source, url, until=row["at"])
        async with connected(url) as target:
            assert await _rows(target, "mails") == 6


async def _rows(conn: Connection, table: str) -> int:
    row = await fetch_one(conn, f"SELECT count(*) AS n FROM {table}")  # type: ignore[arg-type]
    assert row is not None
    return int(row["n"])
