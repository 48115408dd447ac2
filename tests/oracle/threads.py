"""A thread makes legal steps, one turn at a time, and a turn covers exactly what waits of one author."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from tests.oracle.evidence import Evidence, Row

EDGES = {
    ("new", "in_progress"),
    ("in_progress", "awaiting_reply"), ("in_progress", "escalated"), ("in_progress", "resolved"),
    ("awaiting_reply", "in_progress"), ("awaiting_reply", "resolved"),
    ("escalated", "in_progress"),
    ("resolved", "closed"), ("resolved", "in_progress"),
    ("closed", "new"),
}  # fmt: skip
ENDS = {"sent", "no_reply", "superseded", "human_took_over", "escalated", "failed", "rejected"}


def versions(evidence: Evidence) -> Iterator[str]:
    """The versions of an aggregate are 1, 2, 3 ... in the order of storing."""
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for one in evidence.stored:
        if one["version"] is not None:
            place = (one["aggregate"], one["aggregate_id"])
            if one["version"] != seen[place] + 1:
                yield f"{place} has version {one['version']} after {seen[place]}"
            seen[place] = one["version"]


def legal_steps(evidence: Evidence) -> Iterator[str]:
    """Each change of state begins where the last one ended and is an edge of the state machine."""
    for thread, events in evidence.of_thread.items():
        state = "new"
        for one in events:
            if one["type"] != "thread.state_changed.v1":
                continue
            step = (one["data"]["from_state"], one["data"]["to_state"])
            if step[0] != state or step not in EDGES:
                yield f"thread {thread} went from {step[0]} to {step[1]} while it was {state}"
            state = step[1]


def one_turn_at_a_time(evidence: Evidence) -> Iterator[str]:
    """A turn is closed, once and with a known outcome, before the next one is opened."""
    for thread, events in evidence.of_thread.items():
        open_turn = None
        for one in events:
            turn = one["data"].get("turn_id")
            if one["type"] == "turn.opened.v1":
                if open_turn:
                    yield f"in thread {thread} turn {turn} was opened while {open_turn} was open"
                open_turn = turn
            elif one["type"] == "turn.closed.v1":
                if turn != open_turn or one["data"]["outcome"] not in ENDS:
                    yield f"in thread {thread} turn {turn} ended in {one['data']['outcome']} while {open_turn} was open"
                open_turn = None


def rejected_by_somebody(evidence: Evidence) -> Iterator[str]:
    """No turn is rejected where no person decided anything about a draft of its thread."""
    decided = {one["thread_id"] for one in evidence.by_type["draft.decided.v1"]}
    for one in evidence.by_type["turn.closed.v1"]:
        if one["outcome"] == "rejected" and one["thread_id"] not in decided:
            yield f"turn {one['turn_id']} was rejected by nobody: {one['reason']}"


def turns_cover_what_waits(evidence: Evidence) -> Iterator[str]:
    """A turn is opened for all mails of its thread that wait of the author of its first one, and for no other."""
    authors = {one["mail_id"]: one["participant_id"] for one in evidence.by_type["email.read.v1"]}
    for thread, events in evidence.of_thread.items():
        for turn, given, waiting in _turns(events, authors):
            first = waiting.get(next(iter(given), ""))
            wanted = [mail for mail, author in waiting.items() if author == first]
            if sorted(given) != sorted(wanted):
                yield f"in thread {thread} turn {turn} covers {given} where {wanted} waited"


def _turns(
    events: Sequence[Row], authors: Mapping[str, str | None]
) -> Iterator[tuple[str, list[str], dict[str, tuple[str | None, bool]]]]:
    """Each live turn with its mails, and what waited then: each mail with its author, and whether it was surely them."""
    waiting: dict[str, tuple[str | None, bool]] = {}
    for one in events:
        data = one["data"]
        if one["type"] == "thread.mail_attached.v1" and data["waits"]:
            waiting[data["mail_id"]] = authors[data["mail_id"]], data["trusted"]
        elif one["type"] == "turn.opened.v1" and data.get("mode", "live") == "live":
            yield data["turn_id"], list(data["mail_ids"]), dict(waiting)
        elif one["type"] == "turn.closed.v1" and data["outcome"] != "superseded" and not data["still_waits"]:
            waiting = {mail: author for mail, author in waiting.items() if mail not in data["mail_ids"]}
