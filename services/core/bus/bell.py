"""Announces to the consumers of this process which topics got records, so that a quiet one need not ask the broker.

A consumer is told of what it has a handler for: the rest comes along with that, or when it asks by itself.

It only saves time: a consumer that no bell reaches asks by itself after a pause. Only the embedded broker's consumers
listen, since that broker answers a fetch after a fixed time, record or no record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType

Wake = Callable[[], None]
Wants = Callable[[str], bool]  # whether a consumer has something to do for events of this type
Listen = Callable[[Iterable[str], Wake], Wake]

CHANNEL = "correspondent_published"  # notifications of Postgres, by which other processes ring


ANY: Mapping[str, Collection[str]] = MappingProxyType({})


def _everything(kind: str) -> bool:
    return True


class Bell:
    """Who wants to hear of which topic. Consumers listen from their own threads; it is rung from the main one."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[tuple[Wake, Wants]]] = {}

    def listen(self, topics: Iterable[str], wake: Wake, wants: Wants = _everything) -> Wake:
        """Have `wake` called when one of the topics got records that are wanted; what ends that."""
        mine, listener = list(topics), (wake, wants)
        for topic in mine:
            self._listeners.setdefault(topic, []).append(listener)

        def end() -> None:
            for topic in mine:
                self._listeners[topic].remove(listener)

        return end

    def ring(self, topics: Collection[str], types: Mapping[str, Collection[str]] = ANY) -> None:
        """These topics got records, of these types by topic where that is known; none named: any of them may have."""
        meant = topics or list(self._listeners)
        woken = {
            wake
            for topic in meant
            for wake, wants in list(self._listeners.get(topic, ()))
            if topic not in types or any(map(wants, types[topic]))
        }
        for wake in woken:
            wake()

    def heard(self, topic: str) -> None:
        """What `db.notices.listen` calls: another process rings; "" where its ringing may have been missed."""
        self.ring([topic] if topic else [])

    def reaches(self, topic: str) -> int:
        """How many consumers of this process listen for the topic."""
        return len(self._listeners.get(topic, ()))
