"""Brings facts back to what was believed at a moment: what came since is taken back, what went is added.

It asks as people do (`forget`, `add`, `correct`): the history keeps all of it, and older mails do not bring back what
was taken back. What was cut short is finished by doing it again: what was decided is no difference any more, and what
was asked and is not decided yet has the id that the second run gives it. Of somebody who was erased since it was read
nothing is asked: a request to add a fact would bring it back.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from schemas.events.memory import FactRequested
from services.core.app import App
from services.core.db import Connection, fetch_all, fetch_one
from services.core.errors import NotDoneYet, Permanent
from services.core.ids import restoring_id
from services.operations.memory.facts import RememberedFact, current, recorded
from services.operations.memory.outcomes import Decided, became
from services.operations.memory.past import as_of
from services.operations.memory.people import SQL, Person, everybody
from services.operations.requests import ask

INSTANT = timedelta(microseconds=1)


class NotPastYet(Permanent):
    """The moment is still to come."""


class SomebodyErased(NotDoneYet):
    """Somebody was erased meanwhile, and nothing was asked for; the same restore again goes on."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Between what is believed now and what was at a moment: what `came` since, and what is `gone`."""

    came: tuple[RememberedFact, ...]
    gone: tuple[RememberedFact, ...]


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of each fact so far; not `done`: the same request again goes on."""

    decisions: tuple[Decided, ...]
    done: bool


@dataclass(frozen=True, slots=True)
class _Restore:
    app: App
    participant_id: UUID
    moment: datetime
    by: str
    erasures: int  # of the workspace, before it was read what the person is known for


async def difference(app: App, participant_id: UUID, moment: datetime) -> Difference:
    """What a restore would take back and add again. One fact is one key and value; one that is over is not gone.

    Raises `NotPastYet`.
    """
    return await _since(app, participant_id, await _believed(app, participant_id, moment))


async def restore(
    app: App, participant_id: UUID, moment: datetime, *, by: str, until: datetime | None = None
) -> AsyncGenerator[Decided, None]:
    """Do it, fact by fact; what became of each. What takes its place back by itself is not added.

    What was withdrawn since takes the place of what came under its key by a correction: taken back alone, that would
    let what had been before both hold again, which was past at that moment and has to stay so.

    What was learned after `until` stays, and what else has its key stays with it. Raises `NotPastYet`,
    `SomebodyErased`, and `NotDecidedYet` where learn_facts does not come to it.
    """
    one = _Restore(app, participant_id, moment, by, await _erasures(app))
    then, tried = await _believed(app, participant_id, moment), set[UUID]()
    for came, gone in await _corrections(app, participant_id, await _since(app, participant_id, then, until)):
        yield await _asked(one, came, op="correct", fact_id=came.fact_id, valid_to=_last_day(gone), **_words(gone))
    while left := [each for each in (await _since(app, participant_id, then, until)).came if each.fact_id not in tried]:
        tried.add(left[0].fact_id)
        yield await _asked(one, left[0], op="forget", fact_id=left[0].fact_id)
    for fact in (await _since(app, participant_id, then, until)).gone:
        yield await _asked(one, fact, op="add", valid_to=_last_day(fact), **_words(fact))


async def restore_within(
    app: App, participant_id: UUID, moment: datetime, *, by: str, seconds: float, until: datetime | None = None
) -> Restored:
    """Do as much of it as is decided in so many seconds. Raises `NotPastYet`."""
    decisions: list[Decided] = []
    try:
        async with asyncio.timeout(seconds), aclosing(restore(app, participant_id, moment, by=by, until=until)) as each:
            async for one in each:
                decisions.append(one)
    except (TimeoutError, NotDoneYet):
        return Restored(tuple(decisions), done=False)
    return Restored(tuple(decisions), done=True)


async def differences(app: App, moment: datetime, space: str | None) -> AsyncIterator[tuple[Person, Difference]]:
    """The difference of everybody, or of those in a space. Raises `NotPastYet`."""
    async for one in everybody(app, space):
        yield one, await difference(app, one.participant_id, moment)


async def restore_all(
    app: App, moment: datetime, space: str | None, *, by: str
) -> AsyncIterator[tuple[Person, list[Decided]]]:
    """Everybody is brought back, or those in a space, one after the other. Raises what `restore` does."""
    async for one in everybody(app, space):
        yield one, [each async for each in restore(app, one.participant_id, moment, by=by)]


async def _believed(app: App, participant_id: UUID, moment: datetime) -> list[RememberedFact]:
    """What was believed at a moment; what is asked for now changes nothing of that."""
    not_to_come(app, moment)
    rules = app.settings.learning.confidence
    async with app.database.reading() as conn:
        return await as_of(conn, app.settings.workspace, participant_id, valid_at=moment, known_at=moment, rules=rules)


def not_to_come(app: App, moment: datetime) -> None:
    """Raises `NotPastYet` where the moment has not passed."""
    if moment > app.now():
        raise NotPastYet(f"{moment:%Y-%m-%d %H:%M} UTC is still to come: give a moment that has passed")


async def _since(
    app: App, participant_id: UUID, then: Sequence[RememberedFact], until: datetime | None = None
) -> Difference:
    now = app.now()
    async with app.database.reading() as conn:
        held = await current(conn, app.settings.workspace, participant_id, now)
    lasting = [one for one in then if one.expires_at is None or one.expires_at > now]
    came, gone = _without(held, then), _without(lasting, held)
    later = {one.key for one in came if until and one.recorded_at > until}
    return Difference(*(tuple(one for one in facts if one.key not in later) for facts in (came, gone)))


async def _corrections(
    app: App, participant_id: UUID, found: Difference
) -> list[tuple[RememberedFact, RememberedFact]]:
    """What came under a key, and what is gone from it: one each, and what is gone was withdrawn."""
    pairs = []
    for gone in found.gone:
        came = [one for one in found.came if one.key == gone.key]
        alone = len(came) == 1 and sum(one.key == gone.key for one in found.gone) == 1
        lasts = alone and (gone.expires_at or not came[0].expires_at)  # a correction keeps a last day
        if lasts and await _withdrawn(app, participant_id, gone.fact_id):
            pairs.append((came[0], gone))
    return pairs


async def _withdrawn(app: App, participant_id: UUID, fact_id: UUID) -> bool:
    now = app.now()
    async with app.database.reading() as conn:
        found = await recorded(conn, app.settings.workspace, participant_id, now, fact_id=fact_id)
    return any(one.status(now) == "withdrawn" for one in found)


def _without(facts: Iterable[RememberedFact], others: Iterable[RememberedFact]) -> tuple[RememberedFact, ...]:
    known = {(one.key, one.value.casefold()) for one in others}
    return tuple(one for one in facts if (one.key, one.value.casefold()) not in known)


def _words(fact: RememberedFact) -> dict[str, str]:
    return {"kind": fact.kind, "key": fact.key, "value": fact.value, "text": fact.text}


def _last_day(fact: RememberedFact) -> date | None:
    return (fact.expires_at - INSTANT).date() if fact.expires_at else None


async def _asked(restore: _Restore, fact: RememberedFact, *, op: str, **given: Any) -> Decided:
    app, participant_id = restore.app, restore.participant_id
    request = FactRequested.model_validate({"participant_id": participant_id, "by": restore.by, "op": op, **given})
    decided = await _decided_of(app, participant_id, fact.key)
    id = restoring_id(participant_id, restore.moment, op, fact.fact_id, decided)

    async def nobody_erased(conn: Connection) -> None:
        if await _erasures_of(conn, app.settings.workspace) != restore.erasures:
            raise SomebodyErased

    asked = await ask(app, request, id, check=nobody_erased)
    return await became(app, participant_id, asked.id, fact_id=request.fact_id)


async def _erasures(app: App) -> int:
    async with app.database.reading() as conn:
        return await _erasures_of(conn, app.settings.workspace)


async def _erasures_of(conn: Connection, workspace: str) -> int:
    row = await fetch_one(conn, SQL.erasures, {"workspace": workspace})
    assert row is not None
    return int(row["erasures"])


async def _decided_of(app: App, participant_id: UUID, key: str) -> str:
    """What tells the present state of a key from every earlier one, so that a later restore asks anew."""
    args = {"workspace": app.settings.workspace, "participant_id": participant_id, "key": key}
    async with app.database.reading() as conn:
        (row,) = await fetch_all(conn, SQL.decided_of_key, args)
    return str(row["decided"])
