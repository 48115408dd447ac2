"""The thread's state machine: a table of its edges, the steps over them, and the escalation to a human. Pure.

A step that the table does not have is refused, with a reason, and the refusal is logged too. Each function gives its
events in the order in which they are applied.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from types import MappingProxyType
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.threads import ActionLogged, StateChanged, ThreadState, TransitionRefused, Trigger
from services.track_threads.thread import Thread

Events = Iterator[EventData]

EDGES: MappingProxyType[ThreadState, frozenset[ThreadState]] = MappingProxyType(
    {
        "new": frozenset({"in_progress"}),
        "in_progress": frozenset({"awaiting_reply", "escalated", "resolved"}),
        "awaiting_reply": frozenset({"in_progress", "resolved"}),
        "escalated": frozenset({"in_progress"}),
        "resolved": frozenset({"closed", "in_progress"}),
        "closed": frozenset({"new"}),
    }
)


def refusal(from_state: ThreadState, to_state: ThreadState) -> str:
    """Why the step is not allowed, in words; "" if it is."""
    if to_state in EDGES[from_state]:
        return ""
    if from_state == to_state:
        return f"the thread is {from_state} already"
    if from_state == "escalated":
        return "only a human hands an escalated thread back, to in_progress; nothing else leaves it"
    allowed = ", ".join(sorted(EDGES[from_state]))
    return f"from {from_state} a thread can only become {allowed}"


def path(from_state: ThreadState, to_state: ThreadState) -> tuple[ThreadState, ...]:
    """The shortest way over legal edges, without the start; () where it is there already."""
    ways: deque[tuple[ThreadState, ...]] = deque([(from_state,)])
    seen = {from_state}
    while ways:
        way = ways.popleft()
        if way[-1] == to_state:
            return way[1:]
        for following in sorted(EDGES[way[-1]] - seen):
            seen.add(following)
            ways.append((*way, following))
    raise AssertionError(f"{to_state} cannot be reached from {from_state}")


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
