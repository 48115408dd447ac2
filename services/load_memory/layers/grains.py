"""What came to pass with this participant and the current facts do not tell, by period: the older, the coarser.

Values that no longer hold, their other threads, and where they stood as a customer. Nothing is stored for it and no
model sums it up: a row that is corrected, merged or erased is so here as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from services.core.db import Connection, rows_as
from services.core.settings import GrainSettings
from services.load_memory.section import Entry, Section, entry_of, section
from services.load_memory.turn import SQL, Turn
from services.memory.grains import grain_of, name_of

NAME, SHARED, TRUSTED = "grains", False, False
ABOUT = "What came to pass, besides what holds now, by period."

MOST = 300  # rows of each sort that are looked at


@dataclass(frozen=True, slots=True)
class Past:
    """What came to pass: an earlier value (`until` it ended), another thread, or where they stood as a customer."""

    what: str
    id: UUID
    at: datetime
    text: str
    until: datetime | None
    weight: float


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
    return section(told(rows, turn.now, turn.app.settings.recall.grains), newest_first=True)


def told(rows: Iterable[Past], now: datetime, grains: GrainSettings) -> Iterator[Entry]:
    """An entry for each period, of rows that come newest first: its weightiest rows, oldest first."""

    def place(row: Past) -> tuple[str, str]:
        at = row.at.astimezone(now.tzinfo)
        grain = grain_of(at, now, grains)
        return grain, name_of(grain, at)

    for (grain, name), found in groupby(rows, place):
        all_of = list(found)
        kept = sorted(all_of, key=lambda row: -row.weight)[: grains.entries]
        shown = [row for row in reversed(all_of) if row in kept]
        more = f"; and {len(all_of) - len(shown)} more" if len(all_of) > len(shown) else ""
        what = [{"what": row.what, "id": str(row.id), "text": row.text} for row in shown]
        lines = [f"{_line(row)}; " for row in shown[:-1]] + [_line(row) for row in shown[-1:]]
        yield entry_of(lines, f"- {name}: ", more, period=name, grain=grain, entries=what)


def _line(row: Past) -> str:
    return f"{row.text} (until {row.until:%Y-%m-%d})" if row.until else row.text
