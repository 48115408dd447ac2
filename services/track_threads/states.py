"""The thread's state machine, as a table. All else is refused, with a reason."""

from __future__ import annotations

from collections import deque
from types import MappingProxyType

from schemas.events.threads import ThreadState

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
