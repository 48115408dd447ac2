"""The Date header, read tolerantly (RFC 5322, 3.3 and 4.3); always aware, or None where no date can be meant."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_tz

_COMMENT = re.compile(r"\([^()]*\)")
_MOST_NESTED_COMMENTS = 4
_ISO = re.compile(r"\s*(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?")
MAX_LENGTH = 256
SECONDS_PER_DAY = 86_400


def parse_date(value: str) -> datetime | None:
    """The moment a Date or Received value names, with the sender's own offset; without a zone it is UTC."""
    text = value.rpartition(";")[2][:MAX_LENGTH]
    for _ in range(_MOST_NESTED_COMMENTS):
        text = _COMMENT.sub(" ", text)
    if iso := _ISO.match(text):
        return _from_iso(*iso.groups(default=""))
    try:
        fields = parsedate_tz(text)
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    return _from_fields(fields) if fields else None


def _from_iso(day: str, clock: str, zone: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{zone}")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _from_fields(fields: tuple[int, int, int, int, int, int, int, int, int, int | None]) -> datetime | None:
    year, month, day, hour, minute, second = fields[:6]
    offset = fields[9] or 0
    zone = timezone(timedelta(seconds=offset)) if abs(offset) < SECONDS_PER_DAY else UTC
    try:
        return datetime(year, month, day, hour, minute, min(second, 59), tzinfo=zone)
    except (ValueError, OverflowError):
        return None
