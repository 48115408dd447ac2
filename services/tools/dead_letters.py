"""The dead letters of every group: list, choose, redrive, discard.

A dead letter stays on its topic until retention takes it. What became of it, and why, stands in `letter_decisions`, so
that the same letter is not shown as waiting for ever.

Invariants
- A redrive goes to the letter's own group alone: its processor handles the original record here, in the operator's
  process, under the same journal and row locks as in the group. Publishing it to its topic would reach every group.
- Redriving twice changes nothing twice. What fails again stays a waiting letter, and is said with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from services.core.bus.dead_letters import dead_letter_topic
from services.core.bus.runner import Runner
from services.core.bus.topics_admin import ends
from services.core.db import fetch_all, queries
from services.core.errors import Permanent
from services.core.house import House
from services.pipeline import PROCESSORS, consumers
from services.tools.letter import Letter, State, open_sealed
from services.tools.log import read

SQL = queries(__file__, "dead_letters.sql")


class NoSuchLetter(Permanent):
    """No dead letter has this id, or several begin with it."""


class CannotRedrive(Permanent):
    """The letter does not say which record of which group it was."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which letters are meant; each criterion that is set must hold. Times are of the failure, `until` exclusive."""

    group: str = ""
    thread: str = ""
    error: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def takes(self, letter: Letter) -> bool:
        """Whether the letter is meant."""
        return (
            self.group in ("", letter.group)
            and self.thread in ("", letter.thread, letter.key)
            and self.error.casefold() in letter.error.casefold()
            and (self.since is None or letter.failed_at >= self.since)
            and (self.until is None or letter.failed_at < self.until)
        )


def by_id(letters: Iterable[Letter], begins: Sequence[str]) -> list[Letter]:
    """The letters whose ids begin so, one for each. Raises `NoSuchLetter`."""
    letters, chosen = list(letters), []
    for begin in begins:
        found = [letter for letter in letters if begin and str(letter.id).startswith(begin.strip().lower())]
        if len(found) != 1:
            what = "no dead letter has" if not found else f"{len(found)} dead letters have"
            raise NoSuchLetter(f"{what} an id that begins with {begin[:40]!r}; `correspondent dlq list` shows the ids")
        chosen += found
    return chosen


async def all_letters(house: House) -> list[Letter]:
    """Every dead letter of every group, oldest first, with what became of it."""
    prefix, brokers = house.settings.kafka.topic_prefix, house.settings.kafka.brokers
    groups = {dead_letter_topic(prefix + topic, prefix + name): name for topic, name in consumers()}
    stops = await ends(brokers, list(groups))
    letters = [await open_sealed(record, groups[record.topic], house.keys) async for record in read(brokers, {}, stops)]
    decided = await _decided(house, [letter.id for letter in letters])
    known = [replace(letter, **decided.get(letter.id, {})) for letter in letters]
    return sorted(known, key=lambda letter: (letter.failed_at, letter.record.source, letter.record.offset))


async def redrive(house: House, letter: Letter) -> None:
    """Have the letter's own group handle its record once more. Raises `CannotRedrive`, or what the handler raises."""
    if letter.original is None:
        raise CannotRedrive("it does not say which record it was; it can only be discarded")
    [processor] = [one for one in PROCESSORS if one.name == letter.group]
    await Runner(processor, house).handle(letter.original)
    await _decide(house, letter, "redriven", "")


async def discard(house: House, letter: Letter, reason: str) -> None:
    """Have the letter wait no longer: for its group the event counts as consumed. The record stays on its topic."""
    await _decide(house, letter, "discarded", reason)


async def _decide(house: House, letter: Letter, state: State, reason: str) -> None:
    row = {
        "letter_id": letter.id,
        "state": state,
        "reason": reason,
        "now": house.now(),
        "consumer": letter.group,
        "event_id": letter.event_id,
    }
    async with house.database.reading() as conn:
        await conn.execute(SQL.decide, row)


async def _decided(house: House, ids: list[UUID]) -> dict[UUID, dict[str, Any]]:
    async with house.database.reading() as conn:
        rows = await fetch_all(conn, SQL.decisions, {"ids": ids})
    return {row["letter_id"]: {"state": row["state"], "why": row["reason"]} for row in rows}
