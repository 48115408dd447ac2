"""The day and the hour at which the mail is read, in the inbox's time zone, and its office hours."""

from __future__ import annotations

from datetime import datetime

from services.core.db import Connection
from services.core.office_hours import is_open
from services.core.settings import OfficeHours
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import Turn

NAME, SHARED, TRUSTED = "today", False, True
ABOUT = "When you write, and when our people are there; all other times are in UTC."

HOLIDAYS_AHEAD = 14  # days
UNSET = "No office hours are set: name no hour at which a person is there."


def budget(turn: Turn) -> None:
    """None: it is a few lines, and never cut."""


async def load(turn: Turn, conn: Connection) -> Section:
    """Of the turn's moment: a replay reads the day that it was then."""
    hours = turn.app.settings.hours_of(turn.inbox.name)
    now = turn.now.astimezone(hours.zone)
    day = entry(
        f"Today is {now:%A}, {now:%Y-%m-%d}, {now:%H:%M} in {hours.time_zone}.",
        at=now.isoformat(),
        time_zone=hours.time_zone,
    )
    return section([day, entry(in_words(hours, now), hours=dict(hours.hours))])


def in_words(hours: OfficeHours, now: datetime) -> str:
    """The week of the office, whether it is open at a moment of its own zone, and the holidays that are near."""
    if not hours.hours:
        return UNSET
    week = ", ".join(f"{day} {spans}" for day, spans in hours.hours.items() if spans)
    near = [day for day in hours.holidays if 0 <= (day - now.date()).days <= HOLIDAYS_AHEAD]
    closed = f"; closed on {', '.join(map(str, sorted(near)))}" if near else ""
    return f"Office hours: {week}{closed}. The office is {'open' if is_open(now, hours) else 'closed'} now."
