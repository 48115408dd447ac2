"""The evidence: what was offered, what the SMTP server has, what is stored, what is on the log. Nothing is judged here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

Row = Mapping[str, Any]
Partition = tuple[str, int]  # (topic, partition)


@dataclass(frozen=True, slots=True)
class Offered:
    """A mail that was offered to the deployment until it was accepted."""

    message_id: str
    sender: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """A message that the SMTP server accepted, in the order in which it did."""

    message_id: str
    recipient: str


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a group stands in a partition, and where that ends: offsets of the next record."""

    committed: int
    end: int


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that a group gave up."""

    topic: str
    group: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Newer:
    """A record of a newer version: who had to hold it, and of whom the status said so before it was released."""

    topic: str
    value: bytes
    holders: frozenset[str]
    shown: frozenset[str]


@dataclass(frozen=True, slots=True)
class Earning:
    """What approvals of an intent need to open it: a lower bound, over how many decisions, of how many senders."""

    bound: float
    over: int
    senders: int


@dataclass(frozen=True)
class Evidence:
    """Everything that is known of one deployment at rest. Ids are text; nobody asked for `folds` or `groups` that are None."""

    offered: tuple[Offered, ...]
    accepted: tuple[Accepted, ...]
    events: tuple[Row, ...]
    journal: frozenset[tuple[str, str]] = frozenset()  # (consumer, event id)
    consumers: tuple[tuple[str, str], ...] = ()  # (topic, consumer)
    handled: tuple[tuple[str, str, str], ...] = ()  # (topic, consumer, type): who has a handler for what
    tables: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    folds: Mapping[str, tuple[str, str]] | None = None  # hashes of a table: as it is, as folded
    groups: Mapping[str, Mapping[Partition, Progress]] | None = None
    dead_letters: tuple[DeadLetter, ...] = ()
    poison: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)  # by topic
    newer: tuple[Newer, ...] = ()
    refused: frozenset[str] = frozenset()  # topics that the broker took nothing for, for a while
    unread: tuple[Row, ...] = ()  # events of which an erase has left no data
    traces: tuple[str, ...] = ()  # what is left of those who were erased, in words
    now: datetime | None = None
    earning: Earning | None = None

    @cached_property
    def stored(self) -> tuple[Row, ...]:
        """All events in the order of storing, those among them that nobody can read any more."""
        return tuple(sorted((*self.events, *self.unread), key=lambda one: one["seq"])) if self.unread else self.events

    @cached_property
    def lost(self) -> frozenset[tuple[str, str]]:
        """The aggregates (kind, id) of which something can no longer be read."""
        return frozenset((one["aggregate"], one["aggregate_id"]) for one in self.unread if one["version"] is not None)

    @cached_property
    def by_type(self) -> Mapping[str, list[Row]]:
        """The events' data by their type, in the order of storing."""
        found: dict[str, list[Row]] = defaultdict(list)
        for event in self.events:
            found[event["type"]].append(event["data"])
        return found

    @cached_property
    def of_thread(self) -> Mapping[str, list[Row]]:
        """The versioned events of each thread, in the order of their versions."""
        return _by_aggregate(self.events, "thread")

    @cached_property
    def of_delivery(self) -> Mapping[str, list[Row]]:
        """The versioned events of each reply, in the order of their versions."""
        return _by_aggregate(self.events, "delivery")

    @cached_property
    def of_approval(self) -> Mapping[str, list[Row]]:
        """The versioned events of each intent of an inbox, in the order of their versions."""
        return _by_aggregate(self.events, "approval")

    @cached_property
    def begun_by_us(self) -> frozenset[str]:
        """The turns that no mail asked for: outreach, and answers to who reported an incident."""
        return frozenset(one["turn_id"] for one in self.by_type["reply.drafted.v1"] if one.get("proactive"))


def _by_aggregate(events: tuple[Row, ...], kind: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for event in sorted((one for one in events if one["aggregate"] == kind), key=lambda one: one["version"]):
        found[event["aggregate_id"]].append(event)
    return found
