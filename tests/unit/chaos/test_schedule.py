"""Schedules of faults: the same for the same seed, and whole."""

from __future__ import annotations

import pytest

from schemas.events import EVENTS
from services.pipeline import PROCESSORS
from tests.chaos.schedule import (
    APACHE_ONLY,
    DOUBLED,
    LINKS,
    NEWER,
    ROUND_MAILS,
    ROUND_S,
    SINGLE,
    UNHEARD_OF,
    draw,
)


def test_the_same_seed_draws_the_same_schedule() -> None:
    """A seed that failed can be run again; another seed is another schedule."""
    assert draw(7) == draw(7)
    assert draw(7).text() == draw(7).text()
    assert draw(7).faults != draw(8).faults


@pytest.mark.parametrize("seed", range(1, 21))
def test_every_kind_of_fault_is_in_every_schedule(seed: int) -> None:
    """Each processor is killed, each connection cut, and every other fault done at least once, in time."""
    faults = draw(seed).faults
    killed = {fault.target.partition("#")[0] for fault in faults if fault.kind == "kill"}
    assert killed == {*SINGLE, *DOUBLED}
    assert {fault.target for fault in faults if fault.kind == "cut"} == set(LINKS)
    kinds = {
        "broker", "database", "redis", "pause", "clock", "blobs-full", "storm", "duplicates", "reorder", "poison",
        "smtp-refuses", "smtp-never", "smtp-hangs", "smtp-drops",
        "model-429", "model-529", "model-timeout", "model-garbage", "model-cut",
        "refused-topic", "unknown-type", "newer-version", "model-outage", "model-401", "wipe", "bounce", "erase",
    }  # fmt: skip
    assert kinds <= {fault.kind for fault in faults}
    assert all(0 < fault.at_s < ROUND_S for fault in faults)


def test_who_must_hold_a_newer_version_are_those_who_handle_it() -> None:
    """The table by which the oracle judges says of each type what the pipeline says."""
    for kind, (topic, holders) in NEWER.items():
        base = kind.removesuffix(".v9") + ".v1"
        handle = {one.name for one in PROCESSORS if any(base == event.TYPE for event in one.handlers)}
        assert topic == EVENTS[base].TOPIC
        assert set(holders) == handle
    assert UNHEARD_OF not in EVENTS


def test_a_schedule_of_many_mails_has_several_rounds() -> None:
    """The faults of a long run are spread over all of it."""
    long = draw(1, 5 * ROUND_MAILS)
    assert long.lasts_s == 5 * ROUND_S
    assert {int(fault.at_s // ROUND_S) for fault in long.faults} == set(range(5))


def test_the_embedded_broker_is_spared_what_it_cannot_stand() -> None:
    """Its schedule is the same one, without those faults."""
    whole, spared = draw(3).faults, draw(3, embedded=True).faults
    assert set(whole) - set(spared) == {fault for fault in whole if fault.kind in APACHE_ONLY}
