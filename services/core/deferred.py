"""Parts of a deployment that are made when they are first asked for, with the libraries that they import.

A command that only looks at the database then starts in half a second and not in three; a processor, which uses all of
them, loses nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from services.core.bus.delivery import Record
    from services.core.bus.publisher import Outcome, Publisher


class Deferred:
    """Stands for what `make` returns; every attribute is that object's. `made` says whether there is one yet."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._object: Any = None

    @property
    def made(self) -> bool:
        """Whether it was ever asked for."""
        return self._object is not None

    def __getattr__(self, name: str) -> Any:
        if self._object is None:
            self._object = self._make()
        return getattr(self._object, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            super().__setattr__(name, value)
        else:
            if self._object is None:
                self._object = self._make()
            setattr(self._object, name, value)


class DeferredPublisher:
    """A `Publisher` that is made and started by `start`, or by the first event."""

    def __init__(self, make: Callable[[], Publisher]) -> None:
        self._make = make
        self._publisher: Publisher | None = None
        self._starting = asyncio.Lock()
        self._stopped = False

    async def start(self) -> None:
        """Connect, once, or again after `stop`. Raises what the broker's client raises."""
        async with self._starting:
            if self._publisher is None or self._stopped:
                made = self._publisher or self._make()
                await made.start()
                self._publisher, self._stopped = made, False

    async def stop(self) -> None:
        """Send what is under way and disconnect; without effect when nothing was ever published."""
        if self._publisher is not None:
            self._stopped = True
            await self._publisher.stop()

    async def renew(self) -> None:
        """See `Publisher.renew`; without effect before the first event."""
        if self._publisher is not None:
            await self._publisher.renew()

    async def answers(self) -> bool:
        """See `Publisher.answers`; False before the first event."""
        return self._publisher is not None and await self._publisher.answers()

    async def publish(self, records: Sequence[Record]) -> None:
        """See `Publisher.publish`."""
        await (await self._started()).publish(records)

    async def publish_each(self, records: Sequence[Record]) -> list[Outcome]:
        """See `Publisher.publish_each`."""
        return await (await self._started()).publish_each(records)

    async def _started(self) -> Publisher:
        if self._publisher is None:
            await self.start()
        assert self._publisher is not None
        return self._publisher
