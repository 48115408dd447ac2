"""Pure decisions about a thread's state: a step, made or refused, the way to a state, and a call for a human.

Nothing here reads a table or a clock. Each function gives the events in the order in which they are applied.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.threads import ActionLogged, StateChanged, ThreadState, TransitionRefused, Trigger
from services.track_threads.states import path, refusal
from services.track_threads.thread import Thread

Events = Iterator[EventData]


def transition(thread: Thread, to_state: ThreadState, trigger: Trigger, reason: str) -> EventData:
    """One step of the state machine: the change, or its refusal, which is logged too."""
    because = refusal(thread.state, to_state)
    common = {"from_state": thread.state, "to_state": to_state, "trigger": trigger, "reason": reason}
    if because:
        return TransitionRefused(**about(thread), **common, refused_because=because)
    return StateChanged(**about(thread), **common)


def walk(thread: Thread, to_state: ThreadState, trigger: Trigger, reason: str) -> Events:
    """Separate, legal, logged steps to `to_state`."""
    state = thread.state
    for following in path(thread.state, to_state):
        yield StateChanged(**about(thread), from_state=state, to_state=following, trigger=trigger, reason=reason)
        state = following


def escalate(thread: Thread, trigger: Trigger, reason: str, whose: UUID | None = None) -> Events:
    """A human has to look, because of what somebody wrote: the steps and the action; nothing if one looks already."""
    if thread.state == "escalated":
        return
    yield from walk(thread, "escalated", trigger, reason)
    yield ActionLogged(**about(thread, whose), action="escalated to a human", detail=reason, trigger=trigger)


def about(thread: Thread, whose: UUID | None = None) -> dict[str, UUID | None]:
    """Which thread, and about whom: its first author, where nobody else is named."""
    return {"thread_id": thread.thread_id, "participant_id": whose or thread.participant_id}
