"""The private parts of Faust that the consumer leans on. When an update changes one, this fails before mail is lost."""

from __future__ import annotations

import inspect
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import faust
import pytest
from aiokafka.consumer import group_coordinator
from faust.transport.consumer import Consumer, ConsumerThread
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread
from faust.transport.drivers.aiokafka import Consumer as KafkaConsumer
from faust.types import TP

from services.core.bus.faust_consumer import LaneConsumer

HERE = f"faust-streaming {version('faust-streaming')}: see services/core/bus/faust_consumer.py before you go on"
PLACE, OTHER = TP("turns", 0), TP("turns", 1)


class Recorded(KafkaConsumer):  # type: ignore[misc]
    """A consumer that was never started: only what a commit touches is there, and commits are kept."""

    def __init__(self, reached: dict[TP, int], committed: dict[TP, int | None], generation: int = 4) -> None:
        client = SimpleNamespace(_coordinator=SimpleNamespace(generation=generation))
        self._thread = SimpleNamespace(_consumer=client)
        self.app = SimpleNamespace(
            client_only=False,
            sensors=SimpleNamespace(on_commit_initiated=lambda _: None, on_commit_completed=lambda *_: None),
        )
        self.diag = SimpleNamespace(set_flag=lambda _: None, unset_flag=lambda _: None)
        self._acked: dict[TP, list[int]] = {}
        self._committed_offset = committed
        self._reached = reached
        self.sent: list[dict[TP, int]] = []

    _filter_committable_offsets = LaneConsumer._filter_committable_offsets
    _is_member = LaneConsumer._is_member
    _uncommitted = LaneConsumer._uncommitted

    async def _handle_attached(self, commit_offsets: Any) -> None: ...

    async def _commit_offsets(self, offsets: dict[TP, int], start_new_transaction: bool = True) -> bool:
        self.sent.append(dict(offsets))
        return True


async def test_every_commit_asks_our_hook_and_nothing_else() -> None:
    """A commit sends what the lanes have reached, though Faust itself knows of no ack at all."""
    consumer = Recorded({PLACE: 7, OTHER: 3}, {PLACE: 5, OTHER: 3})
    await Consumer.force_commit(consumer, None)
    assert consumer.sent == [{PLACE: 7}], HERE


async def test_a_member_that_was_thrown_out_commits_nothing() -> None:
    """A broker that forgot its groups would believe an old offset, and pass over what is published anew."""
    coordinator = SimpleNamespace(generation=4, member_id="m", rejoin_needed_fut=None, request_rejoin=lambda: None)
    group_coordinator.GroupCoordinator.reset_generation(coordinator)
    consumer = Recorded({PLACE: 7}, {PLACE: 5}, coordinator.generation)
    await Consumer.force_commit(consumer, None)
    assert consumer.sent == [], HERE
    assert "_consumer" in vars(AIOKafkaConsumerThread), HERE


def test_all_ways_to_commit_end_in_the_hooked_method() -> None:
    """`commit` calls `force_commit`, which calls `_commit_tps`, which calls the hook; `_new_offset` has no other use."""
    callers = {
        name
        for name, method in inspect.getmembers(Consumer, inspect.isfunction)
        if "_new_offset(" in inspect.getsource(method).split(":", 1)[1]
    }
    assert callers <= {"_filter_committable_offsets", "_new_offset"}, HERE
    assert "self.force_commit(" in inspect.getsource(Consumer.commit), HERE
    assert "self.commit(" in inspect.getsource(Consumer.commit_and_end_transactions), HERE
    assert "self.wait_empty()" in inspect.getsource(Consumer.on_stop), HERE


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("ack", ["self", "message"]),
        ("on_partitions_revoked", ["self", "revoked"]),
        ("on_partitions_assigned", ["self", "assigned", "generation_id"]),
        ("wait_empty", ["self"]),
        ("commit_and_end_transactions", ["self"]),
        ("_filter_committable_offsets", ["self", "tps"]),
        ("_should_commit", ["self", "tp", "offset"]),
        ("_commit", ["self", "offsets"]),
        ("_commit_offsets", ["self", "offsets", "start_new_transaction"]),
        ("getmany", ["self", "timeout"]),
    ],
)
def test_what_we_override_is_there_and_takes_what_it_took(name: str, parameters: list[str]) -> None:
    """Overridden methods have Faust's own names and arguments; a renamed one would silently stop being ours."""
    assert list(inspect.signature(getattr(Consumer, name)).parameters) == parameters, HERE
    if name in vars(LaneConsumer):
        assert list(inspect.signature(getattr(LaneConsumer, name)).parameters) == parameters


def test_faust_takes_records_from_the_method_that_hands_them_to_the_lanes() -> None:
    """Nothing else of Faust's consumer fetches; what it gets from there, which is nothing, it would give to an agent."""
    assert "getmany = self.getmany" in inspect.getsource(Consumer._drain_messages), HERE
    assert "self._commit_offsets(" in inspect.getsource(Consumer._commit_tps), HERE


def test_the_consumer_thread_hops_to_the_loop_before_it_calls_us() -> None:
    """Rebalances reach our consumer on the main loop, and it is made by the transport's `Consumer`."""
    for name in ("partitions_revoked", "partitions_assigned"):
        assert f"self.consumer.threadsafe_{name}(" in inspect.getsource(getattr(ConsumerThread, f"on_{name}")), HERE
    app = faust.App("contract", broker="kafka://127.0.0.1:1")
    vars(app.transport)["Consumer"] = made = lambda *_, **__: "ours"
    assert app.transport.create_consumer(callback=None) == made(), HERE


def test_a_rebalance_waits_for_what_the_app_waits_for() -> None:
    """The client calls back before it joins again, and Faust waits for the consumer's `wait_empty` there."""
    assert "on_partitions_revoked" in inspect.getsource(group_coordinator), HERE
    assert "_consumer_wait_empty)(consumer" in inspect.getsource(faust.App._on_partitions_revoked), HERE
    assert "await consumer.wait_empty()" in inspect.getsource(faust.App._consumer_wait_empty), HERE
    assert hasattr(faust.App, "_create_directories"), HERE
