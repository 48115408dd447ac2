"""What came to pass with this participant and the current facts do not tell, by period: the older, the coarser.

Values that no longer hold, their other threads, and where they stood as a customer: rows, so what is corrected, merged
or erased is so here as well. Where `condense.enabled` is set, what a model said of a period that is over stands in the
place of the rows that it names, while all of its rows stand (`services.memory.condensed`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from schemas.model_output import Grain
from services.core.db import Connection, rows_as
from services.core.settings import GrainSettings
from services.load_memory.section import Entry, Section, entry_of, section
from services.load_memory.turn import SQL, Turn
from services.memory.condensed import CondensedPeriod, current_periods, told_by
from services.memory.grains import UNITS, grain_of, name_of
from services.memory.periods import period

NAME, SHARED, TRUSTED = "grains", False, False
ABOUT = "What came to pass, besides what holds now, by period."

Place = tuple[Grain, str]  # a period, by length and name

INSTANT = timedelta(microseconds=1)
MOST = 300  # rows of each sort that are looked at


@dataclass(frozen=True, slots=True)
class Past:
    """What came to pass: an earlier value (`until` it ended), another thread, or where they stood as a customer.

    `covers` are the rows of periods by which the same is told.
    """

    what: str
    id: UUID
    at: datetime
    text: str
    until: datetime | None
    weight: float
    covers: list[UUID]


def budget(turn: Turn) -> int:
    """Tokens."""
    return turn.settings.layer_tokens


async def load(turn: Turn, conn: Connection) -> Section:
    """Nothing for an author who is not authenticated."""
    if turn.participant_id is None:
        return Section()
    args = {
        "workspace": turn.workspace,
        "participant_id": turn.participant_id,
        "thread_id": turn.thread_id,
        "now": turn.now,
        "most": MOST,
    }
    rows = await rows_as(conn, Past, SQL.past, args)
    reach = turn.app.settings.recall.grains
    condensed: list[CondensedPeriod] = []
    if turn.app.settings.condense.enabled:
        keep = turn.app.settings.retention.periods
        condensed = in_place(await current_periods(conn, turn.participant_id, turn.now, keep), turn.now, reach)
    return section(told(rows, turn.now, reach, condensed), newest_first=True)


def in_place(periods: Iterable[CondensedPeriod], now: datetime, reach: GrainSettings) -> list[CondensedPeriod]:
    """Those that are as fine as their time is told now, to their end: none tells what another tells."""
    return [one for one in periods if grain_of(one.ends_at - INSTANT, now, reach) == one.grain]


def told(
    rows: Iterable[Past], now: datetime, grains: GrainSettings, condensed: Sequence[CondensedPeriod] = ()
) -> Iterator[Entry]:
    """An entry for each period, newest first: what a model said of it, then its weightiest other rows, oldest first."""
    named = told_by(condensed)
    by_place: dict[Place, list[Past]] = defaultdict(list)
    starts: dict[Place, datetime] = {}
    for one in condensed:
        starts.setdefault((one.grain, one.period), one.starts_at)
    for row in rows:
        at = row.at.astimezone(now.tzinfo)
        grain = grain_of(at, now, grains)
        place = grain, name_of(grain, at)
        starts.setdefault(place, period(UNITS[grain], at).start)
        if not row.covers or not named.issuperset(row.covers):
            by_place[place].append(row)
    for place in sorted(starts, key=lambda one: starts[one], reverse=True):
        said = [sentence for one in condensed if (one.grain, one.period) == place for sentence in one.sentences]
        if said or by_place[place]:
            yield _entry(place, by_place[place], grains.entries, said)


def _entry(place: Place, rows: Sequence[Past], most: int, said: Sequence[dict[str, Any]]) -> Entry:
    grain, name = place
    kept = sorted(rows, key=lambda row: -row.weight)[:most]
    shown = [row for row in reversed(rows) if row in kept]
    more = f"; and {len(rows) - len(shown)} more" if len(rows) > len(shown) else ""
    what = [{"what": row.what, "id": str(row.id), "text": row.text} for row in shown]
    lines = [f"{_line(row)}; " for row in shown[:-1]] + [_line(row) for row in shown[-1:]]
    words = [f"{sentence['text']} " for sentence in said]
    return entry_of([*words, *lines], f"- {name}: ", more, period=name, grain=grain, entries=what, told=list(said))


def _line(row: Past) -> str:
    return f"{row.text} (until {row.until:%Y-%m-%d})" if row.until else row.text
