"""How long to wait before the next connection: doubling, bounded, forgotten only after a stable minute. Pure."""

from __future__ import annotations

from services.core.retries import doubled_s

FIRST_S = 1.0
LONGEST_S = 300.0
STABLE_S = 60.0


def next_delay(last_s: float, lived_s: float) -> float:
    """Seconds to wait, after a wait of `last_s` (0 for none yet) and a connection that then lived `lived_s`.

    A server that accepts a connection and drops it at once is still failing, so only a long life resets the delay.
    """
    return doubled_s(0 if lived_s >= STABLE_S else last_s, FIRST_S, LONGEST_S)
