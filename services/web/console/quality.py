"""How good the agent's words are: what people made of drafts and replies, as tables with a line for each trend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from services.operations.quality import MOST_WEEKS, Trend, quality
from services.web.console.site import Site

WEEKS = (4, 12, 26, 52)
WIDE, HIGH, EDGE = 96, 24, 2  # of a line, in pixels


def quality_page(site: Site) -> APIRouter:
    """The page."""
    router = site.router()

    @router.get("/quality")
    async def page(request: Request, weeks: Annotated[int, Query(ge=1, le=MOST_WEEKS)] = 12) -> HTMLResponse:
        found = await quality(site.app, weeks)
        newest_first = list(zip(found.mondays, found.every.weeks, strict=True))[::-1]
        about: dict[str, Any] = {"quality": found, "by_week": newest_first, "weeks": weeks, "choices": WEEKS}
        return site.page(request, "quality.html", lines=lines_of, percent=percent, **about)

    return router


def percent(share: float | None) -> str:
    """A share in words; a dash where there is none."""
    return "–" if share is None else f"{share:.0%}".replace("%", " %")


def lines_of(trend: Trend) -> list[str]:
    """The share of unchanged drafts by week as points of SVG lines, one line for each run of weeks with drafts."""
    return lines([one.unchanged_share for one in trend.weeks])


def lines(shares: Sequence[float | None]) -> list[str]:
    """Shares by week as points of SVG lines; a line breaks where a week has none."""
    return [_points(run, len(shares)) for run in _runs(shares)]


def _runs(shares: Sequence[float | None]) -> Iterable[list[tuple[int, float]]]:
    run: list[tuple[int, float]] = []
    for at, share in enumerate((*shares, None)):
        if share is not None:
            run.append((at, share))
        elif run:
            yield run
            run = []


def _points(run: list[tuple[int, float]], weeks: int) -> str:
    step = (WIDE - 2 * EDGE) / max(1, weeks - 1)
    points = [(EDGE + at * step, HIGH - EDGE - share * (HIGH - 2 * EDGE)) for at, share in run]
    if len(points) == 1:  # a line of one point is not seen
        ((x, y),) = points
        points = [(x - EDGE, y), (x + EDGE, y)]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
