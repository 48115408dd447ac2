"""A command waits for the deployment as long as it was told to, and then says what is left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from services.cli.waiting import progress_bar, still_at_work, watch


def counting_down(*left: int) -> Callable[[], Awaitable[int]]:
    """What is left, at each look; the last figure for ever."""
    figures = list(left)

    async def look() -> int:
        return figures.pop(0) if len(figures) > 1 else figures[0]

    return look


async def test_waiting_ends_when_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the limit is."""
    monkeypatch.setattr("services.cli.waiting.LOOK_EVERY_S", 0)
    with progress_bar() as bar:
        assert await watch(bar, "reading", counting_down(3, 5, 1, 0), 600) == 0


async def test_waiting_ends_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment that is not at work keeps nobody for ever; what is left is told."""
    monkeypatch.setattr("services.cli.waiting.LOOK_EVERY_S", 0.01)
    with progress_bar() as bar:
        assert await watch(bar, "reading", counting_down(7), 0.05) == 7


async def test_no_time_is_no_waiting() -> None:
    """A limit of 0 looks once."""
    with progress_bar() as bar:
        assert await watch(bar, "reading", counting_down(4, 0), 0) == 4


@pytest.mark.parametrize(("left", "words"), [(1, "1 thing is left"), (12, "12 things are left")])
def test_what_is_left_is_said_with_what_to_do(left: int, words: str) -> None:
    """Nothing is lost, nothing has to be repeated, and where to look."""
    said = still_at_work(left, 600)
    assert said.startswith(f"Not done yet after 600 s: {words} to do.")
    assert "correspondent status" in said
