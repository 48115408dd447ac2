"""What was asked to be investigated is, once: each round is asked once, and it ends once, with a note."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.oracle.evidence import Evidence

NOTED = {"finished", "out_of_rounds"}  # a model that answers garbage uses its rounds up
ENDS = {*NOTED, "refused"}
BY = "investigation"  # who leaves the note


def end_once(evidence: Evidence) -> Iterator[str]:
    """Each that was asked for is refused, or over after rounds 1, 2, 3 ...; and its thread has one note of it."""
    rounds: dict[str, list[int]] = defaultdict(list)
    for one in evidence.by_type["investigation.round_taken.v1"]:
        rounds[one["investigation_id"]].append(one["number"])
    ends: dict[str, list[str]] = defaultdict(list)
    for one in evidence.by_type["investigation.closed.v1"]:
        ends[one["investigation_id"]].append(one["outcome"])
    for id in {one["investigation_id"] for one in evidence.by_type["investigation.requested.v1"]}:
        if len(ends[id]) != 1 or not ENDS.issuperset(ends[id]):
            yield f"investigation {id} ended in {', '.join(ends[id]) or 'nothing'}"
        if rounds[id] != list(range(1, len(rounds[id]) + 1)):
            yield f"investigation {id} took the rounds {rounds[id]}"
    notes = Counter(one["thread_id"] for one in evidence.by_type["thread.marks_requested.v1"] if one["by"] == BY)
    over = Counter(one["thread_id"] for one in evidence.by_type["investigation.closed.v1"] if one["outcome"] in NOTED)
    for thread in notes.keys() | over.keys():
        if notes[thread] != over[thread]:
            yield f"thread {thread} has {notes[thread]} notes of {over[thread]} investigations"
