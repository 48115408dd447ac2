"""The ids of the events that this process has done last: a processor's own events come back to it a moment later.

It only spares a question: the journal has each of them, and what is not known here is asked there.
"""

from __future__ import annotations

from uuid import UUID

MOST = 10_000


class Recent:
    """At most `most` ids, the latest ones."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._ids: dict[UUID, None] = {}

    def add(self, *ids: UUID) -> None:
        """Remember these; the oldest ones make room."""
        self._ids.update(dict.fromkeys(ids))
        while len(self._ids) > self._most:
            del self._ids[next(iter(self._ids))]

    def knows(self, id: UUID) -> bool:
        """Whether it is among the latest."""
        return id in self._ids
