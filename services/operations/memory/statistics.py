"""What a workspace's memory holds, what was decided about it, and what it was used for and cost, week by week.

Facts and decisions are counted where they are kept. What was shown to the model, what it recalled and what it cost is
read from the log, as far as it is in the table of events: archived days are not counted, nor are erased people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from schemas.events.investigations import RoundTaken
from schemas.events.memory import TurnReflected
from schemas.events.periods import PeriodCondensed
from schemas.events.replies import MemoryLoaded, ReplyDrafted, TokenUsage
from schemas.events.suggestions import SuggestionDrafted
from services.core.app import App
from services.core.db import Connection, fetch_all, fetch_one, queries, rows_as
from services.core.keys import is_sealed
from services.model.port import Usage
from services.model.usage import added
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
    RoundTaken.TYPE: "investigations",
}
TOPICS = (MemoryLoaded.TOPIC, ReplyDrafted.TOPIC, TurnReflected.TOPIC, PeriodCondensed.TOPIC, RoundTaken.TOPIC)


@dataclass(frozen=True, slots=True)
class KindOfFacts:
    """The facts of one kind: each is current, doubtful, expired, replaced by a later one, merged or withdrawn."""

    kind: str
    stored: int
    current: int
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
    and by verdict (`sure`, `rings a bell`, `nothing`) what was `recalled` of the things that mails asked. `cited`: how
    many facts drafts named as what they rest on.
    """

    monday: date
    decisions: dict[str, int] = field(default_factory=dict)
    turns: int = 0
    shown: int = 0
    cited: int = 0
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
    `set_aside` are out of prompts, since nothing asks for them (`recall.unused_days`); None where that is off.
    """

    since: date
    kinds: tuple[KindOfFacts, ...]
    weeks: tuple[Week, ...]
    refusals: dict[str, int]
    spent: tuple[Spent, ...]
    periods: tuple[ToldPeriods, ...] = ()
    periods_left: int | None = None
    set_aside: int | None = None


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
        set_aside = await _set_aside(conn, app, args)
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
        set_aside=set_aside,
    )


def monday_of(moment: datetime) -> date:
    """The Monday of its week, UTC."""
    day = moment.astimezone(UTC).date()
    return day - timedelta(days=day.weekday())


async def _set_aside(conn: Connection, app: App, args: dict[str, Any]) -> int | None:
    recall = app.settings.recall
    if not recall.unused_days:
        return None
    before = args["now"] - timedelta(days=recall.unused_days)
    row = await fetch_one(conn, SQL.unused, {**args, "below": recall.unused_below, "before": before})
    return int(row["facts"]) if row else 0


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
                told = [one for one in rows if not is_sealed(one["data"]) and one["time"] <= args["now"]]
                inboxes = await _inboxes(conn, told)
            for row in told:
                yield {**row, "inbox": row["data"].get("inbox") or inboxes.get(_place(row["data"]), "")}
            if len(rows) < BATCH:
                break
            after = rows[-1]["seq"]


async def _inboxes(conn: Connection, told: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The inboxes of suggestions and investigations, whose events name none: by the id of the thread, or their own."""
    ids = [place for one in told if not one["data"].get("inbox") and (place := _place(one["data"]))]
    rows = await fetch_all(conn, SQL.inboxes, {"ids": ids}) if ids else []
    return {str(row["id"]): row["inbox"] for row in rows}


def _place(data: Mapping[str, Any]) -> str:
    return str(data.get("investigation_id") or data.get("thread_id") or "")


def _count(week: Week, row: Mapping[str, Any], spent: dict[tuple[date, str, str], TokenUsage]) -> None:
    data = row["data"]
    if row["type"] == MemoryLoaded.TYPE:
        week.turns += 1
        items = [item for layer in data["layers"] if layer["name"] == "participant" for item in layer.get("items", ())]
        week.shown += sum(1 for item in items if "id" in item)
        week.recalled.update(item["recall"] for item in items if "recall" in item)
        return
    week.cited += len(data.get("facts_cited", ()))
    of = (week.monday, row["inbox"], PURPOSES[row["type"]])
    more = TokenUsage.model_validate(data.get("usage", {}))
    spent[of] = added(spent.get(of, TokenUsage()), more)


def _priced(app: App, monday: date, inbox: str, purpose: str, usage: TokenUsage) -> Spent:
    counted = Usage(**usage.model_dump(exclude={"calls"}))
    return Spent(monday, inbox, purpose, usage, round(app.settings.model.dollars(counted), 4))
