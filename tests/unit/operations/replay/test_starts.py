"""Where replays may begin agrees with what processors handle."""

from __future__ import annotations

from services.operations.replay.selection import CHAINS, STARTS
from services.pipeline import PROCESSORS

HANDLED = {one.name: one.handlers for one in PROCESSORS}


def test_a_replay_began_at_an_event_that_nobody_handles() -> None:
    """Each start is an event that its processor handles, and each link of a chain can be replayed."""
    assert {name: [one for one in starts if one not in HANDLED[name]] for name, starts in STARTS.items()} == {
        name: [] for name in STARTS
    }
    assert {name for chain in CHAINS for name in chain} <= STARTS.keys()
