"""The same events again, at once, in any order of people: one state, by its hash."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services import learn_facts, read_email
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow
from services.core.bus.runner import Runner, enter, publish
from services.core.db import Database
from services.operations.rebuild.projections import fold, state_hash
from tests.support.beginning import after
from tests.support.commands import loaded_commands
from tests.support.memory_worker import worker
from tests.support.remembering import Memory, fact, remembering
from tests.support.stack import fresh_database

PEOPLE = tuple(f"p{number}@acme.example" for number in range(4))
ROOTS = ("mail.received.v1", "turn.reflected.v1", "fact.requested.v1")


async def live(memory: Memory) -> None:
    """A story of several people: values that change, a trouble said twice, a correction, a late mail."""
    for sender in PEOPLE:
        for on, value in ((1, "Starter"), (5, "Team"), (9, "Growth")):
            text = f"We are on the {value} plan. The export is slow."
            trouble = fact("export", f"slow on {value}", "export is slow", kind="issue_history")
            await memory.tell(text, fact("plan", value, f"the {value} plan"), trouble, on=on, sender=sender)
        late = fact("plan", "Trial", "the Trial plan")
        await memory.tell("We are on the Trial plan.", late, on=10, sent_on=4, sender=sender)
        await memory.ask("add", 11, sender, key="language", value="German")


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    """A memory of nobody."""
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        yield one


@pytest.fixture
async def lived(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    """A memory of the story."""
    async with after(live, remembering, stack, template_database, topic_prefix, tmp_path) as one:
        yield one


async def stored(memory: Memory, *types: str) -> list[Envelope]:
    """The stored events of some types, in the order of storing."""
    rows = await memory.rows("SELECT * FROM events WHERE type = ANY(%(types)s) ORDER BY seq", types=list(types))
    return [EventRow.of(**row).envelope() for row in rows]


async def test_every_event_again_changes_nothing(lived: Memory) -> None:
    """Each stored event delivered three times more, in a random order, leaves every table as it was."""
    before = await lived.state()
    handled = [one.TYPE for one in learn_facts.PROCESSOR.handlers]
    again = [one for one in await stored(lived, *handled) for _ in range(3)]
    random.Random(1).shuffle(again)
    for envelope in again:
        await lived.process(envelope)
    assert len(again) > 60
    assert await lived.state() == before


async def test_eight_deliveries_at_once_are_one(memory: Memory) -> None:
    """The same event in eight tasks over four pools of connections: one of them does it, and one fact is there."""
    mail = await memory.mail("We are on the Team plan.", on=1)
    envelope = memory.reflection(mail, fact("plan", "Team", "on the Team plan"))
    databases = [Database(memory.app.settings.database_url, size=4) for _ in range(4)]
    for one in databases:
        await one.open()
    apps = [replace(memory.app, database=one) for one in databases]
    async with asyncio.TaskGroup() as group:
        for app in apps * 2:
            group.create_task(Runner(learn_facts.PROCESSOR, app).process(envelope))
    for one in databases:
        await one.close()
    assert await memory.current() == ["Team"]
    assert len(await memory.rows("SELECT 1 AS one FROM fact_log WHERE decision = 'recorded'")) == 1
    (row,) = await memory.rows("SELECT count(*) AS n, count(DISTINCT version) AS versions FROM events WHERE aggregate = 'participant'")  # fmt: skip
    assert row["n"] == row["versions"]


async def test_publishers_of_the_same_events_at_once_do_not_hold_each_other(lived: Memory) -> None:
    """Many publish the same stored events at the same time, each in an order of its own: every one is marked."""
    events = await stored(lived, *ROOTS)
    ids = [one.id for one in events]
    orders = [random.Random(seed).sample(events, len(events)) for seed in range(12)]
    for _ in range(3):
        async with lived.app.database.reading() as conn:
            await conn.execute("UPDATE events SET published_at = NULL")
        await asyncio.gather(*(publish(lived.app, order) for order in orders))
        assert all(
            one["published_at"] for one in await lived.rows("SELECT * FROM events WHERE id = ANY(%(ids)s)", ids=ids)
        )


async def test_writers_of_one_person_at_once_keep_one_current_value(memory: Memory) -> None:
    """Twelve mails that each change the plan, decided at once: versions follow each other, one value is current."""
    mails = [await memory.mail(f"We are on the Plan{n} plan.", on=1 + n / 10) for n in range(12)]
    events = [memory.reflection(mail, fact("plan", f"Plan{n}", f"the Plan{n} plan")) for n, mail in enumerate(mails)]
    random.Random(2).shuffle(events)
    await asyncio.gather(*(memory.process(one) for one in events))
    assert await memory.current() == ["Plan11"]
    rows = await memory.rows("SELECT version FROM events WHERE aggregate = 'participant' ORDER BY version")
    assert [row["version"] for row in rows] == list(range(1, len(rows) + 1))
    assert len(await memory.rows("SELECT 1 AS one FROM facts WHERE key = 'plan'")) == 12


async def _carry_keys(origin: Memory, to: Memory) -> None:
    """The keys of one deployment, given to another that has the same master key."""
    rows = await origin.rows("SELECT key_id, workspace, subject, owners, master, wrapped FROM subject_keys")
    async with to.app.database.reading() as conn, conn.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO subject_keys (key_id, workspace, subject, owners, master, wrapped) VALUES"
            " (%(key_id)s, %(workspace)s, %(subject)s, %(owners)s, %(master)s, %(wrapped)s)",
            rows,
        )


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_people_interleaved_otherwise_give_the_same_state(
    lived: Memory, stack: Endpoints, template_database: str, tmp_path: Path, seed: int
) -> None:
    """The same roots in another database, people interleaved at random and every event doubled: the same hash."""
    roots = await stored(lived, *ROOTS)
    with fresh_database(stack.database, template=template_database) as url:
        async with remembering(stack, url, lived.app.settings.kafka.topic_prefix, tmp_path) as other:
            await _carry_keys(lived, other)
            for envelope in interleaved(roots, random.Random(seed)):
                for _ in range(2):
                    processor = read_email.PROCESSOR if envelope.type == "mail.received.v1" else learn_facts.PROCESSOR
                    await Runner(processor, other.app).process(envelope)
                await other.settle()
            assert await other.state() == await lived.state()


async def test_three_processes_at_once_give_the_state_of_one(
    lived: Memory, stack: Endpoints, template_database: str, tmp_path: Path
) -> None:
    """Three OS processes that each do every event, people in an order of their own: one state, by its hash."""
    template = template_database
    with (
        fresh_database(stack.database, template=template) as alone,
        fresh_database(stack.database, template=template) as url,
    ):
        async with remembering(stack, alone, lived.app.settings.kafka.topic_prefix, tmp_path) as one:
            await _read_and_wait(lived, one)
            await one.settle()
            state_of_one = await one.state()
        async with remembering(stack, url, lived.app.settings.kafka.topic_prefix, tmp_path) as other:
            await _read_and_wait(lived, other)
            server = loaded_commands()
            workers = [
                worker(server, stack, url, lived.app.settings.kafka.topic_prefix, tmp_path, seed) for seed in range(3)
            ]
            await asyncio.gather(*(asyncio.to_thread(one.join) for one in workers))
            assert [one.exitcode for one in workers] == [0] * 3
            assert await other.waiting(learn_facts.PROCESSOR) == []
            assert await other.state() == state_of_one


async def _read_and_wait(origin: Memory, to: Memory) -> None:
    """The mails of one deployment are read in another, and the other roots wait there."""
    await _carry_keys(origin, to)
    for envelope in await stored(origin, "mail.received.v1"):
        await Runner(read_email.PROCESSOR, to.app).process(envelope)
    await to.settle()
    for envelope in await stored(origin, *ROOTS[1:]):
        await enter(to.app, envelope)


async def test_folding_the_events_gives_the_same_memory(lived: Memory, stack: Endpoints) -> None:
    """The tables of memory are a fold of the stored events, merges, late mails and people's wishes included."""
    with fresh_database(stack.database) as url:
        async with lived.app.database.reading() as conn:
            assert await fold(conn, url) > 50
        database = Database(url, size=2)
        await database.open()
        async with database.reading() as conn:
            folded = await state_hash(conn)
        await database.close()
    assert folded == await lived.state()


def interleaved(events: list[Envelope], dice: random.Random) -> list[Envelope]:
    """The events with each person's own order kept, and the people's turns drawn by lot."""
    queues: dict[object, list[Envelope]] = defaultdict(list)
    owners: dict[object, object] = {}
    for event in events:
        if event.type != "mail.received.v1":
            owners.update(dict.fromkeys(getattr(event.data, "mail_ids", ()), event.data.subject_id()))
    for event in events:
        owner = event.data.subject_id() or owners.get(getattr(event.data, "mail_id", None))
        queues[owner].append(event)
    out = []
    while queues:
        owner = dice.choice(sorted(queues, key=str))
        out.append(queues[owner].pop(0))
        if not queues[owner]:
            del queues[owner]
    return out
