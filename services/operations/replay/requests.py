"""Replays that pages and programs ask for: few cases within a time, one request at a time in a process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from services.core.app import App
from services.core.errors import Permanent, Temporary
from services.operations.dead_letters.dead_letter import DeadLetter
from services.operations.replay.case import Case
from services.operations.replay.model import Asking
from services.operations.replay.redrive import redriven
from services.operations.replay.run import past_cases, replay
from services.operations.replay.selection import Selection
from services.operations.replay.tried import TriedCase

MOST = 20  # cases of one request
WITHIN_S = 60.0


class ReplayBusy(Temporary):
    """Somebody else replays at the moment: ask again in a minute."""


class TookTooLong(Temporary):
    """It took more than a minute."""


class NothingNamed(Permanent):
    """Say of what: an event, a thread, a person, or a range of time."""


@dataclass(frozen=True, slots=True)
class Tried:
    """The oldest cases of `total`, `MOST` at most; `late`: the time was over before the rest was played."""

    cases: tuple[TriedCase, ...]
    total: int
    late: bool = False


class Replays:
    """What this process replays."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._turn = asyncio.Lock()

    async def past(self, wanted: Selection, asking: Asking) -> Tried:
        """What would differ in what happened. Raises `NothingNamed`, `ReplayBusy`, and what a replay raises."""
        if not any((wanted.event, wanted.thread, wanted.participant, wanted.since, wanted.before)):
            raise NothingNamed
        return await self._tried(past_cases(self._app.settings, wanted, documents=not asking.recorded), asking)

    async def saved(self, case: Case, asking: Asking) -> Tried:
        """What would differ in a case that was saved. Raises `ReplayBusy`, and what a replay raises."""

        async def alone() -> AsyncGenerator[tuple[Case, int], None]:
            yield case, 1

        return await self._tried(alone(), asking)

    async def redriven(self, dead_letter: DeadLetter, asking: Asking) -> TriedCase:
        """What a redrive would do. Raises `CannotTry`, `ReplayBusy`, `TookTooLong`."""
        async with self._alone():
            try:
                async with asyncio.timeout(WITHIN_S):
                    return await redriven(self._app.settings, dead_letter, asking)
            except TimeoutError:
                raise TookTooLong from None

    async def _tried(self, cases: AsyncGenerator[tuple[Case, int], None], asking: Asking) -> Tried:
        found, total = list[TriedCase](), 0
        async with self._alone(), aclosing(cases), aclosing(replay(self._app.settings, cases, asking)) as played:
            try:
                async with asyncio.timeout(WITHIN_S):
                    async for case, result, every in played:
                        total = every
                        found.append(TriedCase.of(case, result))
                        if len(found) == MOST:
                            break
            except TimeoutError:
                return Tried(tuple(found), total, late=True)
        return Tried(tuple(found), total)

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        if self._turn.locked():
            raise ReplayBusy
        async with self._turn:
            yield
