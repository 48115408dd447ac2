"""One run of a schedule: mail comes in while faults are done, then everything heals, comes to rest and is judged."""

from __future__ import annotations

import asyncio
import pickle
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import dict_row

from services.core.app import App
from services.core.bus.dead_letters import dead_letter_topic
from services.core.bus.topics_admin import committed, ends
from services.core.db import fetch_all, fetch_one
from services.core.errors import Temporary
from services.operations.idle import StillBusy, newest, unfinished, until_idle
from services.operations.log import read
from services.operations.rebuild.projections import fold, state_hash
from services.pipeline import PROCESSORS, consumers
from tests.chaos.customers import traces
from tests.chaos.faults import do
from tests.chaos.feeding import ask_for_periods, feed, submit_documents, tell_days
from tests.chaos.model_faults import HOUR, LONGEST_PAUSE
from tests.chaos.newer import release_all
from tests.chaos.people import (
    close_incidents,
    decide_drafts,
    decide_waiting,
    investigate_some,
    reach_out,
    reach_out_now,
    unsubscribe_some,
)
from tests.chaos.schedule import JUMPS_S, Schedule
from tests.chaos.scripts import SmtpTrouble, diligent_model
from tests.chaos.traffic import Mail, make_mails, offered
from tests.chaos.world import EARNING, World, world
from tests.oracle.collect import collect
from tests.oracle.evidence import DeadLetter, Evidence, Partition, Progress
from tests.oracle.judge import Judged, judge
from tests.support.stack import fresh_database, temporary_home

SETTLE_S = 120.0  # without any progress
OFFSETS_S = 60.0
DOCUMENTS = 12
PROBE_EVERY_S = 2.0
TELL_EVERY_S = 15
ROUNDS = 12  # of timers that set timers
DECISIONS = 20  # rounds of drafts, each of which may bring others
COLLECTIONS = 5  # of evidence that something came into
LEAST_ANSWERED = 0.25  # of the mails: the others were overtaken, needed nothing or went to a person
COUNTED = frozenset({"kill", "storm", "broker", "database", "redis", "cut", "reorder", "poison",
                     "refused-topic", "unknown-type", "newer-version", "model-outage", "model-401", "wipe",
                     "bounce", "erase"})  # fmt: skip
UNASKED = "model faults left"
DONE = "SELECT count(*) AS n FROM journal"
MADE = """
SELECT (SELECT count(*) FROM incidents) AS incidents, (SELECT count(*) FROM trouble_reports) AS reports,
       (SELECT count(*) FROM memory_periods) AS periods, (SELECT count(*) FROM approval_outcomes) AS decisions,
       (SELECT count(*) FROM events WHERE type = 'approval.opened.v1') AS "intents opened",
       (SELECT count(*) FROM events WHERE type = 'approval.closed.v1') AS "intents closed",
       (SELECT count(*) FROM outreach) AS outreach, (SELECT count(*) FROM unsubscribes) AS unsubscribed,
       (SELECT count(*) FROM outreach WHERE sent_at IS NOT NULL) AS "outreach sent",
       (SELECT count(*) FROM incidents WHERE NOT is_open) AS "incidents closed",
       (SELECT count(*) FROM investigations WHERE outcome = 'finished') AS "investigations finished",
       (SELECT count(*) FROM suppressions) AS suppressed
"""
ENOUGH_MAILS = 200  # for each of these to come
WORKED = (
    "decisions",
    "intents opened",
    "outreach",
    "outreach sent",
    "unsubscribed",
    "incidents closed",
    "investigations finished",
)
TIMERS = "SELECT min(due_at) AS first, max(due_at) AS last FROM timers"


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run came to."""

    schedule: Schedule
    judged: Judged
    felt: Counter[str]
    seconds: float

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """Why the run proves less than it should, in words: few answers, or faults that met nothing."""
        wanted = Counter(fault.kind for fault in self.schedule.faults)
        missed = [f"{kind} was done {self.felt[kind]} of {wanted[kind]} times" for kind in COUNTED & set(wanted)
                  if self.felt[kind] < wanted[kind]]  # fmt: skip
        missed += [f"{kind} met nobody" for kind in sorted(set(wanted) - COUNTED) if not self.felt[kind]]
        if self.felt[UNASKED]:
            missed.append(f"{self.felt[UNASKED]} faults of the model met no question")
        if self.judged.mails >= ENOUGH_MAILS:
            missed += [f"there were no {kind}" for kind in WORKED if not self.felt[kind]]
        if self.judged.answered < LEAST_ANSWERED * self.judged.mails:
            missed.append(f"{self.judged.answered} of {self.judged.mails} mails were answered")
        return tuple(missed)


async def run(schedule: Schedule, folder: Path, *, kafka: str) -> Ran:
    """Run a schedule on a stack of its own; logs and evidence go to `folder`."""
    began = time.monotonic()
    mails = make_mails(schedule.seed, schedule.mails, schedule.threads)
    with temporary_home(in_memory=True) as home:
        async with world(home, folder, kafka) as one:
            trouble = SmtpTrouble()
            one.server.script = trouble
            one.model.script(diligent_model(schedule.seed))
            one.mails = list(mails)
            print(f"{time.monotonic() - began:6.1f} s  every process is at work", flush=True)
            under_way: set[str] = set()
            telling = asyncio.create_task(_tell(one, under_way, began), name="telling")
            releasing = asyncio.create_task(release_all(one), name="releasing")
            deciding = asyncio.create_task(decide_drafts(one.app, schedule.seed), name="deciding")
            await _under_faults(one, schedule, mails, under_way)
            print(f"{time.monotonic() - began:6.1f} s  all mails are in, the faults are over", flush=True)
            await _heal(one)
            probing = asyncio.create_task(_probe(one), name="probing")
            deciding.cancel()
            await _last_acts(one, schedule.seed)
            evidence = await undisturbed(
                partial(_at_rest, one, schedule.seed, began), partial(newest, one.app), partial(_evidence, one)
            )
            for task in (telling, releasing, probing):
                task.cancel()
            one.felt.update(trouble.met)
            one.felt.update(await _made_of_many(one.app))
            one.felt["blob writes refused"] = one.levers.refusals
            one.felt["restarts"] = one.restarts
            one.felt["questions turned away"] = one.model.turned_away
            one.felt[UNASKED] = one.model.waiting
    (folder / "evidence.pickle").write_bytes(pickle.dumps(evidence))
    return Ran(schedule, judge(evidence), one.felt, time.monotonic() - began)


async def _made_of_many(app: App) -> dict[str, int]:
    """How many incidents were opened, reports noted and periods told; they are printed, as the faults are."""
    async with app.database.reading() as conn:
        row = await fetch_one(conn, MADE)
    assert row is not None
    return dict(row)


async def _under_faults(one: World, schedule: Schedule, mails: list[Mail], under_way: set[str]) -> None:
    url = f"http://{one.app.settings.web.host}:{one.app.settings.web.port}"
    acts = {
        "feeding": (0.0, feed(url, mails, one.levers, schedule.lasts_s)),
        "documents": (0.0, submit_documents(one.app, DOCUMENTS, schedule.lasts_s)),
        "periods": (0.0, ask_for_periods(one.app, schedule.lasts_s)),
        "outreach": (0.0, reach_out(one.app, schedule.lasts_s)),
        "investigations": (0.0, investigate_some(one.app, one.busy("customers"), schedule.lasts_s)),
    }
    for number, fault in enumerate(schedule.faults):
        acts[f"{fault.kind} {fault.target} {number}"] = (
            fault.at_s,
            do(one, fault, random.Random(f"{schedule.seed}/{number}")),
        )

    async def act(name: str, at_s: float, what: Coroutine[Any, Any, Any]) -> None:
        await asyncio.sleep(at_s)
        under_way.add(name)
        await what
        under_way.discard(name)

    async with asyncio.TaskGroup() as group:
        for name, (at_s, what) in acts.items():
            group.create_task(act(name, at_s, what), name=name)


async def _tell(one: World, under_way: set[str], began: float) -> None:
    """Say every little while how far the run has come, until cancelled."""
    while True:
        looked = time.monotonic()
        await asyncio.sleep(TELL_EVERY_S)
        late = time.monotonic() - looked - TELL_EVERY_S
        with suppress(psycopg.Error, Temporary):
            left = await unfinished(one.app)
            print(
                f"{time.monotonic() - began:6.1f} s  {len(one.server.accepted)} replies, {left} events or timers left, "
                f"loop {late:.2f} s late, under way: {', '.join(sorted(under_way)) or 'nothing'}",
                flush=True,
            )


async def _probe(one: World) -> None:
    """Have the model asked often, until cancelled: it has bad answers in store, each of which doubles a pause."""
    while True:
        await asyncio.sleep(PROBE_EVERY_S)
        one.levers.end_pauses(LONGEST_PAUSE)


async def _heal(one: World) -> None:
    """End what lasts. What an SMTP server or a model still has in store comes to the mails that are under way."""
    for proxy in one.proxies.values():
        proxy.resume()
    one.levers.fill_store(False)
    await one.all_at_work()


async def undisturbed(
    rest: Callable[[], Awaitable[bool]],
    newest_event: Callable[[], Awaitable[int]],
    collect_evidence: Callable[[], Awaitable[Evidence]],
) -> Evidence:
    """Evidence of a deployment in which nothing came while it was collected.

    A deployment at rest still tells of what it sees: an alert that it raises of itself is an event like others, which
    its consumer has not done yet. Then it is waited for and collected again. `rest` says whether it came to rest.
    """
    for _ in range(COLLECTIONS):
        rested = await rest()
        before = await newest_event()
        evidence = await collect_evidence()
        if not rested or await newest_event() == before:
            break
    return evidence


async def _at_rest(one: World, seed: int, began: float) -> bool:
    try:
        await _rest(one, seed)
    except StillBusy as error:
        print(f"{time.monotonic() - began:6.1f} s  NOT at rest: {error}", flush=True)
        return False
    print(f"{time.monotonic() - began:6.1f} s  at rest", flush=True)
    return True


async def _rest(one: World, seed: int) -> None:
    """Wait until nothing is left to do, with the clock put forward to each timer, until none is left.

    What has been learned by then is told once more of the days that it is about, and people decide every draft that comes.
    """
    await _decided(one, seed)
    await tell_days(one.app)
    for _ in range(ROUNDS):
        await _decided(one, seed)
        async with one.app.database.reading() as conn:
            row = await fetch_one(conn, TIMERS)
        if row is None or row["last"] is None:
            break
        ahead: timedelta = row["last"] - one.app.now() + timedelta(seconds=1)
        one.levers.set_clock(one.levers.offset + ahead)
    with suppress(TimeoutError):
        async with asyncio.timeout(OFFSETS_S):
            while await unfinished(one.app) or any(
                at.committed != at.end for group in (await _groups(one.app)).values() for at in group.values()
            ):
                await asyncio.sleep(1)


async def _last_acts(one: World, seed: int) -> None:
    """With nothing in the way: what a clock that was set back put off comes, then nobody writes for an hour.

    A last round of outreach is made then, and every incident is closed.
    """
    for passed in (timedelta(seconds=-min(JUMPS_S)), HOUR, HOUR):
        one.levers.let_pass(passed)
        with suppress(StillBusy):
            await _decided(one, seed)
    await reach_out_now(one.app, -1)
    with suppress(StillBusy):
        await _settled(one.app)
    await unsubscribe_some(one.app, "before it leaves")
    await close_incidents(one.app)


async def _decided(one: World, seed: int) -> None:
    """Return at rest, when no draft waits for a person either."""
    await _settled(one.app)
    for _ in range(DECISIONS):
        if not await decide_waiting(one.app, seed):
            return
        await _settled(one.app)


async def _settled(app: App) -> None:
    """Return at rest. Raises `StillBusy` where nothing more was done for a while: a busy machine may take its time."""
    before = -1
    while True:
        try:
            return await until_idle(app, timeout_s=SETTLE_S)
        except StillBusy:
            async with app.database.reading() as conn:
                row = await fetch_one(conn, DONE)
            if row is None or row["n"] == before:
                raise
            before = row["n"]


async def _groups(app: App) -> dict[str, dict[Partition, Progress]]:
    kafka, found = app.settings.kafka, {}
    for processor in PROCESSORS:
        until = await ends(kafka.brokers, [kafka.topic_prefix + topic for topic in processor.topics])
        done = await committed(kafka.brokers, kafka.topic_prefix + processor.name, list(until))
        found[processor.name] = {place: Progress(done[place], end) for place, end in until.items()}
    return found


async def _dead_letters(app: App) -> tuple[DeadLetter, ...]:
    kafka = app.settings.kafka
    prefix = kafka.topic_prefix
    names = {dead_letter_topic(prefix + topic, prefix + name): (topic, name) for topic, name in consumers()}
    stops = await ends(kafka.brokers, list(names))
    return tuple([DeadLetter(*names[one.topic], one.value or b"") async for one in read(kafka.brokers, {}, stops)])


async def _evidence(one: World) -> Evidence:
    poison = {topic: tuple(values) for topic, values in one.poison.items()}
    left = await traces(one)
    async with one.app.database.reading() as conn:
        with fresh_database(one.endpoints.database) as url:
            await fold(conn, url)
            async with await AsyncConnection.connect(url, autocommit=True, row_factory=dict_row) as target:
                live, folded = await state_hash(conn), await state_hash(target)
        return await collect(
            partial(fetch_all, conn),
            offered([mail for mail in one.mails if mail.about not in one.erased]),
            one.server,
            gone=frozenset(one.erased),
            traces=left,
            folds={table: (live[table], folded[table]) for table in live},
            groups=await _groups(one.app),
            dead_letters=await _dead_letters(one.app),
            poison=poison,
            newer=tuple(one.newer),
            refused=frozenset(one.refused),
            now=one.app.now(),
            earning=EARNING,
        )
