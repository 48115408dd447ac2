"""After an outage every ended period is asked for once, wherever in the calendar it fell, as a count by hand says."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.operations.periods import ask
from tests.support.remembering import ADA, START, Memory, remembering

pytestmark = pytest.mark.timeout(300)
ROWS_FROM, FACTS = 2, 2
BERLIN, FAR = "Europe/Berlin", "Pacific/Kiritimati"  # time zones of the machine, which are nobody's matter
OUTAGES = {
    "clocks go forward in Europe": (date(2026, 3, 27), BERLIN),
    "clocks go back in Europe": (date(2026, 10, 23), BERLIN),
    "a month and a quarter end": (date(2026, 6, 29), FAR),
    "a year ends within a week": (date(2026, 12, 29), FAR),
    "a year begins in a week 53": (date(2027, 1, 1), "UTC"),
    "a leap day": (date(2028, 2, 27), BERLIN),
}


@pytest.fixture
def host_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Sets the time zone of the machine for the test."""

    def set_zone(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield set_zone
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    condense = {"enabled": True, "rows_from": ROWS_FROM, "calls_a_day": 1000}
    async with remembering(stack, database, topic_prefix, tmp_path, condense=condense) as one:
        yield one


def names_of(day: date) -> dict[str, str]:
    """The periods that a day lies in, as ISO 8601 names them."""
    year, week, _ = day.isocalendar()
    quarter = {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 3, 8: 3, 9: 3}.get(day.month, 4)
    return {
        "daily": day.isoformat(),
        "weekly": f"{year}-W{week:02}",
        "monthly": f"{day.year}-{day.month:02}",
        "quarterly": f"{day.year}-Q{quarter}",
        "yearly": str(day.year),
    }


def ended(days: list[date], today: date) -> set[tuple[str, str]]:
    """By hand: every period with enough rows that today no longer lies in. All of these days are within reach."""
    rows = Counter((grain, name) for day in days for grain, name in names_of(day).items() for _ in range(FACTS))
    running = set(names_of(today).items())
    return {one for one, count in rows.items() if count >= ROWS_FROM and one not in running}


async def told(memory: Memory, day: date) -> None:
    """Something is learned in the first and in the last second of a day (UTC)."""
    for number, clock in enumerate(("00:00:00", "23:59:59")):
        at = datetime.fromisoformat(f"{day}T{clock}+00:00")
        await memory.ask(
            "add", (at - START) / timedelta(days=1), ADA, key=f"order {day} {number}", value=f"{day} {number}"
        )


async def asked_for(memory: Memory) -> list[tuple[str, str]]:
    """What was asked for so far, in order."""
    rows = await memory.rows("SELECT data FROM events WHERE type = 'period.ended.v1' ORDER BY seq")
    return [(row["data"]["grain"], row["data"]["period"]) for row in rows]


@pytest.mark.parametrize(("begins", "zone"), OUTAGES.values(), ids=OUTAGES.keys())
async def test_after_three_days_away_every_ended_period_is_whole(
    memory: Memory, begins: date, zone: str, host_zone: Callable[[str], None]
) -> None:
    """Day for day before it, three days with nobody there, then one round: what is asked for is what a count by hand has."""
    host_zone(zone)
    first = (datetime.combine(begins, datetime.min.time(), UTC) - START) / timedelta(days=1)
    await memory.mail("Hello.", on=first - 3)
    days = [begins + timedelta(days=number) for number in range(-2, 5)]
    for day in days:
        await told(memory, day)
        is_away = begins <= day < begins + timedelta(days=3)
        if not is_away:
            await round_after(memory, day)
            asked = await asked_for(memory)
            assert set(asked) == ended(days[: days.index(day) + 1], day + timedelta(days=1))
            assert len(asked) == len(set(asked)), "each once"


async def round_after(memory: Memory, day: date) -> None:
    """The daily round in the first hour behind a day, twice."""
    memory.clock.forward(datetime.combine(day, datetime.min.time(), UTC) + timedelta(days=1, minutes=30))
    for _ in range(2):
        await ask(memory.app, asyncio.Event())
