"""What a workspace's memory holds, what was decided about it, and what it was used for and cost, week by week.

Facts and decisions are counted where they are kept. What was shown to the model, what it recalled and what it cost is
read from the log, as far as it is in the table of events: archived days are not counted, nor are erased people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from schemas.events.memory import TurnReflected
from schemas.events.periods import PeriodCondensed
from schemas.events.replies import MemoryLoaded, ReplyDrafted, TokenUsage
from schemas.events.suggestions import SuggestionDrafted
from services.core.app import App
from services.core.db import fetch_all, fetch_one, queries, rows_as
from services.core.keys import is_sealed
from services.model.port import Usage
from services.operations.daily import TOLD_PERIODS, last

SQL = queries(__file__, "statistics.sql")
BATCH = 500
MOST_WEEKS = 53
MOST_REASONS = 12
PURPOSES = {
    ReplyDrafted.TYPE: "replies",
    SuggestionDrafted.TYPE: "suggestions",
    TurnReflected.TYPE: "learning",
    PeriodCondensed.TYPE: "periods",
}
TOPICS = (MemoryLoaded.TOPIC, ReplyDrafted.TOPIC, TurnReflected.TOPIC, PeriodCondensed.TOPIC)


@dataclass(frozen=True, slots=True)
class KindOfFacts:
    """The facts of one kind: each is standing, doubtful, expired, replaced by a later one, merged or withdrawn."""

    kind: str
    stored: int
    standing: int
    doubtful: int
    expired: int
    replaced: int
    merged: int
    withdrawn: int
    pinned: int


@dataclass(frozen=True, slots=True)
class ToldPeriods:
    """The periods of one grain that a model was to tell.

    `told` have sentences, of the `empty` ones nothing held; `sentences` were kept, `dropped` did not hold;
    `rows_left_out` were too many to be shown.
    """

    grain: str
    told: int
    empty: int
    sentences: int
    dropped: int
    rows_left_out: int


@dataclass(slots=True)
class Week:
    """A week from its Monday, UTC.

    `decisions` about facts by name. Of the `turns` whose context was assembled: how many facts the model was `shown`,
    and by verdict (`sure`, `rings a bell`, `nothing`) what was `recalled` of the things that mails asked.
    """

    monday: date
    decisions: dict[str, int] = field(default_factory=dict)
    turns: int = 0
    shown: int = 0
    recalled: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Spent:
    """What the model cost in a week for one inbox and purpose; `dollars` by the prices in `[model.prices]`."""

    monday: date
    inbox: str
    purpose: str
    usage: TokenUsage
    dollars: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """All of it; `refusals` are the most frequent reasons, with how often.

    `periods_left` were not asked for in the last daily round, since the day had no calls left; None before the first.
    """

    since: date
    kinds: tuple[KindOfFacts, ...]
    weeks: tuple[Week, ...]
    refusals: dict[str, int]
    spent: tuple[Spent, ...]
    periods: tuple[ToldPeriods, ...] = ()
    periods_left: int | None = None


async def statistics(app: App, weeks: int) -> Statistics:
    """Of the week that runs and those before it, `weeks` in all; facts are counted as they stand now.

    Reads every fact of the workspace once, and every event of the time that says what was shown or cost.
    """
    now = app.now()
    since = monday_of(now) - timedelta(weeks=weeks - 1)
    args = {"workspace": app.settings.workspace, "now": now, "since": _midnight(since), "limit": MOST_REASONS}
    by_week = {since + timedelta(weeks=n): Week(since + timedelta(weeks=n)) for n in range(weeks)}
    async with app.database.reading() as conn:
        kinds = await rows_as(conn, KindOfFacts, SQL.kinds, args)
        decided = await fetch_all(conn, SQL.decisions, args)
        refused = await fetch_all(conn, SQL.refusals, args)
        periods = await rows_as(conn, ToldPeriods, SQL.periods, args)
    last_round = await last(TOLD_PERIODS, app)
    for row in decided:
        by_week[row["week"]].decisions[row["decision"]] = row["times"]
    spent: dict[tuple[date, str, str], TokenUsage] = {}
    async for told in _told(app, args):
        _count(by_week[monday_of(told["time"])], told, spent)
    return Statistics(
        since=since,
        kinds=tuple(kinds),
        weeks=tuple(by_week.values()),
        refusals={row["why"]: row["times"] for row in refused},
        spent=tuple(_priced(app, *of, usage) for of, usage in sorted(spent.items())),
        periods=tuple(periods),
        periods_left=last_round["report"].get("left") if last_round else None,
    )


def monday_of(moment: datetime) -> date:
    """The Monday of its week, UTC."""
    day = moment.astimezone(UTC).date()
    return day - timedelta(days=day.weekday())


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


async def _told(app: App, args: dict[str, Any]) -> AsyncIterator[Mapping[str, Any]]:
    """The events of the time, a batch a read: nobody waits for the end of a long report."""
    async with app.database.reading() as conn:
        first = await fetch_one(conn, SQL.first_since, args)
    types = [MemoryLoaded.TYPE, *PURPOSES]
    for topic in TOPICS:
        after = first["seq"] if first else -1
        while True:
            async with app.database.reading() as conn:
                batch = {**args, "topic": topic, "after": after, "types": types, "limit": BATCH}
                rows = await fetch_all(conn, SQL.told, batch)
            for row in rows:
                if not is_sealed(row["data"]) and row["time"] <= args["now"]:
                    yield row
            if len(rows) < BATCH:
                break
            after = rows[-1]["seq"]


def _count(week: Week, row: Mapping[str, Any], spent: dict[tuple[date, str, str], TokenUsage]) -> None:
    data = row["data"]
    if row["type"] == MemoryLoaded.TYPE:
        week.turns += 1
        items = [item for layer in data["layers"] if layer["name"] == "participant" for item in layer.get("items", ())]
        week.shown += sum(1 for item in items if "id" in item)
        week.recalled.update(item["recall"] for item in items if "recall" in item)
        return
    of = (week.monday, data.get("inbox", ""), PURPOSES[row["type"]])
    more = TokenUsage.model_validate(data.get("usage", {}))
    had = spent.get(of, TokenUsage())
    spent[of] = TokenUsage(**{name: getattr(had, name) + value for name, value in more.model_dump().items()})


def _priced(app: App, monday: date, inbox: str, purpose: str, usage: TokenUsage) -> Spent:
    counted = Usage(**usage.model_dump(exclude={"calls"}))
    return Spent(monday, inbox, purpose, usage, round(app.settings.model.dollars(counted), 4))
