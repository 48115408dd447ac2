"""Which record of a partition comes next: a consumer that leaves one out must not commit past it.

A gap is real where a partition's head has expired, or where a transaction's end marker takes an offset. It is met again
at the same place when the partition is read again, and is let pass then. Of a partition with a new gap nothing more is
handed on until it is assigned again.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping
from typing import Any

log = logging.getLogger(__name__)

Gap = tuple[Hashable, int, int]  # partition, the offset that was due, the one that came


class RecordsLeftOut(Exception):
    """Records of a partition never reached us, although later ones did."""


class Continuity:
    """The offsets that are due since the partitions were assigned; `known` gaps outlive the consumer."""

    def __init__(self, known: set[Gap]) -> None:
        self._known = known
        self._due: dict[Hashable, int] = {}
        self._closed: set[Hashable] = set()
        self._begun = False

    def start(self) -> None:
        """The partitions were assigned again: nothing has been handed on, nor do we know what is committed."""
        self._due, self._closed, self._begun = {}, set(), False

    def begin_at(self, committed: Mapping[Any, int | None]) -> None:
        """The offsets that partitions are read from; those from which something was handed on go on from there."""
        self._begun = True
        for place, offset in committed.items():
            if offset is not None:
                self._due.setdefault(place, offset)

    def is_next(self, place: Hashable, offset: int) -> bool:
        """Whether the record is to be handed on; False for one that was. Raises `RecordsLeftOut` at a new gap."""
        if not self._begun:
            raise RecordsLeftOut(f"{place}: read before it was known what is committed")
        due = self._due.get(place, offset)
        if offset < due or place in self._closed:
            return False
        if offset > due:
            self._accept((place, due, offset))
        self._due[place] = offset + 1
        return True

    def _accept(self, gap: Gap) -> None:
        if gap not in self._known:
            self._known.add(gap)
            self._closed.add(gap[0])
            raise RecordsLeftOut(f"{gap[0]}: {gap[1]} was due, {gap[2]} came; reading again from what is committed")
        log.warning("%s has no records from %d to %d, twice asked", gap[0], gap[1], gap[2] - 1)
