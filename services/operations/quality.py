"""How good the agent's words are by what people made of them: drafts unchanged, edited or rejected, threads reopened.

It counts what `earn_approval` has counted by reply, and the replies that left. A draft that nobody had to approve is in
`sent` alone. What customers say of an answer by its link is counted by the week in which they first said it, and what
people in the team think of a reply by the week in which they said so last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from services.core.app import App
from services.core.db import fetch_all, queries, rows_as

SQL = queries(__file__, "quality.sql")
MOST_WEEKS = 53
MOST_COMMENTS = 20
COUNTED = (
    *("unchanged", "edited", "rejected", "answered_by_hand", "sent", "reopened"),
    *("good", "bad", "liked", "disliked"),
)


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of drafts and replies. `reopened`: replies after which the customer came back to a resolved thread.
    `changed` is the sum, over edited drafts, of the share of words that people changed. `good` and `bad` are what
    customers said of answers, those that a person wrote among them; `liked` and `disliked` what people in the team said
    of the agent's.
    """

    unchanged: int = 0
    edited: int = 0
    rejected: int = 0
    answered_by_hand: int = 0
    sent: int = 0
    reopened: int = 0
    changed: float = 0.0
    good: int = 0
    bad: int = 0
    liked: int = 0
    disliked: int = 0

    @property
    def rated(self) -> int:
        """Turns whose answer a customer rated."""
        return self.good + self.bad

    @property
    def good_share(self) -> float | None:
        """Of the ratings by customers, how many are good; None without one."""
        return self.good / self.rated if self.rated else None

    @property
    def judged(self) -> int:
        """How often people in the team judged a reply."""
        return self.liked + self.disliked

    @property
    def liked_share(self) -> float | None:
        """Of these judgements, how many are good; None without one."""
        return self.liked / self.judged if self.judged else None

    @property
    def decided(self) -> int:
        """Drafts on which a person decided."""
        return self.unchanged + self.edited + self.rejected + self.answered_by_hand

    @property
    def unchanged_share(self) -> float | None:
        """Of the drafts on which a person decided, how many left as they were; None without one."""
        return self.unchanged / self.decided if self.decided else None

    @property
    def mean_change(self) -> float | None:
        """How many of their words people changed in the drafts that they edited; None without one."""
        return self.changed / self.edited if self.edited else None

    @property
    def reopened_share(self) -> float | None:
        """Of the replies that left, how many were followed by a reopened thread; None without one."""
        return self.reopened / self.sent if self.sent else None


@dataclass(frozen=True, slots=True)
class Comment:
    """What a customer wrote beside a rating."""

    thread_id: UUID
    inbox: str
    good: bool
    comment: str
    rated_at: datetime


@dataclass(frozen=True, slots=True)
class Trend:
    """One inbox, intent or model, or all of them: as a whole, and by week, the oldest first; every week is there."""

    name: str
    total: Tally
    weeks: tuple[Tally, ...]


@dataclass(frozen=True, slots=True)
class Quality:
    """The Mondays of the weeks, UTC; everything together; by inbox, intent and model, the most drafts first; what
    customers wrote beside their ratings, the newest first, `MOST_COMMENTS` at most; why people in the team found
    replies not good, with how often, the most frequent first.
    """

    mondays: tuple[date, ...]
    every: Trend
    inboxes: tuple[Trend, ...]
    intents: tuple[Trend, ...]
    models: tuple[Trend, ...]
    comments: tuple[Comment, ...]
    reasons: tuple[tuple[str, int], ...]


async def quality(app: App, weeks: int) -> Quality:
    """Of the last so many weeks, the one that runs included."""
    mondays = mondays_until(app.now(), weeks)
    since = datetime.combine(mondays[0], datetime.min.time(), UTC)
    args = {"workspace": app.settings.workspace, "since": since}
    async with app.database.reading() as conn:
        rows = await fetch_all(conn, SQL.outcomes, args) + await fetch_all(conn, SQL.sent, args)
        ratings = await fetch_all(conn, SQL.ratings, args)
        comments = await rows_as(conn, Comment, SQL.comments, args | {"limit": MOST_COMMENTS})
        rows += await fetch_all(conn, SQL.thumbs, args)
        reasons = await fetch_all(conn, SQL.reasons, args)
    rows += ratings
    (every,) = _trends(rows, mondays, lambda row: "") or (_trend("", [], mondays),)
    return Quality(
        mondays,
        every,
        _trends(rows, mondays, lambda row: row["inbox"]),
        _trends((row for row in rows if row["intent"]), mondays, lambda row: row["intent"]),
        _trends((row for row in rows if row["model"]), mondays, lambda row: row["model"]),
        tuple(comments),
        tuple((row["reason"], row["times"]) for row in reasons),
    )


def mondays_until(now: datetime, weeks: int) -> tuple[date, ...]:
    """The Mondays of the last so many weeks."""
    today = now.astimezone(UTC).date()
    this = today - timedelta(days=today.weekday())
    return tuple(this - timedelta(weeks=back) for back in range(weeks - 1, -1, -1))


def _trends(
    rows: Iterable[dict[str, Any]], mondays: tuple[date, ...], name_of: Callable[[dict[str, Any]], str]
) -> tuple[Trend, ...]:
    named: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        named.setdefault(name_of(row), []).append(row)
    trends = [_trend(name, of, mondays) for name, of in named.items()]
    return tuple(sorted(trends, key=lambda one: (-one.total.decided, -one.total.sent, one.name)))


def _trend(name: str, rows: list[dict[str, Any]], mondays: tuple[date, ...]) -> Trend:
    weeks = tuple(_tally([row for row in rows if row["week"] == monday]) for monday in mondays)
    return Trend(name, _tally(rows), weeks)


def _tally(rows: Iterable[dict[str, Any]]) -> Tally:
    counts = dict.fromkeys(COUNTED, 0)
    changed = 0.0
    for row in rows:
        if row["outcome"] in counts:
            counts[row["outcome"]] += row["times"]
        if row["outcome"] == "edited":
            changed += row["changed"]
    return Tally(**counts, changed=round(changed, 6))
