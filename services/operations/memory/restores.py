"""All memory of a workspace brought back to a moment: looked at first, confirmed by a person, then done.

The process that keeps time does both, person by person: it may take hours, and no request waits for it. Invariants
- One at a time of a workspace, by an index; one process at a time, by a lock. Who dies goes on behind the last person.
- Nothing is asked for before somebody confirmed it, by the number of people that they saw it would change.
- What is learned after that stays, and of somebody erased nothing is brought back (`restoring.py`).
- Bringing back the moment before it was confirmed undoes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import NAMESPACE_OID, UUID, uuid5

import structlog
from psycopg.types.json import Jsonb
from pydantic import ValidationError

from services.core.app import App
from services.core.clock import pause, random_id
from services.core.db import fetch_all, fetch_one, queries, rows_as
from services.core.db.locks import HeldElsewhere
from services.core.errors import Permanent
from services.operations.memory.people import Person, everybody, how_many
from services.operations.memory.restoring import (
    Difference,
    Restored,
    difference,
    not_to_come,
    restore_within,
)

SQL = queries(__file__, "restores.sql")
LOOK_EVERY_S = 3.0
PERSON_S = 5.0  # of one person at once; then others may stop it, and it goes on
SHOWN = 20  # of the people who would change
KEPT = 100  # that are over, of a workspace
WAITS = "learn_facts has not come to what was asked for yet: is it running?"

State = Literal["looking", "looked", "restoring", "done", "stopped"]

log = structlog.get_logger(__name__)


class BeforeMemory(Permanent):
    """At the moment nothing was remembered of anybody: all would be forgotten."""


class RestoreUnderWay(Permanent):
    """Memory is being brought back already; stop that first, or wait for its end."""


class RestoreUnknown(Permanent):
    """There is no such restore."""


class NotAsSeen(Permanent):
    """What was confirmed is not what stands: look again."""


@dataclass(frozen=True, slots=True)
class WorkspaceRestore:
    """One restore. `reached` of `people` are looked at, or brought back; `kinds` has (came, gone) of each kind.

    To bring back the moment `before` undoes it; None where nothing was done.
    """

    restore_id: UUID
    at: datetime
    by: str
    asked_at: datetime
    state: State
    people: int
    reached: int
    changed: int
    kinds: Mapping[str, tuple[int, int]]
    sample: tuple[UUID, ...]
    confirmed_by: str
    confirmed_at: datetime | None
    before: datetime | None
    facts: int
    refused: int
    waits: str
    ended_by: str
    ended_at: datetime | None

    @property
    def is_under_way(self) -> bool:
        """Whether the process that keeps time is at it."""
        return self.state in ("looking", "restoring")


@dataclass(frozen=True, slots=True)
class _Task:
    """What there is to do, and how far it is."""

    restore_id: UUID
    at: datetime
    state: State
    place: UUID
    kinds: Mapping[str, Sequence[int]]
    sample: Sequence[UUID]
    confirmed_by: str
    confirmed_at: datetime | None


async def begin(app: App, at: datetime, *, by: str) -> WorkspaceRestore:
    """Have it looked at, which changes nothing; what was looked at before and not confirmed is given up.

    Raises `NotPastYet`, `BeforeMemory`, `RestoreUnderWay`.
    """
    not_to_come(app, at)
    workspace, id, people = app.settings.workspace, random_id(), await how_many(app, None)
    args = {"workspace": workspace, "restore_id": id, "at": at, "by": by, "now": app.now(), "kept": KEPT}
    async with app.database.transaction(workspace) as conn:
        first = await fetch_one(conn, SQL.earliest, args)
        if not first or first["at"] is None or at < first["at"]:
            raise BeforeMemory(f"nothing was remembered yet at {at:%Y-%m-%d %H:%M}: everything would be forgotten")
        await conn.execute(SQL.set_aside, args)
        await conn.execute(SQL.forget_old, args)
        if await fetch_one(conn, SQL.begin, {**args, "people": people}) is None:
            raise RestoreUnderWay
    return await found(app, id)


async def confirm(app: App, restore_id: UUID, *, people: int, by: str) -> WorkspaceRestore:
    """Have it done: `people` is how many it would change, as was seen. Raises `RestoreUnknown`, `NotAsSeen`."""
    args = {"workspace": app.settings.workspace, "restore_id": restore_id, "people": people}
    async with app.database.reading() as conn:
        done = await conn.execute(SQL.confirm, {**args, "by": by, "now": app.now()})
    one = await found(app, restore_id)
    if not done.rowcount:
        raise NotAsSeen(f"it is {one.state}, and would change {one.changed} people, not {people}: look at it again")
    return one


async def stop(app: App, restore_id: UUID, *, by: str) -> WorkspaceRestore:
    """Stop it behind the person at whom it is; who was brought back stays so. Raises `RestoreUnknown`."""
    args = {"workspace": app.settings.workspace, "restore_id": restore_id, "by": by, "now": app.now()}
    async with app.database.reading() as conn:
        await conn.execute(SQL.stop, args)
    return await found(app, restore_id)


async def found(app: App, restore_id: UUID) -> WorkspaceRestore:
    """One restore. Raises `RestoreUnknown`."""
    rows = await _restores(app, restore_id)
    if not rows:
        raise RestoreUnknown(f"there is no restore {restore_id}")
    return rows[0]


async def restores(app: App) -> list[WorkspaceRestore]:
    """Those of this workspace, the newest first, at most `KEPT` and the one under way."""
    return await _restores(app, None)


async def examples(app: App, restore: WorkspaceRestore) -> list[tuple[Person, Difference]]:
    """The first of the people whom it would change, with what came and went of each, as it stands now."""
    args = {"workspace": app.settings.workspace, "people": list(restore.sample)}
    async with app.database.reading() as conn:
        people = await rows_as(conn, Person, SQL.people, args)
    return [(one, await difference(app, one.participant_id, restore.at)) for one in people]


def by_kind(difference: Difference, kinds: Mapping[str, Sequence[int]] | None = None) -> dict[str, tuple[int, int]]:
    """Of each kind of fact how many came and how many are gone, added to those given."""
    counted = {kind: (came, gone) for kind, (came, gone) in (kinds or {}).items()}
    for number, facts in enumerate((difference.came, difference.gone)):
        for fact in facts:
            came, gone = counted.get(fact.kind, (0, 0))
            counted[fact.kind] = (came + (number == 0), gone + (number == 1))
    return counted


async def keep(app: App, stop: asyncio.Event) -> None:
    """Do what there is to do until `stop` is set; what goes wrong is said, and tried again."""
    while not stop.is_set():
        try:
            await go_on(app, stop)
        except HeldElsewhere:
            log.debug("another process brings memory back")
        except Exception as error:
            log.warning("memory could not be brought back, will try again", error=repr(error))
        await pause(stop, LOOK_EVERY_S)


async def go_on(app: App, stop: asyncio.Event) -> None:
    """Go on with the one under way, until `stop` is set, it is stopped, or waits. Raises `HeldElsewhere`."""
    if await _task(app) is None:
        return
    async with app.locks.hold(uuid5(NAMESPACE_OID, f"restores/{app.settings.workspace}")):
        task = await _task(app)
        if task is None:
            return
        step = _look if task.state == "looking" else _bring_back
        async for one in everybody(app, None, after=task.place):
            if stop.is_set() or not await step(app, task.restore_id, one):
                return
        ended = SQL.end_looking if task.state == "looking" else SQL.end_restoring
        async with app.database.reading() as conn:
            await conn.execute(ended, {"restore_id": task.restore_id, "now": app.now()})


async def _look(app: App, restore_id: UUID, one: Person) -> bool:
    """Count what came and went of a person; whether to go on."""
    task = await _task(app, restore_id)
    if task is None:
        return False
    seen = await difference(app, one.participant_id, task.at)
    is_changed = bool(seen.came or seen.gone)
    sample = [*task.sample, one.participant_id] if is_changed and len(task.sample) < SHOWN else task.sample
    args = {"place": one.participant_id, "changed": int(is_changed), "sample": list(sample)}
    return await _noted(app, SQL.note_looked, restore_id, kinds=Jsonb(by_kind(seen, task.kinds)), **args)


async def _bring_back(app: App, restore_id: UUID, one: Person) -> bool:
    """Bring a person back; whether to go on."""
    task = await _task(app, restore_id)
    if task is None:
        return False
    made = await _restored(app, task, one)
    refused = sum(each.refused for each in made.decisions)
    args: dict[str, Any] = {"place": one.participant_id, "facts": len(made.decisions) - refused}
    args["refused"] = refused if made.done else 0  # what was refused is asked for again until the person is done
    waits = "" if made.done else WAITS
    return await _noted(app, SQL.note_restored, restore_id, done=made.done, waits=waits, **args) and made.done


async def _restored(app: App, task: _Task, one: Person) -> Restored:
    args: dict[str, Any] = {"by": task.confirmed_by, "seconds": PERSON_S, "until": task.confirmed_at}
    try:
        return await restore_within(app, one.participant_id, task.at, **args)
    except (Permanent, ValidationError) as error:  # an old fact that nobody may ask for today stops nobody else
        log.warning("a person was not brought back", participant=str(one.participant_id), error=repr(error)[:500])
        return Restored((), done=True)


async def _noted(app: App, query: Any, restore_id: UUID, **args: Any) -> bool:
    """Whether it is still to be done."""
    async with app.database.reading() as conn:
        return bool((await conn.execute(query, {"restore_id": restore_id, **args})).rowcount)


async def _task(app: App, restore_id: UUID | None = None) -> _Task | None:
    """What is under way; None where nothing is, or another one than that of the id."""
    async with app.database.reading() as conn:
        rows = await rows_as(conn, _Task, SQL.under_way, {"workspace": app.settings.workspace})
    return rows[0] if rows and restore_id in (None, rows[0].restore_id) else None


async def _restores(app: App, restore_id: UUID | None) -> list[WorkspaceRestore]:
    async with app.database.reading() as conn:
        args = {"workspace": app.settings.workspace, "restore_id": restore_id}
        rows = await fetch_all(conn, SQL.restores, args)
    return [WorkspaceRestore(**{**row, "kinds": _pairs(row["kinds"]), "sample": tuple(row["sample"])}) for row in rows]


def _pairs(kinds: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, int]]:
    return {kind: (came, gone) for kind, (came, gone) in sorted(kinds.items())}
