"""Plays one case in a sandbox: the tables as they were, the answers as they were, then the real handlers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from psycopg import sql
from psycopg.types.json import Jsonb

from schemas.events.threads import TimerElapsed
from services.core.bus import event_store
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow
from services.core.bus.processor import Processor
from services.core.bus.runner import Runner
from services.core.cache import Cache
from services.core.db import fetch_all, fetch_one, rows_as
from services.operations.rebuild.projections import fold_events
from services.operations.replay.case import Case, Checkpoint, StoredEvent
from services.operations.replay.sandbox import Sandbox
from services.operations.replay.selection import STARTS
from services.operations.replay.steps import ASKS_MODEL, SQL
from services.operations.vectors.renewal import give_vectors, in_private
from services.pipeline import PROCESSORS


@dataclass(frozen=True, slots=True)
class Played:
    """What the handlers recorded this time, in order; `error` says in words why it ended early, or is empty."""

    events: tuple[Envelope, ...]
    error: str = ""


async def play(sandbox: Sandbox, case: Case) -> Played:
    """Play the case. What a handler raises is part of what was played."""
    sandbox.blobs.begin(case.blobs)
    if case.gone:
        return Played((), case.gone)
    await _as_it_was(sandbox, case)
    app = replace(sandbox.app, cache=_own_cache(sandbox, case))
    events: list[Envelope] = []
    waiting = [case.start.envelope()]
    try:
        for processor in _named(case.processors):
            waiting += [one.envelope() for one in case.timers if _came_to(processor, case)]
            for envelope in waiting:
                if type(envelope.data) in STARTS[processor.name]:
                    await _catch_up(sandbox, case, envelope)
                    then = replace(app, now=_clock_of(case, processor, envelope))
                    await Runner(processor, then).process(replace(envelope, replay=sandbox.name))
            waiting = [one for cause in waiting for one in await _caused(sandbox, cause, processor)]
            events += waiting
    except Exception as error:
        return Played(tuple(events), f"{type(error).__name__}: {error}"[:500])
    finally:
        await app.cache.close()
    return Played(tuple(events))


def _clock_of(case: Case, processor: Processor, envelope: Envelope) -> Callable[[], datetime]:
    """The wall clock as it was: effects happen when they happened then, or with their cause where none is recorded."""
    recorded = (one.time for one in case.expected if (one.causation_id, one.source) == (envelope.id, processor.name))
    moment = max(recorded, default=envelope.time)
    return lambda: moment


async def _as_it_was(sandbox: Sandbox, case: Case) -> None:
    tables = sandbox.tables
    names = [row["name"] for row in await fetch_all(tables, SQL.tables)]
    async with tables.pipeline():
        for name in names:
            await tables.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))
    await fold_events(_each(case.history), tables, gaps=True)
    for answer in _answers(sandbox, case):
        kept = {**answer.model_dump(), "answer": Jsonb(answer.answer)}
        await fetch_one(tables, event_store.SQL.keep_checkpoint, kept)
    await _give_vectors(sandbox, case)


def _answers(sandbox: Sandbox, case: Case) -> Iterable[Checkpoint]:
    """What was answered then; where a model is asked again, its tools are too, but never the DNS of today."""
    return [one for one in case.answers if sandbox.asking.recorded or one.consumer not in ASKS_MODEL]


def _came_to(processor: Processor, case: Case) -> bool:
    """Whether the case's timers came to this processor: to none at the end, whose timers are cases of their own."""
    return TimerElapsed in processor.handlers and processor.name != case.processors[-1]


async def _catch_up(sandbox: Sandbox, case: Case, envelope: Envelope) -> None:
    """Apply what had happened next to the case before this event was handled."""
    for one in case.meanwhile:
        if one.before == envelope.id:
            await fold_events(_each(one.events), sandbox.tables, gaps=True)
            await _give_vectors(sandbox, case)


async def _give_vectors(sandbox: Sandbox, case: Case) -> None:
    """What is searched by its meaning gets its vectors; nothing is where only recordings speak."""
    if not sandbox.asking.recorded or "load_memory" in case.processors:
        await give_vectors(sandbox.tables, sandbox.app.embedder, case.start.workspace, in_private)


def _own_cache(sandbox: Sandbox, case: Case) -> Cache:
    return Cache(sandbox.app.settings.redis_url, prefix=f"{sandbox.name}:{case.start.id}:")


async def _caused(sandbox: Sandbox, cause: Envelope, processor: Processor) -> list[Envelope]:
    args = {"causes": [cause.id], "source": processor.name}
    return [row.envelope() for row in await rows_as(sandbox.tables, EventRow.of, SQL.caused, args)]


def _named(names: Iterable[str]) -> list[Processor]:
    known = {one.name: one for one in PROCESSORS}
    return [known[name] for name in names]


async def _each(events: Iterable[StoredEvent]) -> AsyncIterator[Envelope]:
    for event in events:
        yield event.envelope()
