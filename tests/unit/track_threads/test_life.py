"""Any life of a thread: whatever happens in whatever order, its rules hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from schemas.events.base import EventData
from schemas.events.threads import (
    StateChanged,
    ThreadTransitionRequested,
    TimerElapsed,
    TransitionRefused,
    TurnClosed,
    TurnFailed,
    TurnOpened,
)
from services.core.settings import Settings
from services.track_threads.decide import Command, decide
from services.track_threads.states import EDGES
from services.track_threads.thread import Thread
from tests.unit.track_threads.threads import (
    NOW,
    PERSON,
    THREAD,
    draft,
    evolved,
    id_of,
    mail,
    reply,
    report,
)

Happening = tuple[str, str]
SETTINGS = Settings.model_validate(
    {"threads": {"quiet_s": 20}, "inboxes": [{"name": "support", "address": "s@x.example"}]}
)

HAPPENINGS = st.one_of(
    st.tuples(st.just("mail"), st.sampled_from(["answer", "human"])),
    st.tuples(st.just("history"), st.just("")),
    st.tuples(st.just("quiet"), st.just("")),
    st.tuples(st.just("leaves"), st.just("")),
    st.tuples(st.just("sent"), st.sampled_from(["awaiting_reply", "resolved", "in_progress", "escalate"])),
    st.tuples(st.just("no_reply"), st.just("resolved")),
    st.tuples(st.just("failed"), st.just("")),
    st.tuples(st.just("report"), st.sampled_from(["hard", "soft"])),
    st.tuples(st.just("asked"), st.sampled_from(sorted(EDGES))),
)


def happen(thread: Thread, what: Happening, number: int) -> list[EventData]:
    """The events that are decided; a turn's events name the turn that is open."""
    event = _event(*what, number, thread.turn.turn_id if thread.turn else id_of("turn"))
    if event is None:
        return []
    decided = decide(thread, Command(event, id_of(f"cause {number}"), NOW, SETTINGS))
    return [one for one in decided if isinstance(one, EventData)]


def _event(name: str, how: str, number: int, turn_id: UUID) -> EventData | None:
    match name:
        case "mail":
            return mail(f"mail {number}", kind=how)
        case "history":
            return mail(f"mail {number}", mode="history", sent_at=NOW)
        case "quiet":
            return TimerElapsed(timer_id=id_of("quiet"), thread_id=THREAD, purpose="quiet", due_at=NOW)
        case "sent":
            decision = {"decision": "escalate"} if how == "escalate" else {"state": how}
            return reply(turn_id=turn_id, goals_add=(f"goal {number}",), **decision)
        case "no_reply":
            return draft(turn_id=turn_id, state=how)
        case "failed":
            return TurnFailed(thread_id=THREAD, turn_id=turn_id, processor="generate_reply", error="gave up")
        case "report":
            return report(how)
        case "asked":
            fields = {"thread_id": THREAD, "to_state": how, "trigger": "human", "reason": "asked", "by": "grace"}
            return ThreadTransitionRequested.model_validate(fields)
    return None


@given(st.lists(HAPPENINGS, max_size=25))
def test_no_order_of_events_breaks_the_thread(life: list[Happening]) -> None:
    """Each step follows an edge from where the last one ended; at most one turn is open, and each closes once."""
    now = Thread(thread_id=THREAD, participant_id=PERSON, inbox="support")
    opened: list[TurnOpened] = []
    closed: Counter[object] = Counter()
    for number, what in enumerate(life):
        if what[0] == "leaves" and now.turn:
            now = replace(now, turn=replace(now.turn, leaving=True))
        for event in happen(now, what, number):
            if isinstance(event, StateChanged):
                assert event.from_state == now.state
                assert event.to_state in EDGES[event.from_state]
            if isinstance(event, TransitionRefused):
                assert event.from_state == now.state
                assert event.to_state not in EDGES[event.from_state]
            if isinstance(event, TurnOpened):
                assert now.turn is None
                assert event.mode == "history" or now.state == "in_progress"
                opened.append(event)
            if isinstance(event, TurnClosed):
                assert now.turn is not None
                assert event.turn_id == now.turn.turn_id
                closed[event.turn_id] += 1
            now = evolved(now, [event])
    assert set(closed.values()) <= {1}
    assert len({one.turn_id for one in opened}) == len(opened)
    still_open = {now.turn.turn_id} if now.turn else set()
    assert {one.turn_id for one in opened} == set(closed) | still_open
