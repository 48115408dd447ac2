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


def refusal(from_state: ParticipantState, to_state: str) -> str:
    """Why the step is not allowed, in words; "" if it is."""
    if to_state in EDGES[from_state]:
        return ""
    if to_state not in EDGES:
        return f"there is no state {to_state!r}"
    return f"from {from_state} one can only become {', '.join(sorted(EDGES[from_state]))}"
