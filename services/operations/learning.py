"""What is still to be learned: turns that have ended, and those about which the model is asked again later."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from schemas.topics import catalogue
from services.core.app import App
from services.core.bus.undone_events import low_mark, pairs_of
from services.core.db import fetch_one, queries

SQL = queries(__file__, "learning.sql")


@dataclass(frozen=True, slots=True)
class Unlearned:
    """Turns to be learned from: `under_way` now, and `again` where nothing usable came, next at `next_at`."""

    under_way: int
    again: int
    next_at: datetime | None

    @property
    def count(self) -> int:
        """How many."""
        return self.under_way + self.again

    @property
    def words(self) -> str:
        """It in a sentence; "" where all is learned."""
        if not self.count:
            return ""
        turns = "1 turn is" if self.count == 1 else f"{self.count} turns are"
        again = f"; about {self.again} of them the model is asked again" if self.again else ""
        at = f", next at {self.next_at:%Y-%m-%d %H:%M} UTC" if self.next_at else ""
        return f"{turns} still to be learned from{again}{at}"


async def unlearned(app: App) -> Unlearned:
    """Count them now."""
    async with app.database.reading() as conn:
        low = await low_mark(conn, pairs_of(catalogue().consumers()))
        row = await fetch_one(conn, SQL.unlearned, {"workspace": app.settings.workspace, "low": low})
    assert row is not None
    return Unlearned(**row)
