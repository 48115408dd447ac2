"""What memory holds, was used for and cost: the figures of `memory stats` as tables, with a line for each by week."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from services.model.usage import added, prompt_tokens, tokens_of
from services.operations.memory.statistics import MOST_WEEKS, Spent, Statistics, Week, statistics
from services.web.console.language import translated
from services.web.console.quality import WEEKS, lines
from services.web.console.site import Site


@dataclass(frozen=True, slots=True)
class Series:
    """A figure of each week, the oldest first."""

    name: str
    weeks: tuple[float, ...]

    @property
    def total(self) -> float:
        """All of them together."""
        return sum(self.weeks)

    @property
    def lines(self) -> list[str]:
        """The points of its line, drawn between nothing and the most of a week."""
        most = max(self.weeks)
        return lines([one / most if most else 0.0 for one in self.weeks])


def figures_page(site: Site) -> APIRouter:
    """The page."""
    router = site.router()

    @router.get("/memory")
    async def page(request: Request, weeks: Annotated[int, Query(ge=1, le=MOST_WEEKS)] = 4) -> HTMLResponse:
        found = await statistics(site.app, weeks)
        about: dict[str, Any] = {"found": found, "used": used(found), "decided": decided(found), "spent": spent(found)}
        return site.page(request, "memory.html", weeks=weeks, choices=WEEKS, **about)

    return router


def used(found: Statistics) -> list[Series]:
    """What prompts and drafts had of memory."""
    named: tuple[tuple[str, Callable[[Week], int]], ...] = (
        (translated("turns"), lambda week: week.turns),
        (translated("facts shown"), lambda week: week.shown),
        (translated("facts cited"), lambda week: week.cited),
        (translated("asked, and sure"), lambda week: week.recalled["sure"]),
        (translated("asked, and to be confirmed"), lambda week: week.recalled["rings a bell"]),
        (translated("asked, and unknown"), lambda week: week.recalled["nothing"]),
    )
    return [Series(name, tuple(map(of, found.weeks))) for name, of in named]


def decided(found: Statistics) -> list[Series]:
    """What was decided about facts, the most frequent first."""
    names = {name for week in found.weeks for name in week.decisions}
    series = [Series(name, tuple(week.decisions.get(name, 0) for week in found.weeks)) for name in names]
    return sorted(series, key=lambda one: (-one.total, one.name))


@dataclass(frozen=True, slots=True)
class Cost:
    """What the model cost in one inbox for one purpose, and its tokens by week."""

    inbox: str
    purpose: str
    tokens: Series
    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float


def spent(found: Statistics) -> list[Cost]:
    """By inbox and purpose."""
    named: dict[tuple[str, str], list[Spent]] = {}
    for one in found.spent:
        named.setdefault((one.inbox, one.purpose), []).append(one)
    return [_cost(found.weeks, inbox, purpose, rows) for (inbox, purpose), rows in sorted(named.items())]


def _cost(weeks: Sequence[Week], inbox: str, purpose: str, rows: Iterable[Spent]) -> Cost:
    by_week = {one.monday: one for one in rows}
    tokens = tuple(float(tokens_of(by_week[week.monday].usage)) if week.monday in by_week else 0.0 for week in weeks)
    together = added(*(one.usage for one in by_week.values()))
    return Cost(
        inbox,
        purpose,
        Series("", tokens),
        together.calls,
        prompt_tokens(together),
        together.output,
        sum(one.dollars for one in by_week.values()),
    )
