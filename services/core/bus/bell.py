"""Announces to the consumers of this process which topics got records, so that a quiet one need not ask the broker.

It only saves time: a consumer that no bell reaches asks by itself after a pause. Only the embedded broker's consumers
listen, since that broker answers a fetch after a fixed time, record or no record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

Wake = Callable[[], None]

CHANNEL = "correspondent_published"  # notifications of Postgres, by which other processes ring


class Bell:
    """Who wants to hear of which topic. Consumers listen from their own threads; it is rung from the main one."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Wake]] = {}

    def listen(self, topics: Iterable[str], wake: Wake) -> Callable[[], None]:
        """Have `wake` called when one of the topics got records; what ends that."""
        mine = list(topics)
        for topic in mine:
            self._listeners.setdefault(topic, []).append(wake)

        def end() -> None:
            for topic in mine:
                self._listeners[topic].remove(wake)

        return end

    def ring(self, topics: Collection[str]) -> None:
        """These topics got records; none named: any of them may have."""
        meant = topics or list(self._listeners)
        woken = {wake for topic in meant for wake in list(self._listeners.get(topic, ()))}
        for wake in woken:
            wake()

    def heard(self, topic: str) -> None:
        """What `db.notices.listen` calls: another process rings; "" where its ringing may have been missed."""
        self.ring([topic] if topic else [])

    def reaches(self, topic: str) -> int:
        """How many consumers of this process listen for the topic."""
        return len(self._listeners.get(topic, ()))
