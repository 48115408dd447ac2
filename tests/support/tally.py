"""What must be true of a house at rest, counted from its stored events and from the SMTP server, by this file alone.

Written apart from the code that it judges: it reads `events` as JSON and the server's own list, calls no function of
`services` that decides, and folds nothing. `faults` gives every broken promise in words; an empty list is a pass.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from services.core.db import Connection, fetch_all

Event = dict[str, Any]
Named = Iterable[Event]

FINAL = {"sent", "no_reply", "superseded", "human_took_over", "escalated", "failed", "rejected"}
ANSWERED = {"sent", "escalated"}
EVENTS = "SELECT seq, type, topic, aggregate, aggregate_id::text, version, published_at IS NULL AS unpublished, data FROM events ORDER BY seq"


@dataclass(frozen=True, slots=True)
class Tally:
    """The figures of one run, and what was wrong with it."""

    mails: int
    answered: int
    replies_sent: int
    unknown: int
    accepted: int
    duplicates: int
    outcomes: Mapping[str, int]
    faults: tuple[str, ...]

    def line(self, **more: object) -> str:
        """The figures in one line."""
        figures = {
            "mails": self.mails,
            "answered": self.answered,
            "sent": self.replies_sent,
            "unknown": self.unknown,
            "accepted": self.accepted,
            "duplicates": self.duplicates,
            "outcomes": dict(self.outcomes),
            **more,
        }
        return ", ".join(f"{name} {value}" for name, value in figures.items())


async def tally(conn: Connection, offered: int, copies: Mapping[str, int]) -> Tally:
    """Judge a house that was offered so many mails; `copies` is how often the server accepted each Message-ID."""
    events = await fetch_all(conn, EVENTS)
    by_type: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_type[event["type"]].append(event)
    sent, unknown = by_type["reply.sent.v1"], by_type["reply.unknown.v1"]
    outcomes = _outcomes(by_type)
    return Tally(
        mails=len(by_type["mail.received.v1"]),
        answered=sum(outcomes[one] for one in ANSWERED),
        replies_sent=len(sent),
        unknown=len(unknown),
        accepted=sum(copies.values()),
        duplicates=sum(copies.values()) - len(copies),
        outcomes=outcomes,
        faults=(
            *_lost(by_type, offered),
            *_twice(by_type, copies),
            *_unsettled(by_type, copies),
            *_turns(by_type),
            *_versions(events),
            *_order(events),
            *(f"{one['type']} {one['seq']} was never published" for one in events if one["unpublished"]),
            *[fault async for fault in _undone(conn)],
        ),
    )


def _lost(by_type: Mapping[str, list[Event]], offered: int) -> Iterable[str]:
    """Each mail offered is received once and read once."""
    received = [one["data"]["mail_id"] for one in by_type["mail.received.v1"]]
    read = [one["data"]["mail_id"] for one in by_type["email.read.v1"]]
    if len(received) != offered or len(set(received)) != offered:
        yield f"{offered} mails were offered, {len(received)} received, {len(set(received))} of them different"
    if Counter(read) != Counter(received):
        yield f"received but not read once: {(Counter(received) - Counter(read)) + (Counter(read) - Counter(received))}"


def _twice(by_type: Mapping[str, list[Event]], copies: Mapping[str, int]) -> Iterable[str]:
    """No message is accepted twice, no turn has two replies, and no mail is answered in two turns."""
    yield from (f"the server accepted {name} {count} times" for name, count in copies.items() if count > 1)
    approved = {one["data"]["message_id"]: one["data"] for one in by_type["reply.approved.v1"]}
    yield from (f"the server accepted {name}, which nobody approved" for name in copies if name not in approved)
    turns = Counter(approved[name]["turn_id"] for name in copies if name in approved)
    yield from (f"turn {turn} was answered {count} times" for turn, count in turns.items() if count > 1)
    covers = {one["data"]["turn_id"]: one["data"]["mail_ids"] for one in by_type["turn.opened.v1"]}
    answers = Counter(mail for turn in turns for mail in covers[turn])
    yield from (f"mail {mail} was answered {count} times" for mail, count in answers.items() if count > 1)


def _unsettled(by_type: Mapping[str, list[Event]], copies: Mapping[str, int]) -> Iterable[str]:
    """What is called sent was accepted; what was accepted is sent or unknown; an intent has exactly one result."""
    name_of = {one["data"]["reply_id"]: one["data"]["message_id"] for one in by_type["reply.approved.v1"]}
    sent = {one["data"]["reply_id"] for one in by_type["reply.sent.v1"]}
    unknown = {one["data"]["reply_id"] for one in by_type["reply.unknown.v1"]}
    yield from (f"reply {one} is called sent and never arrived" for one in sent if not copies.get(name_of[one]))
    for reply, name in name_of.items():
        if copies.get(name) and reply not in sent | unknown:
            yield f"reply {reply} arrived and is neither sent nor unknown"
    results: Counter[tuple[str, int]] = Counter()
    for kind in ("sent", "unknown", "failed", "deferred"):
        results.update((one["data"]["reply_id"], one["data"]["attempt"]) for one in by_type[f"reply.{kind}.v1"])
    for one in by_type["reply.sending.v1"]:
        place = (one["data"]["reply_id"], one["data"]["attempt"])
        if results[place] != 1:
            yield f"attempt {place[1]} of reply {place[0]} has {results[place]} results"


def _turns(by_type: Mapping[str, list[Event]]) -> Iterable[str]:
    """Each turn is closed once; each mail that waits for an answer ends in exactly one turn that was not superseded."""
    opened = {one["data"]["turn_id"]: one["data"] for one in by_type["turn.opened.v1"]}
    closed = Counter(one["data"]["turn_id"] for one in by_type["turn.closed.v1"])
    yield from (f"turn {turn} was closed {closed[turn]} times" for turn in opened if closed[turn] != 1)
    ends: Counter[str] = Counter()
    for one in by_type["turn.closed.v1"]:
        if one["data"]["outcome"] not in FINAL:
            yield f"turn {one['data']['turn_id']} ended in {one['data']['outcome']}"
        if one["data"]["outcome"] == "rejected" and not by_type["draft.decided.v1"]:
            yield f"turn {one['data']['turn_id']} was rejected by nobody: {one['data']['reason']}"
        if one["data"]["outcome"] != "superseded":
            ends.update(one["data"]["mail_ids"])
    handed_over = {one["data"]["thread_id"] for one in _escalations(by_type)}
    for one in by_type["thread.mail_attached.v1"]:
        mail = one["data"]["mail_id"]
        waits_for_a_person = ends[mail] == 0 and one["data"]["thread_id"] in handed_over
        if one["data"]["waits"] and ends[mail] != 1 and not waits_for_a_person:
            yield f"mail {mail} ended in {ends[mail]} turns"


def _versions(events: Named) -> Iterable[str]:
    """The versions of an aggregate are 1, 2, 3 ... in the order of storing."""
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for one in events:
        if one["version"] is not None:
            place = (one["aggregate"], one["aggregate_id"])
            if one["version"] != seen[place] + 1:
                yield f"{place} has version {one['version']} after {seen[place]}"
            seen[place] = one["version"]


def _order(events: Named) -> Iterable[str]:
    """In a thread one turn ends before the next begins, and a reply answers the mails that came before it."""
    threads: dict[str, list[Event]] = defaultdict(list)
    for one in events:
        if one["type"] in ("turn.opened.v1", "turn.closed.v1"):
            threads[one["data"]["thread_id"]].append(one)
    for thread, turns in threads.items():
        steps = [(one["type"], one["data"]["turn_id"]) for one in turns]
        for (kind, turn), (next_kind, next_turn) in pairwise(steps):
            if kind == next_kind or (kind == "turn.opened.v1" and turn != next_turn):
                yield f"in thread {thread} the turns overlap: {kind} {turn}, then {next_kind} {next_turn}"


async def _undone(conn: Connection) -> Any:
    """Every reply in the ledger has come to an end."""
    for row in await fetch_all(conn, "SELECT reply_id, state FROM deliveries WHERE state IN ('approved', 'sending')"):
        yield f"reply {row['reply_id']} is still {row['state']}"


def _escalations(by_type: Mapping[str, list[Event]]) -> Named:
    changed = by_type["thread.state_changed.v1"]
    return [one for one in changed if one["data"]["to_state"] == "escalated"]


def _outcomes(by_type: Mapping[str, list[Event]]) -> Counter[str]:
    """How many mails ended in each way: by their last turn, or by the verdict of the filters."""
    ends: dict[str, str] = {}
    for one in by_type["email.read.v1"]:
        verdict = one["data"]["verdict"]["kind"]
        ends[one["data"]["mail_id"]] = "waiting" if verdict == "answer" else verdict
    for one in by_type["turn.closed.v1"]:
        for mail in one["data"]["mail_ids"]:
            if one["data"]["outcome"] != "superseded":
                ends[mail] = one["data"]["outcome"]
    return Counter(ends.values())
