"""Where replays may begin agrees with what processors handle."""

from __future__ import annotations

import pytest

from services.operations.replay.selection import CHAINS, STARTS
from services.pipeline import PROCESSORS

# What people ask, what keeping demands and what another processor answers to: a replay of the mail has none of them.
NO_START = {
    "read_email": {"MailRetentionDue"},
    "track_threads": {
        "AssignmentRequested", "DraftRequested", "RatingRequested", "ReplyRequested", "SnoozeRequested",
        "SuggestionRequested", "ThreadMarksRequested", "TurnReflected",
    },
    "reflect": {"ReplyDeferred", "ReplyHeld", "TimerElapsed"},
    "learn_facts": {
        "BriefRequested", "FactRecorded", "FactRequested", "MemoryRetentionDue", "ParticipantMergeRequested",
        "ParticipantSplitRequested", "ParticipantStateRequested", "ProfileRequested", "StateChanged",
    },
}  # fmt: skip
HANDLED = {one.name: one.handlers for one in PROCESSORS}


def test_a_replay_began_at_an_event_that_nobody_handles() -> None:
    """Each start is an event that its processor handles, and each link of a chain can be replayed."""
    assert {name: [one for one in starts if one not in HANDLED[name]] for name, starts in STARTS.items()} == {
        name: [] for name in STARTS
    }
    assert {name for chain in CHAINS for name in chain} <= STARTS.keys()


@pytest.mark.parametrize("processor", STARTS)
def test_a_new_event_of_a_processor_was_silently_left_out_of_replays(processor: str) -> None:
    """Whatever it handles is where a replay may begin, or is named here as nothing to begin at."""
    left_out = {one.__name__ for one in HANDLED[processor]} - {one.__name__ for one in STARTS[processor]}
    assert left_out == NO_START.get(processor, set())
