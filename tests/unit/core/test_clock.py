"""Who waits for what nobody announces asks again and again, and not for longer than they said."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from services.core.clock import PAUSES_TO_A_LOOK, monotonic, until


def finding(*answers: str) -> tuple[Callable[[], Awaitable[str]], list[float]]:
    """A look that finds these, one after the other and the last one for ever; when it was asked."""
    left, asked = list(answers), list[float]()

    async def look() -> str:
        asked.append(monotonic())
        return left.pop(0) if len(left) > 1 else left[0]

    return look, asked


async def test_what_is_found_is_given_at_once() -> None:
    """The look is asked no more once it has found something."""
    look, asked = finding("", "", "found", "too late")
    assert await until(look, 600, every_s=0) == "found"
    assert len(asked) == 3


async def test_no_time_is_one_look() -> None:
    """With a limit of 0 there is one look, and it may find something."""
    look, asked = finding("", "too late")
    assert await until(look, 0) is None
    assert len(asked) == 1
    assert await until(finding("found")[0], 0) == "found"


async def test_who_never_finds_anything_ends_when_the_time_is_over() -> None:
    """Not before, and with nothing."""
    look, asked = finding("")
    began = monotonic()
    assert await until(look, 0.05, every_s=0.01) is None
    assert monotonic() - began >= 0.05
    assert len(asked) > 1


async def test_a_look_that_takes_long_is_made_less_often() -> None:
    """The pause is several times as long as the look before it: waiting must not take the CPU of the work."""
    ended: list[float] = []
    begun: list[float] = []

    async def look() -> bool:
        begun.append(monotonic())
        await asyncio.sleep(0.02)
        ended.append(monotonic())
        return len(begun) == 2

    assert await until(look, 600, every_s=0)
    assert begun[1] - ended[0] >= 0.9 * PAUSES_TO_A_LOOK * 0.02
