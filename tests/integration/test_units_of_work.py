"""A unit of work sends its statements without waiting: all of it is stored, or none, and errors are never swallowed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from deploy.local import Endpoints
from schemas.events.memory import FactRequested
from services import learn_facts
from services.core.bus import event_store
from services.core.bus.runner import Runner
from services.core.bus.work import Work
from services.core.db import fetch_one
from services.core.errors import EmbedderUnavailable
from services.memory.embeddings import MiniLM, Vector
from services.memory.multilingual import Multilingual
from tests.support.remembering import Memory, day, fact, remembering

MARK = "INSERT INTO embeddings (model, text_sha256, vector) VALUES (%(model)s, repeat('0', 64), '[1]')"
ASKED = FactRequested(participant_id=UUID(int=2), op="pin", fact_id=UUID(int=1), by="grace")
PLACE = "SELECT pg_current_wal_insert_lsn() AS lsn"
COUNT = "SELECT count(*) AS n FROM embeddings WHERE model = %(model)s"


class Away(MiniLM):
    """An embedder that does not answer."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder.embed`."""
        raise EmbedderUnavailable("nobody there")


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        yield one


async def count(memory: Memory, model: str) -> int:
    (row,) = await memory.rows(COUNT, model=model)
    return int(row["n"])


async def mark(memory: Memory, model: str, times: int = 1) -> None:
    async with memory.app.database.transaction() as conn:
        for _ in range(times):
            await conn.execute(MARK, {"model": model})


async def mark_and_fail(memory: Memory, fetches: bool) -> None:
    async with memory.app.database.transaction() as conn:
        await conn.execute(MARK, {"model": "own"})
        if fetches:
            assert (await fetch_one(conn, COUNT, {"model": "own"}) or {})["n"] == 1
        raise ZeroDivisionError


async def test_an_error_that_nobody_fetched_is_raised_and_nothing_is_stored(memory: Memory) -> None:
    """A statement that fails behind the writer's back fails the whole transaction, and the connection works again."""
    with pytest.raises(psycopg.errors.UniqueViolation):
        await mark(memory, "twice", times=2)
    assert await count(memory, "twice") == 0
    await mark(memory, "once")
    assert await count(memory, "once") == 1


async def test_what_the_block_raises_takes_everything_back(memory: Memory) -> None:
    """An error of the caller's own, before or after something was fetched, stores nothing."""
    for fetches in (False, True):
        with pytest.raises(ZeroDivisionError):
            await mark_and_fail(memory, fetches)
        assert await count(memory, "own") == 0


async def test_a_connection_that_was_killed_is_replaced_before_it_is_used(memory: Memory) -> None:
    """However short ago they were used: who asks for a connection gets one that works."""
    async with memory.app.database.reading() as conn:
        await conn.execute("SELECT 1")
    async with await psycopg.AsyncConnection.connect(memory.app.settings.database_url, autocommit=True) as other:
        await other.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
    for _ in range(4):
        async with memory.app.database.reading() as conn:
            assert await fetch_one(conn, "SELECT 1 AS one") == {"one": 1}


async def test_a_facts_own_event_needs_nothing_where_the_fact_has_its_vector(memory: Memory) -> None:
    """What one mail teaches is searchable when its unit ends, and what it caused is journaled with it."""
    mail = await memory.mail("We are on the Team plan. We use Xero.", on=1)
    plan, tool = fact("plan", "Team", "on the Team plan"), fact("uses", "Xero", "use Xero")
    await memory.process(memory.reflection(mail, plan, tool))
    rows = await memory.rows("SELECT embedding_model FROM facts")
    assert [row["embedding_model"] for row in rows] == [Multilingual.name] * 2
    assert await memory.waiting(learn_facts.PROCESSOR) == []


async def test_a_fact_is_learned_while_the_embedder_is_away(memory: Memory) -> None:
    """Learning waits for no vector; the fact's own event is left to do, and gives it one once the embedder is back."""
    mail = await memory.mail("We are on the Team plan.", on=1)
    away = replace(memory.app, embedder=Away())
    reflected = memory.reflection(mail, fact("plan", "Team", "on the Team plan"))
    await Runner(learn_facts.PROCESSOR, away).process(reflected)
    assert await memory.current() == ["Team"]
    (waiting,) = await memory.waiting(learn_facts.PROCESSOR)
    with pytest.raises(EmbedderUnavailable):
        await Runner(learn_facts.PROCESSOR, away).process(waiting)
    await memory.settle()
    assert [row["embedding_model"] for row in await memory.rows("SELECT embedding_model FROM facts")] == [
        Multilingual.name
    ]


async def test_what_was_learned_went_on_before_it_was_on_disk(memory: Memory) -> None:
    """A unit in the background commits without waiting and waits with others: behind it all that it wrote is on disk."""
    for number in range(20):
        envelope = memory.event(ASKED, day(number))
        work = Work(envelope.data, envelope, "learn_facts", memory.app, {}, background=True)
        async with work.unit() as unit:
            assert await unit.one("SELECT current_setting('synchronous_commit') AS it") == {"it": "off"}
            place = await unit.one(PLACE)
        assert await on_disk(memory, place)


async def test_what_another_attempt_had_committed_only_in_memory_was_gone_on_from(memory: Memory) -> None:
    """A journal row that is found says nothing of the disk: whoever finds it waits for it, and only then goes on."""
    for number in range(20):
        envelope = memory.event(ASKED, day(number))
        row = {"consumer": "learn_facts", "event_id": envelope.id, "event_day": day(number).date()}
        async with memory.app.database.transaction(to_disk=False) as conn:
            await conn.execute(event_store.SQL.mark_done, row)
            place = await fetch_one(conn, PLACE)
        await memory.process(envelope)
        assert await on_disk(memory, place)


async def on_disk(memory: Memory, place: dict[str, Any] | None) -> bool:
    """Whether what was written before this place is on disk."""
    assert place is not None
    (row,) = await memory.rows("SELECT pg_current_wal_flush_lsn() >= %(lsn)s::pg_lsn AS done", **place)
    return bool(row["done"])
