"""How often a consumer asks the broker for records: at short intervals while some come, seldom while none do.

Apache Kafka holds a fetch until a record comes, so a quiet consumer lets it wait for longer. The embedded broker
answers after half of the wait, record or no record: there a fetch waits for hardly any time, and is sent at once when
the `Bell` says that one of the topics has got a record; else a busy consumer asks now and then, a quiet one seldom.

Invariants
- After the bell, and after partitions were assigned, at least one fetch is sent without any pause. Only where the lanes
  have plenty to do, or the consumer is in no hurry, the broker is asked when a pause is over, for many records at once.
- A group may be given its partitions while the topics of a broker that forgot are made again, one after the other: the
  client looks for further ones often at first, and once a minute later.
- Offsets are looked up, and partitions paused and resumed, as if there were no pauses: a fetch that waits is not sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FRESH_FOR_S = 60.0  # so long after an assignment topics may still be made
OLDEST_METADATA_S = 60.0
NEVER = float("-inf")
LOOK_EVERY_S = 5.0  # how often aiokafka's fetcher looks around although nothing happened; its own figure is 0.2

Actions = tuple[list[Any], dict[Any, Any], float, bool, list[Any]]  # fetches, resets, timeout, metadata, resumes


@dataclass(frozen=True, slots=True)
class FetchPace:
    """Seconds that the broker may hold a fetch, busy or quiet, and that pass between two of them, busy or quiet.

    `rung_pause_s` pass where the bell rings, `plenty_pause_s` where the lanes have plenty to do, bell or no bell.
    A consumer counts as busy for `awake_s` after a record. `metadata_s` is how old the list of topics may be in the
    first minute of an assignment.
    """

    wait_s: float = 0.5
    quiet_wait_s: float = 3.0
    pause_s: float = 0.0
    quiet_pause_s: float = 0.0
    rung_pause_s: float = 0.0
    plenty_pause_s: float = 0.0
    awake_s: float = 1.0
    metadata_s: float = OLDEST_METADATA_S


class PacedFetcher:
    """Puts a pace upon aiokafka's fetcher. Lives on the consumer's thread, all but `wake`."""

    def __init__(self, fetcher: Any, pace: FetchPace, now: Callable[[], float], plenty: Callable[[], bool]) -> None:
        self._fetcher, self._pace, self._now, self._plenty = fetcher, pace, now, plenty
        self._actions: Callable[[Any], Actions] = fetcher._get_actions_per_node
        self._assignment: object = None
        self._rung = True
        self._awake_until = self._assigned_at = now()
        self._sent_at = NEVER
        fetcher._get_actions_per_node = self.actions

    def wake(self) -> None:
        """Ask for records at once; from any thread."""
        try:
            self._fetcher._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:  # the consumer has stopped, and its loop is closed
            return

    def _wake(self) -> None:
        self._rung = True
        self._fetcher._notify(self._fetcher._wait_consume_future)

    def actions(self, assignment: Any) -> Actions:
        """What the fetcher is to do now, without the fetches that can wait."""
        now, pace = self._now(), self._pace
        if assignment is not self._assignment:
            self._assignment, self._assigned_at, self._rung, self._sent_at = assignment, now, True, NEVER
        if self._fetcher._records:
            self._awake_until = now + pace.awake_s
        # aiokafka reads both figures before each fetch, and has no setting for them that may change while it runs.
        fresh = now - self._assigned_at < FRESH_FOR_S
        self._fetcher._client._metadata_max_age_ms = 1000 * (pace.metadata_s if fresh else OLDEST_METADATA_S)
        busy = self._rung or now < self._awake_until
        self._fetcher._fetch_max_wait_ms = round(1000 * (pace.wait_s if busy else pace.quiet_wait_s))
        fetches, resets, timeout, metadata, resumes = self._actions(assignment)
        rest = self._sent_at + self._pause(busy) - now
        if fetches and rest > 0:
            return [], resets, min(timeout, rest), metadata, resumes
        if fetches:
            self._sent_at = now
            if self._rung:
                self._rung, self._awake_until = False, now + pace.awake_s
        return fetches, resets, timeout, metadata, resumes

    def _pause(self, busy: bool) -> float:
        """How long after the last fetch the next one may be sent."""
        if self._pace.plenty_pause_s and self._plenty():
            return self._pace.plenty_pause_s
        if self._rung:
            return self._pace.rung_pause_s
        return self._pace.pause_s if busy else self._pace.quiet_pause_s
