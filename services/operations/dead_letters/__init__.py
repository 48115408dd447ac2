"""The dead letters of every group: list, choose, redrive, discard.

A dead letter stays on its topic until retention takes it. What became of it, and why, stands in `letter_decisions`, so
that the same dead letter is not shown as waiting for ever.

Invariants
- A redrive goes to the dead letter's own group alone: its processor handles the original record here, in the operator's
  process, under the same journal and row locks as in the group. Publishing it to its topic would reach every group.
- Redriving twice changes nothing twice. What fails again stays a waiting dead letter, and is said with its reason.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from services.core.app import App
from services.core.db import fetch_all, queries
from services.core.errors import Permanent
from services.core.paging import MOST, Listing, Page
from services.operations.dead_letters.dead_letter import DeadLetter, State
from services.operations.dead_letters.places import SQL as PLACES
from services.operations.dead_letters.places import (
    DeadLetterPlace,
    catch_up,
    dead_letters_at,
    find_places,
    waiting_count,
)
from services.operations.ids import id_range

SQL = queries(__file__, "dead_letters.sql")
LETTERS = Listing("letters", (("failed_at", "time"), ("id", "id")), descending=True)
LOOKS = 5  # pages that one call looks through for a thread or an error, which only the records say
MOST_NAMED = 20  # dead letters that are looked at where the beginning of an id is typed


class NoSuchDeadLetter(Permanent):
    """No dead letter has this id, or several begin with it."""


class CannotRedrive(Permanent):
    """The dead letter does not say which record of which group it was."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which dead letters are meant; each criterion that is set must hold. Times: of the failure, `until` exclusive."""

    group: str = ""
    thread: str = ""
    error: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def takes(self, dead_letter: DeadLetter) -> bool:
        """Whether the dead letter is meant."""
        return (
            self.group in ("", dead_letter.group)
            and self.thread in ("", dead_letter.thread, dead_letter.key)
            and self.error.casefold() in dead_letter.error.casefold()
            and (self.since is None or dead_letter.failed_at >= self.since)
            and (self.until is None or dead_letter.failed_at < self.until)
        )


def by_id(dead_letters: Iterable[DeadLetter], begins: Sequence[str]) -> list[DeadLetter]:
    """The dead letters whose ids begin so, one for each. Raises `NoSuchDeadLetter`."""
    dead_letters, chosen = list(dead_letters), []
    for begin in begins:
        found = [one for one in dead_letters if begin and str(one.id).startswith(begin.strip().lower())]
        if len(found) != 1:
            what = "no dead letter has" if not found else f"{len(found)} dead letters have"
            raise NoSuchDeadLetter(
                f"{what} an id that begins with {begin[:40]!r}; `correspondent dlq list` shows the ids"
            )
        chosen += found
    return chosen


async def chosen(app: App, choice: Choice) -> list[DeadLetter]:
    """Every dead letter that is meant and waits, oldest first."""
    return [dead_letter async for dead_letter in _each(app, choice)][::-1]


async def named(app: App, begins: Sequence[str]) -> list[DeadLetter]:
    """The dead letters whose ids begin so, one for each, in any state. Raises `NoSuchDeadLetter`."""
    await catch_up(app)
    found: dict[UUID, DeadLetter] = {}
    for begin in begins:
        least, most = id_range(begin.strip().lower())
        args = {"least": least, "most": most, "limit": MOST_NAMED}
        found |= {one.id: one for one in await _known(app, await find_places(app, PLACES.named, args))}
    return by_id(found.values(), begins)


async def page_of(app: App, choice: Choice, *, every: bool, limit: int, after: str) -> Page[DeadLetter]:
    """A page of the dead letters meant, newest first; `every`: also those that were decided. Raises `BadCursor`.

    It looks through so many dead letters at most: a page may be short, even empty, and say where the next one begins.
    """
    await catch_up(app)
    found: list[DeadLetter] = []
    for _ in range(LOOKS):
        page = await _page(app, choice, every, limit, after)
        found += await _meant(app, page, choice, every)
        after = page.next
        if len(found) >= limit or not after:
            break
    return LETTERS.page(found, limit) if len(found) > limit else Page(found, after)


async def waiting(app: App) -> int:
    """How many dead letters wait."""
    await catch_up(app)
    return await waiting_count(app)


async def _each(app: App, choice: Choice) -> AsyncIterator[DeadLetter]:
    """Every dead letter that is meant and waits, newest first."""
    await catch_up(app)
    after = ""
    while True:
        page = await _page(app, choice, False, MOST, after)
        for dead_letter in await _meant(app, page, choice, False):
            yield dead_letter
        if not (after := page.next):
            return


async def _page(app: App, choice: Choice, every: bool, limit: int, after: str) -> Page[DeadLetterPlace]:
    args = {"group": choice.group or None, "since": choice.since, "until": choice.until}
    rows = await find_places(app, PLACES.all if every else PLACES.waiting, args | LETTERS.args(after, limit))
    return LETTERS.page(rows, limit)


async def _meant(app: App, wanted: Sequence[DeadLetterPlace], choice: Choice, every: bool) -> list[DeadLetter]:
    known = await _known(app, wanted)
    return [one for one in known if choice.takes(one) and (every or one.state == "waiting")]


async def _known(app: App, wanted: Sequence[DeadLetterPlace]) -> list[DeadLetter]:
    """The dead letters at these places with what became of them."""
    dead_letters = await dead_letters_at(app, wanted)
    decided = await _decided(app, [dead_letter.id for dead_letter in dead_letters])
    return [replace(dead_letter, **decided.get(dead_letter.id, {})) for dead_letter in dead_letters]


async def redrive(app: App, dead_letter: DeadLetter) -> None:
    """Redrive: its own group handles the record once more. Raises `CannotRedrive`, or what the handler raises."""
    if dead_letter.original is None:
        raise CannotRedrive(f"it does not hold its record, and can only be discarded: {dead_letter.unreadable}")
    from services.core.bus.runner import Runner
    from services.pipeline import PROCESSORS

    [processor] = [one for one in PROCESSORS if one.name == dead_letter.group]
    await Runner(processor, app).handle(dead_letter.original)
    await _decide(app, dead_letter, "redriven", "")


async def discard(app: App, dead_letter: DeadLetter, reason: str) -> None:
    """Discard: for its group the event counts as consumed. The record stays on its topic."""
    await _decide(app, dead_letter, "discarded", reason)


async def _decide(app: App, dead_letter: DeadLetter, state: State, reason: str) -> None:
    row = {
        "letter_id": dead_letter.id,
        "state": state,
        "reason": reason,
        "now": app.now(),
        "consumer": dead_letter.group,
        "event_id": dead_letter.event_id,
    }
    async with app.database.reading() as conn:
        await conn.execute(SQL.decide, row)
        await conn.execute(PLACES.decided, row)


async def _decided(app: App, ids: list[UUID]) -> dict[UUID, dict[str, Any]]:
    async with app.database.reading() as conn:
        rows = await fetch_all(conn, SQL.decisions, {"ids": ids})
    return {row["letter_id"]: {"state": row["state"], "why": row["reason"]} for row in rows}
