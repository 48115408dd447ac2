"""Any life of a thread: whatever happens in whatever order, its rules hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from schemas.events.base import EventData
from schemas.events.threads import StateChanged, ThreadState, TransitionRefused, TurnClosed, TurnOpened
from services.track_threads import mails, states, turns
from services.track_threads.states import EDGES
from services.track_threads.thread import Thread
from tests.unit.track_threads.threads import (
    NOW,
    PERSON,
    THREAD,
    draft,
    folded,
    id_of,
    mail,
    reply,
    report,
)

Happening = tuple[str, str]

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
    """The events that follow, as the handler would record them; a turn's events name the turn that is open."""
    name, how = what
    turn_id = thread.turn.turn_id if thread.turn else id_of("turn")
    if name == "mail":
        return _mail(thread, how, number)
    if name == "history":
        old = mail(f"mail {number}", mode="history", sent_at=NOW)
        attached = list(mails.attach(thread, old))
        return attached + list(mails.history(folded(thread, attached), old))
    if name == "quiet":
        return list(turns.open_turn(thread, id_of(f"cause {number}")))
    if name == "sent":
        decision = {"decision": "escalate"} if how == "escalate" else {"state": how}
        return list(turns.sent(thread, reply(turn_id=turn_id, goals_add=(f"goal {number}",), **decision)))
    if name == "no_reply":
        return list(turns.no_reply(thread, draft(turn_id=turn_id, state=how)))
    if name == "failed":
        return list(turns.failed(thread, turn_id, "gave up"))
    if name == "report":
        return list(mails.note_report(thread, report(how)))
    return [states.transition(thread, _state(how), "human", "asked")] if thread.exists and name == "asked" else []


def _mail(thread: Thread, how: str, number: int) -> list[EventData]:
    new = mail(f"mail {number}", kind=how)
    attached = list(mails.attach(thread, new))
    if how != "human":
        return attached
    return attached + list(turns.for_a_person(folded(thread, attached), new, id_of(f"cause {number}")))


def _state(name: str) -> ThreadState:
    return next(state for state in EDGES if state == name)


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
            now = folded(now, [event])
    assert set(closed.values()) <= {1}
    assert len({one.turn_id for one in opened}) == len(opened)
    still_open = {now.turn.turn_id} if now.turn else set()
    assert {one.turn_id for one in opened} == set(closed) | still_open
