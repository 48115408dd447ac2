"""Each mail that was offered is received once, read once, and ends in exactly one way."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.oracle.evidence import Evidence

WAITS = "waits for a person"
SET_ASIDE = {"park", "bounce", "complaint", "duplicate", "loop", "colleague"}


def received_once(evidence: Evidence) -> Iterator[str]:
    """What was offered is received and read, each once, and nothing else is."""
    offered = Counter(one.message_id for one in evidence.offered)
    received = Counter(one["mail_id"] for one in evidence.by_type["mail.received.v1"])
    read = Counter(one["mail_id"] for one in evidence.by_type["email.read.v1"])
    named = Counter(one["message_id"] for one in evidence.by_type["email.read.v1"])
    if sum(received.values()) != len(evidence.offered):
        yield f"{len(evidence.offered)} mails were offered, {sum(received.values())} received"
    yield from (f"mail {one} was received {count} times" for one, count in received.items() if count != 1)
    yield from (f"mail {one} was received and read {read[one]} times" for one in received if read[one] != 1)
    yield from (f"mail {one} was read and never received" for one in read if one not in received)
    yield from (f"the mail {one} was offered once and read {named[one]} times" for one in offered if named[one] != 1)
    yield from (f"the mail {one} was read and never offered" for one in named if one not in offered)


def one_ending(evidence: Evidence) -> Iterator[str]:
    """No mail ends in two ways, none in no way; a turn was opened before it was closed, with the same mails."""
    for mail, ends in endings(evidence).items():
        if len(ends) != 1:
            yield f"mail {mail} ended in {len(ends)} ways: {', '.join(ends) or 'none'}"
    opened = {one["turn_id"]: one["mail_ids"] for one in evidence.by_type["turn.opened.v1"]}
    for one in evidence.by_type["turn.closed.v1"]:
        if opened.get(one["turn_id"]) != one["mail_ids"]:
            yield f"turn {one['turn_id']} was closed for {one['mail_ids']} and opened for {opened.get(one['turn_id'])}"


def endings(evidence: Evidence) -> dict[str, list[str]]:
    """The ways in which each mail that was read ended: a verdict, the end of a turn, or with a person."""
    ends: dict[str, list[str]] = defaultdict(list)
    verdicts = {one["mail_id"]: one["verdict"]["kind"] for one in evidence.by_type["email.read.v1"]}
    for one in evidence.by_type["turn.closed.v1"]:
        if one["turn_id"] in evidence.begun_by_us:
            continue
        if one["outcome"] != "superseded" and not one["still_waits"]:
            for mail in one["mail_ids"]:
                ends[mail].append(one["outcome"])
    with_a_person = _attached_where_a_person_is(evidence)
    for mail, verdict in verdicts.items():
        if verdict in SET_ASIDE or (not ends[mail] and verdict == "human"):
            ends[mail].append(verdict)
        elif not ends[mail] and mail in with_a_person:
            ends[mail].append(WAITS)
    return ends


def outcomes(evidence: Evidence) -> Counter[str]:
    """How many mails ended in each way."""
    return Counter(ends[0] if len(ends) == 1 else "unclear" for ends in endings(evidence).values())


def _attached_where_a_person_is(evidence: Evidence) -> set[str]:
    """Mails of threads that were handed to a person and not given back."""
    found = set()
    for events in evidence.of_thread.values():
        steps = [one["data"]["to_state"] for one in events if one["type"] == "thread.state_changed.v1"]
        if steps and steps[-1] == "escalated":
            found |= {one["data"]["mail_id"] for one in events if one["type"] == "thread.mail_attached.v1"}
    return found
