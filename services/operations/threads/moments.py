"""A moment to come as a person types it: in so many hours or days, on a morning, on a date. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

from services.core.errors import Permanent
from services.core.settings import OfficeHours
from services.core.settings.oversight import WEEKDAYS

MORNING = time(9)
AHEAD = re.compile(r"([1-9][0-9]{0,2})([hd])")
MORNINGS = ("tomorrow", *WEEKDAYS)


class MomentUnknown(Permanent):
    """Nobody can say which moment is meant."""


def moment_of(typed: str, now: datetime, hours: OfficeHours) -> datetime:
    """The moment, in UTC: `3h`, `2d`, `tomorrow`, `mon`, `2026-12-01` or `2026-12-01T14:00`.

    A time without a zone is one on the wall of the office, a day without a time its morning: when the office opens,
    nine o'clock where it has no hours or is closed that day. Raises `MomentUnknown`.
    """
    said = typed.strip().lower()
    if found := AHEAD.fullmatch(said):
        return now.astimezone(UTC) + timedelta(**{"hours" if found[2] == "h" else "days": int(found[1])})
    if said in MORNINGS:
        return _morning(_day(said, now.astimezone(hours.zone)), hours)
    try:
        at = datetime.fromisoformat(said)
        return _morning(at, hours) if len(said) == len("2026-12-01") else _on_the_wall(at, hours)
    except (ValueError, OverflowError):
        raise MomentUnknown(
            f"{typed!r} is no moment: write 3h, 2d, tomorrow, mon, 2026-12-01 or 2026-12-01T14:00"
        ) from None


def _day(said: str, today: datetime) -> datetime:
    ahead = 1 if said == "tomorrow" else (WEEKDAYS.index(said) - today.weekday() - 1) % 7 + 1
    return today + timedelta(days=ahead)


def _morning(day: datetime, hours: OfficeHours) -> datetime:
    opens = next((begin for begin, _ in hours.week[day.weekday()]), None)
    at = MORNING if opens is None else time(*divmod(opens, 60))
    return _on_the_wall(datetime.combine(day.date(), at), hours)


def _on_the_wall(at: datetime, hours: OfficeHours) -> datetime:
    return (at if at.tzinfo else at.replace(tzinfo=hours.zone)).astimezone(UTC)
