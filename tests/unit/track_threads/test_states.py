"""The thread's state machine: every edge and every refusal."""

from __future__ import annotations

from itertools import pairwise, product
from typing import get_args

import pytest

from schemas.events.threads import StateChanged, ThreadState, TransitionRefused
from services.track_threads import states
from services.track_threads.states import EDGES, path, refusal
from tests.unit.track_threads.threads import thread

STATES: tuple[ThreadState, ...] = get_args(ThreadState)
LEGAL = {
    ("new", "in_progress"),
    ("in_progress", "awaiting_reply"),
    ("in_progress", "escalated"),
    ("in_progress", "resolved"),
    ("awaiting_reply", "in_progress"),
    ("awaiting_reply", "resolved"),
    ("escalated", "in_progress"),
    ("resolved", "closed"),
    ("resolved", "in_progress"),
    ("closed", "new"),
}


def test_the_table_covers_every_state() -> None:
    """Each of the six states has its edges, and no other state is known."""
    assert set(EDGES) == set(STATES)
    assert {(one, other) for one in EDGES for other in EDGES[one]} == LEGAL


@pytest.mark.parametrize(("one", "other"), sorted(product(STATES, STATES)))
def test_a_step_is_made_exactly_where_there_is_an_edge(one: ThreadState, other: ThreadState) -> None:
    """A legal step changes the state; every other one is refused with a reason, and both name who asked and why."""
    event = states.transition(thread(state=one), other, "human", "asked for")
    assert isinstance(event, StateChanged | TransitionRefused)
    assert isinstance(event, StateChanged) == ((one, other) in LEGAL)
    assert (event.from_state, event.to_state, event.trigger, event.reason) == (one, other, "human", "asked for")
    assert not isinstance(event, TransitionRefused) or event.refused_because


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("new", "closed", "from new a thread can only become in_progress"),
        (
            "escalated",
            "resolved",
            "only a human hands an escalated thread back, to in_progress; nothing else leaves it",
        ),
        ("resolved", "resolved", "the thread is resolved already"),
        ("in_progress", "closed", "from in_progress a thread can only become awaiting_reply, escalated, resolved"),
    ],
)
def test_a_refusal_says_what_is_allowed(one: ThreadState, other: ThreadState, said: str) -> None:
    """new to closed and escalated to resolved are refused in words that say what is possible instead."""
    assert refusal(one, other) == said


@pytest.mark.parametrize(("one", "other"), sorted(product(STATES, STATES)))
def test_a_path_walks_legal_edges_only(one: ThreadState, other: ThreadState) -> None:
    """Between any two states there is a way over legal edges; none is needed where one is there already."""
    way = (one, *path(one, other))
    assert way[-1] == other
    assert all(step in LEGAL for step in pairwise(way))
    assert len(set(way)) == len(way)


@pytest.mark.parametrize(
    ("one", "way"),
    [
        ("new", [("new", "in_progress"), ("in_progress", "escalated")]),
        ("awaiting_reply", [("awaiting_reply", "in_progress"), ("in_progress", "escalated")]),
        ("resolved", [("resolved", "in_progress"), ("in_progress", "escalated")]),
        ("closed", [("closed", "new"), ("new", "in_progress"), ("in_progress", "escalated")]),
        ("in_progress", [("in_progress", "escalated")]),
    ],
)
def test_an_escalation_by_the_system_walks_logged_legal_steps(one: ThreadState, way: list[tuple[str, str]]) -> None:
    """The system escalates from any state over separate steps, each logged with its trigger."""
    events = list(states.escalate(thread(state=one), "system", "send failed"))
    steps = [event for event in events if isinstance(event, StateChanged)]
    assert [(step.from_state, step.to_state) for step in steps] == way
    assert {(step.trigger, step.reason) for step in steps} == {("system", "send failed")}
    assert len(events) == len(steps) + 1


def test_an_escalated_thread_is_not_escalated_again() -> None:
    """Where a human looks already, nothing is logged twice."""
    assert list(states.escalate(thread(state="escalated"), "system", "again")) == []
