"""Where a participant stands as a customer: the edges, and what is refused."""

from __future__ import annotations

from types import MappingProxyType

from schemas.events.memory import ParticipantState

EDGES: MappingProxyType[ParticipantState, frozenset[ParticipantState]] = MappingProxyType(
    {
        "unknown": frozenset({"prospect", "customer"}),
        "prospect": frozenset({"customer"}),
        "customer": frozenset({"vip", "at_risk"}),
        "vip": frozenset({"at_risk", "customer"}),
        "at_risk": frozenset({"customer", "churned"}),
        "churned": frozenset({"returning"}),
        "returning": frozenset({"customer", "vip", "at_risk"}),
    }
)


def path(from_state: ParticipantState, to_state: ParticipantState) -> tuple[ParticipantState, ...]:
    """The states on the shortest way from one to the other, the last one included; none where they are the same."""
    ways: list[tuple[ParticipantState, ...]] = [()]
    seen = {from_state}
    while ways:
        way = ways.pop(0)
        here = way[-1] if way else from_state
        if here == to_state:
            return way
        further = sorted(EDGES[here] - seen)
        seen.update(further)
        ways += [(*way, one) for one in further]
    return ()


def refusal(from_state: ParticipantState, to_state: str) -> str:
    """Why the step is not allowed, in words; "" if it is."""
    if to_state in EDGES[from_state]:
        return ""
    if to_state not in EDGES:
        return f"there is no state {to_state!r}"
    return f"from {from_state} one can only become {', '.join(sorted(EDGES[from_state]))}"
