"""The typed policy of facts: how many values a key may have, how much a source weighs, what is worth storing.

Everything here is a table or a formula, so that each decision can be explained.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from types import MappingProxyType
from uuid import UUID

from schemas.events.memory import Trust

APPENDED = frozenset({"issue_history", "event", "interaction", "resolution", "note", "relationship", "action"})
ONLY_OURS = frozenset({"issue_history", "resolution", "action"})  # kinds that our own words and acts may source

RANK: MappingProxyType[Trust, int] = MappingProxyType({"inferred": 0, "ours": 0, "authenticated": 1, "human": 2})
BASE: MappingProxyType[Trust, float] = MappingProxyType(
    {"inferred": 0.5, "ours": 0.7, "authenticated": 0.7, "human": 0.95}
)
FLOORS: MappingProxyType[str, float] = MappingProxyType(
    {"identity": 0.85, "goal": 0.75, "constraint": 0.65, "preference": 0.60}
)
STORE_FROM = 0.3  # importance below which nothing is stored

PLAUSIBLE_BEFORE, PLAUSIBLE_AFTER = timedelta(days=7), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Support:
    """One message, or one person, that says so."""

    trust: Trust
    mail_id: UUID | None
    thread_id: UUID | None


def single_valued(kind: str) -> bool:
    """Whether a key of this kind has one current value."""
    return kind not in APPENDED


def importance(kind: str, said: int) -> float:
    """The model's 1..10 as 0..1, not below the floor of its kind."""
    return max(min(said, 10) / 10, FLOORS.get(kind, 0.0))


def confidence(supports: Iterable[Support]) -> float:
    """0..1 from distinct messages, distinct threads and the best source's trust; never the model's own word.

    Each further message removes 40 % of the doubt that is left, each further thread another 20 %.
    """
    told = list(supports)
    doubt = 1 - max(BASE[one.trust] for one in told)
    messages = len({one.mail_id or one.trust for one in told})
    threads = len({one.thread_id for one in told if one.thread_id}) or 1
    return round(1 - doubt * 0.6 ** (messages - 1) * 0.8 ** (threads - 1), 4)


def valid_from(sent_at: datetime | None, received_at: datetime, *, history: bool) -> datetime:
    """Since when a fact of a mail is so: its Date where that is plausible, else the receipt."""
    if sent_at is None:
        return received_at
    plausible = received_at - PLAUSIBLE_BEFORE <= sent_at <= received_at + PLAUSIBLE_AFTER
    return sent_at if plausible or (history and sent_at <= received_at) else received_at


def end_of_day(day: object) -> datetime | None:
    """The moment at which a calendar date is over, in UTC; None for no date."""
    if day is None:
        return None
    return datetime.combine(day, time.min, UTC) + timedelta(days=1)  # type: ignore[arg-type]
