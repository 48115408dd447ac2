"""kill -9 of each processor in turn, in the middle of mail: nothing is lost, nothing is answered twice."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from psycopg import AsyncConnection
from psycopg.rows import dict_row

from deploy.local import Endpoints
from services.core.db import Connection, fetch_one
from services.core.house import House, open_house
from services.process import prepare
from services.tools.fold import fold, state_hash
from services.tools.settle import settle
from tests.chaos.traffic import MAILS, deliver, make_mails
from tests.support.documents import shelve
from tests.support.house import settings_for
from tests.support.smtp_server import SmtpServer
from tests.support.stack import fresh_database
from tests.support.tally import tally
from tests.support.workers import Workers

# The last of the flow first, so that what a victim leaves behind never starves the next one.
VICTIMS = (
    "learn_documents", "learn_facts", "summarize_threads", "reflect", "send_email",
    "generate_reply", "load_memory", "keep_time", "track_threads", "read_email",
)  # fmt: skip
SEED = 2026


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_kill_9_of_each_processor_in_the_middle_of_mail(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Ten processors are killed while 200 mails come in: each mail ends once, each reply goes once, the fold agrees."""
    began = time.monotonic()
    async with SmtpServer() as server:
        settings = settings_for(
            stack, database, topic_prefix, tmp_path, smtp={"host": "127.0.0.1", "port": server.port},
            threads={"quiet_s": 0.2}, pool_size=4,
        )  # fmt: skip
        await prepare(settings)
        with Workers(settings, tmp_path / "logs") as workers:
            for name in VICTIMS:
                workers.start(name)
            await workers.ready()
            async with open_house(settings) as house:
                await _kill_each(house, workers)
                await settle(house, timeout_s=240)
                async with house.database.reading() as conn:
                    judged = await tally(conn, MAILS, server.copies())
                    await _agrees_with_its_fold(conn, stack)
        print(judged.line(kills=len(VICTIMS), seconds=round(time.monotonic() - began)))
    assert judged.faults == ()
    assert judged.answered >= MAILS // 4, "most mails were overtaken: the run proves little"


async def _kill_each(house: House, workers: Workers) -> None:
    mails = make_mails(SEED)
    share = len(mails) // len(VICTIMS)
    for number, victim in enumerate(VICTIMS):
        before = await _done(house, victim)
        wave = mails[number * share : (number + 1) * share if victim != VICTIMS[-1] else None]
        feeding = asyncio.create_task(deliver(house, wave))
        documents = asyncio.create_task(_documents(house, number))
        await _until_in_the_middle(house, victim, before)
        workers.restart(victim)
        await asyncio.gather(feeding, documents)


async def _documents(house: House, wave: int) -> None:
    for number in range(4):
        text = f"# Plan {wave}-{number}\n\nThe Team plan of tariff {wave}-{number} costs {wave + 10} EUR.\n"
        await shelve(house, f"{wave}-{number}.md", text)


async def _until_in_the_middle(house: House, victim: str, before: int) -> None:
    """Return when the victim has done some of this wave's work, and not all of it."""
    async with asyncio.timeout(90):
        while await _done(house, victim) < before + 3:
            await asyncio.sleep(0.01)


async def _done(house: House, name: str) -> int:
    query = (
        "SELECT count(*) AS n FROM events WHERE source = 'keep_time'"
        if name == "keep_time"
        else "SELECT count(*) AS n FROM journal WHERE consumer = %(name)s"
    )
    async with house.database.reading() as conn:
        row = await fetch_one(conn, query, {"name": name})
    assert row is not None
    return int(row["n"])


async def _agrees_with_its_fold(conn: Connection, stack: Endpoints) -> None:
    with fresh_database(stack.database) as url:
        await fold(conn, url)
        async with await AsyncConnection.connect(url, autocommit=True, row_factory=dict_row) as target:
            assert await state_hash(target) == await state_hash(conn)
