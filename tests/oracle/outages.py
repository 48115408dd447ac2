"""What outages may do: the model's none at all, a topic's that is refused fail the turns that needed it, and no other."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.evidence import Evidence

REFUSED = "LogRefused:"
NEEDED = {"load_memory": "memory-loaded", "generate_reply": "reply-drafted"}  # without which a turn cannot go on


def fail_no_turn(evidence: Evidence) -> Iterator[str]:
    """A turn fails where the broker refused its next event; never because the model was away or denied its key."""
    for one in evidence.by_type["turn.failed.v1"]:
        topic = NEEDED.get(one["processor"])
        if topic not in evidence.refused or not one["error"].startswith(REFUSED):
            yield f"{one['processor']} failed turn {one['turn_id']}: {one['error'][:120]}"
    bounced = tuple(f"{one['recipient']} is suppressed (hard)" for one in evidence.by_type["reply.bounced.v1"])
    for one in evidence.by_type["reply.failed.v1"]:
        if one.get("inbox") and not one["error"].startswith(bounced):  # our mail came back while it was drafted
            yield f"draft {one['reply_id']} could not be written: {one['error'][:120]}"


def hold_what_is_newer(evidence: Evidence) -> Iterator[str]:
    """Whoever handles a type holds a record of its newer version, and the status says so before it is released."""
    for one in evidence.newer:
        for consumer in sorted(one.holders - one.shown):
            yield f"nothing said that {consumer} holds {one.value[:80]!r} in {one.topic}"
        for consumer in sorted(one.shown - one.holders):
            yield f"{consumer} holds {one.value[:80]!r} in {one.topic}, which is not its own"
