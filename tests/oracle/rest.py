"""Nothing is in flight: events, timers, turns, replies, offsets; and dead letters are only what was poisoned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.oracle.evidence import Evidence


def published(evidence: Evidence) -> Iterator[str]:
    """Every stored event is on the log."""
    yield from (f"{one['type']} {one['id']} was never published" for one in evidence.stored if one["unpublished"])


def done_by_all(evidence: Evidence) -> Iterator[str]:
    """Every event was done by every consumer that has a handler for it."""
    handlers: dict[tuple[str, str], list[str]] = defaultdict(list)
    for topic, consumer, kind in evidence.handled:
        handlers[topic, kind].append(consumer)
    for one in evidence.stored:
        for consumer in handlers[one["topic"], one["type"]]:
            if (consumer, one["id"]) not in evidence.journal:
                yield f"{consumer} has not done {one['type']} {one['id']}"


def no_timer_due(evidence: Evidence) -> Iterator[str]:
    """No timer is late."""
    for one in evidence.tables["timers"]:
        if evidence.now is not None and one["due_at"] <= evidence.now:
            yield f"a timer ({one['purpose']}) was due at {one['due_at']} and has not come"


def nothing_open(evidence: Evidence) -> Iterator[str]:
    """No turn is open, no reply is under way, no mail that waits is without a turn where no person is."""
    yield from (f"turn {one['turn_id']} is open" for one in evidence.tables["turns"] if one["outcome"] is None)
    for one in evidence.tables["deliveries"]:
        if one["state"] in ("draft", "approved", "sending"):
            yield f"reply {one['reply_id']} is still {one['state']}"
    escalated = {one["thread_id"] for one in evidence.tables["threads"] if one["state"] == "escalated"}
    for one in evidence.tables["conversation"]:
        if one["pending"] and one["thread_id"] not in escalated:
            yield f"mail {one['mail_id']} waits in thread {one['thread_id']} and nobody answers it"


def offsets_complete(evidence: Evidence) -> Iterator[str]:
    """Every group has committed the end of every partition that it reads."""
    if evidence.groups is None:
        return
    asked = {group for group, partitions in evidence.groups.items() if partitions}
    for consumer in sorted({name for _, name in evidence.consumers} - asked):
        yield f"nobody said what {consumer} has committed"
    for group, partitions in evidence.groups.items():
        for (topic, partition), at in partitions.items():
            if at.committed != at.end:
                yield f"{group} has committed {at.committed} of {at.end} in {topic}/{partition}"


def dead_letters_are_poison(evidence: Evidence) -> Iterator[str]:
    """A poisoned record is a dead letter of each group that reads its topic, a newer one of those that held it alone."""
    found = {(one.topic, one.group, one.value) for one in evidence.dead_letters}
    meant = {
        (topic, consumer, value)
        for topic, values in evidence.poison.items()
        for value in values
        for name, consumer in evidence.consumers
        if name == topic
    }
    meant |= {(one.topic, consumer, one.value) for one in evidence.newer for consumer in one.holders}
    yield from (f"{group} gave up a good record of {topic}: {value[:80]!r}" for topic, group, value in found - meant)
    yield from (f"{group} has no dead letter of the poison in {topic}" for topic, group, _ in meant - found)
