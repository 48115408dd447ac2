"""How often a quiet consumer asks the broker."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from services.core.bus.bell import Bell
from services.core.bus.fetch_pace import LOOK_EVERY_S, FetchPace, PacedFetcher
from services.core.bus.group import EMBEDDED_PACE as EMBEDDED
from services.core.bus.group import UNHURRIED


class Clock:
    """Seconds, set by the test."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def fetcher(pace: FetchPace, plenty: Callable[[], bool] = lambda: False) -> tuple[Clock, Any, PacedFetcher]:
    """A fetcher that always has something to ask, at our pace."""
    clock = Clock()
    bare = SimpleNamespace(
        _records={},
        _client=SimpleNamespace(_metadata_max_age_ms=0),
        _fetch_max_wait_ms=0,
        _wait_consume_future=None,
        _notify=lambda _: None,
        _loop=SimpleNamespace(call_soon_threadsafe=lambda call: call()),
        _get_actions_per_node=lambda _: (["fetch"], {}, LOOK_EVERY_S, False, []),
    )
    return clock, bare, PacedFetcher(bare, pace, clock, plenty)


def asks(bare: Any, assignment: object = "ours") -> bool:
    """Whether the fetcher asks the broker now."""
    return bool(bare._get_actions_per_node(assignment)[0])


def test_an_idle_consumer_asked_the_embedded_broker_twenty_times_a_second() -> None:
    """A consumer that gets nothing pauses between its questions, and says how long."""
    clock, bare, _ = fetcher(EMBEDDED)
    assert asks(bare)
    clock.now += EMBEDDED.awake_s + 0.1
    fetches, _, timeout, _, _ = bare._get_actions_per_node("ours")
    assert not fetches
    assert 1.5 < timeout <= 3.0
    clock.now += 3.0
    assert asks(bare)
    assert not asks(bare)


def test_the_bell_ends_a_pause() -> None:
    """A record in one of its topics is fetched at once, and those after it."""
    clock, bare, paced = fetcher(EMBEDDED)
    asks(bare)
    clock.now += 2.0
    assert not asks(bare)
    bell = Bell()
    end = bell.listen(["turns"], paced.wake)
    bell.ring(["timers"])
    assert not asks(bare)
    bell.ring(["turns"])
    assert asks(bare)
    assert not asks(bare)
    bell.ring(["turns"])
    assert asks(bare)
    clock.now += 2.0
    end()
    bell.ring([])
    assert not asks(bare)


def test_a_busy_consumer_asked_the_embedded_broker_without_a_pause() -> None:
    """Between two questions that no bell asks for there is a pause, also while records wait to be handed on."""
    clock, bare, paced = fetcher(EMBEDDED)
    paced.wake()
    sent = 0
    bare._records = {"turns": "some"}
    for _ in range(1000):
        sent += asks(bare)
        clock.now += 0.001
    assert 4 <= sent <= 1 / EMBEDDED.pause_s + 1
    bare._records = {}
    clock.now += EMBEDDED.pause_s
    assert asks(bare), "what came to a partition while its records waited is asked for once they are handed on"


def test_a_new_assignment_is_fetched_without_a_pause() -> None:
    """Nobody waits for the first record after a rebalance; and topics are looked up often for a minute."""
    clock, bare, _ = fetcher(EMBEDDED)
    asks(bare)
    clock.now += 100.0
    asks(bare)
    assert bare._client._metadata_max_age_ms == 60_000
    assert not asks(bare)
    assert asks(bare, "another")
    assert bare._client._metadata_max_age_ms == 2_000


def test_a_quiet_consumer_of_apache_kafka_lets_the_broker_wait_longer() -> None:
    """That broker answers at once when a record comes: no pause is needed."""
    clock, bare, _ = fetcher(FetchPace())
    assert asks(bare)
    assert bare._fetch_max_wait_ms == 500
    clock.now += 2.0
    assert asks(bare)
    assert bare._fetch_max_wait_ms == 3000
    bare._records = {"turns": "some"}
    assert asks(bare)
    assert bare._fetch_max_wait_ms == 500


def test_a_consumer_that_has_stopped_is_not_woken() -> None:
    """The bell may ring for a thread whose loop is closed."""
    _, bare, paced = fetcher(EMBEDDED)

    def closed(call: object) -> None:
        raise RuntimeError("Event loop is closed")

    bare._loop.call_soon_threadsafe = closed
    paced.wake()


def test_a_consumer_with_plenty_to_do_asked_for_each_record() -> None:
    """The bell rings with every publish of a burst: busy lanes let records gather, which are fetched together."""
    lanes = {"plenty": True}
    clock, bare, paced = fetcher(EMBEDDED, lambda: lanes["plenty"])
    asks(bare)
    paced.wake()
    assert not asks(bare)
    clock.now += EMBEDDED.plenty_pause_s
    assert asks(bare)
    paced.wake()
    lanes["plenty"] = False
    assert asks(bare)


def test_what_learns_fetched_each_record_of_a_burst_by_itself() -> None:
    """Nobody waits for what is learned: a ring right after a fetch is answered a moment later, the first one at once."""
    clock, bare, paced = fetcher(UNHURRIED)
    assert asks(bare)
    paced.wake()
    assert not asks(bare)
    clock.now += UNHURRIED.rung_pause_s
    assert asks(bare)
    clock.now += 1.0
    paced.wake()
    assert asks(bare)
    paced.wake()
    assert asks(bare, "another"), "what was assigned a moment ago is fetched without a pause"
