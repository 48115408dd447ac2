"""Envelopes: the same decision made twice is the same event."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from schemas.events.threads import GoalClosed, TimerElapsed, TurnFailed
from services.core.bus.envelope import Envelope, caused, first
from services.keep_time.keeper import KEEP_TIME

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
ID, THREAD, PERSON = UUID(int=1), UUID(int=2), UUID(int=3)
GOAL = GoalClosed(thread_id=THREAD, participant_id=PERSON, goal_id=UUID(int=4))


def origin(id: UUID = ID) -> Envelope:
    return first(
        TurnFailed(thread_id=THREAD, turn_id=ID, processor="p", error="e"),
        id=id,
        source="edge",
        time=NOW,
        workspace="main",
    )


def test_a_first_event_begins_a_trace() -> None:
    """What nothing caused has its own id as correlation and no cause."""
    event = origin()
    assert (event.correlation_id, event.causation_id, event.version) == (ID, None, None)
    assert (event.type, event.topic, event.key) == ("turn.failed.v1", "turns", str(THREAD))


def test_a_caused_event_inherits_from_its_cause() -> None:
    """Time, workspace and trace are the cause's; the wall clock plays no part."""
    event = caused(GOAL, origin(), source="track_threads", step="a", version=7)
    assert (event.time, event.workspace, event.correlation_id) == (NOW, "main", ID)
    assert (event.causation_id, event.version, event.source) == (ID, 7, "track_threads")


def test_a_trace_goes_on_over_many_causes() -> None:
    """The correlation is that of the first event, the cause that of the last."""
    one = caused(GOAL, origin(), source="a", step="")
    two = caused(GOAL, one, source="b", step="")
    assert (two.correlation_id, two.causation_id) == (ID, one.id)


names = st.text(st.characters(codec="utf-8"), max_size=5)


@given(st.uuids(), names, names, st.uuids(), names, names)
def test_an_id_is_made_from_cause_source_and_step(
    one: UUID, source: str, step: str, other: UUID, other_source: str, other_step: str
) -> None:
    """The same cause, source and step give the same id, whatever the data; another step gives another."""
    made = caused(GOAL, origin(one), source=source, step=step)
    again = caused(
        TurnFailed(thread_id=THREAD, turn_id=ID, processor="", error=""), origin(one), source=source, step=step
    )
    assert made.id == again.id
    if (one, f"{source}/{step}") != (other, f"{other_source}/{other_step}"):
        assert made.id != caused(GOAL, origin(other), source=other_source, step=other_step).id


def test_the_trace_context_is_that_of_the_w3c() -> None:
    """Version 00, 32 hex digits of trace, 16 of span, sampled."""
    assert origin().traceparent == "00-00000000000000000000000000000001-0000000000000000-01"
    event = caused(GOAL, origin(), source="a", step="")
    assert event.traceparent == f"00-{ID.hex}-{event.id.hex[:16]}-01"


def test_the_key_is_the_field_that_the_topic_names() -> None:
    """A timer goes to its thread's partition."""
    timer = TimerElapsed(timer_id=UUID(int=9), thread_id=THREAD, purpose="quiet", due_at=NOW)
    assert first(timer, id=ID, source=KEEP_TIME, time=NOW, workspace="main").key == str(THREAD)
