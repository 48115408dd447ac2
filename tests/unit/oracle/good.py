"""A good result, written by hand: what the oracle must find nothing wrong with, for faults to be planted in.

Thread `a`: mail m1 and its turn are overtaken by m2, one reply covers both; then the thread resolves and closes.
Thread `b`: the reply to m3 was lost after the final dot, a person was called, and m4 waits for that person.
Mail m5 is parked. One record of `turns` was poisoned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from tests.oracle.evidence import Accepted, DeadLetter, Evidence, Offered, Progress

NOW = datetime(2026, 3, 2, tzinfo=UTC)
POISON = b"poison"
CONSUMERS = (("inbound-email", "track_threads"), ("turns", "load_memory"), ("turns", "track_threads"))
HANDLED = (
    ("inbound-email", "track_threads", "email.read.v1"),
    ("turns", "load_memory", "turn.opened.v1"),
    ("turns", "track_threads", "turn.failed.v1"),
)
TOPICS = {"email.read.v1": "inbound-email", "turn.opened.v1": "turns", "turn.closed.v1": "turns"}
Data = dict[str, Any]
Event = dict[str, Any]


def good() -> Evidence:
    """The good result."""
    events = _numbered(_events())
    journal = {(consumer, one["id"]) for one in events for _, consumer, kind in HANDLED if kind == one["type"]}
    return Evidence(
        offered=tuple(Offered(f"id-{mail}", f"{thread}@x") for mail, thread in MAILS.items()),
        accepted=(Accepted("reply-a", "a@x"), Accepted("reply-b", "b@x")),
        events=tuple(events),
        journal=frozenset(journal),
        consumers=CONSUMERS,
        handled=HANDLED,
        tables=_tables(events),
        folds={"threads": ("hash", "hash")},
        groups={name: {("turns", 0): Progress(7, 7)} for name in ("load_memory", "track_threads")},
        dead_letters=tuple(DeadLetter("turns", group, POISON) for group in ("load_memory", "track_threads")),
        poison={"turns": (POISON,)},
        now=NOW,
    )


SUMMARY = {"thread_id": "a", "participant_id": "a@x", "trusted": True, "text": "They asked twice."}
MAILS = {"m1": "a", "m2": "a", "m3": "b", "m4": "b", "m5": "c"}


def _events() -> Iterable[Event]:
    for mail in MAILS:
        yield event("mail.received.v1", {"mail_id": mail})
    for mail, thread in MAILS.items():
        verdict = {"kind": "park" if mail == "m5" else "answer"}
        read = {"mail_id": mail, "message_id": f"id-{mail}", "thread_id": thread, "verdict": verdict}
        read |= {"participant_id": f"{thread}@x"}
        yield event("email.read.v1", read, "mail", mail)
    yield from _attached("a", "m1")
    yield from _moved("a", "new", "in_progress")
    yield _opened("a", "t1", "m1")
    yield from _attached("a", "m2")
    yield closed("a", "t1", "superseded", "m1")
    yield _opened("a", "t2", "m1", "m2")
    yield from replied("a", "t2", "sent")
    yield _thread("a", "thread.reply_attached.v1", reply_id="r-a")
    yield from _moved("a", "in_progress", "resolved")
    yield closed("a", "t2", "sent", "m1", "m2")
    yield from _moved("a", "resolved", "closed")
    yield event("thread.summarized.v1", SUMMARY)
    yield from _attached("b", "m3")
    yield from _moved("b", "new", "in_progress")
    yield _opened("b", "t3", "m3")
    yield from replied("b", "t3", "unknown")
    yield closed("b", "t3", "failed", "m3")
    yield from _moved("b", "in_progress", "escalated")
    yield from _attached("b", "m4")


def event(kind: str, data: Data, aggregate: str | None = None, id: str | None = None) -> Event:
    return {"type": kind, "data": data, "aggregate": aggregate, "aggregate_id": id, "topic": TOPICS.get(kind, "other")}


def _thread(thread: str, kind: str, **data: Any) -> Event:
    return event(kind, {"thread_id": thread, **data}, "thread", thread)


def _attached(thread: str, mail: str) -> Iterable[Event]:
    yield _thread(thread, "thread.mail_attached.v1", mail_id=mail, waits=True, trusted=True)


def _moved(thread: str, before: str, after: str) -> Iterable[Event]:
    yield _thread(thread, "thread.state_changed.v1", from_state=before, to_state=after)


def _opened(thread: str, turn: str, *mails: str) -> Event:
    return _thread(thread, "turn.opened.v1", turn_id=turn, mail_ids=list(mails))


def closed(thread: str, turn: str, outcome: str, *mails: str) -> Event:
    return _thread(
        thread, "turn.closed.v1", turn_id=turn, mail_ids=list(mails), outcome=outcome, reason="", still_waits=False
    )


def replied(thread: str, turn: str, result: str) -> Iterable[Event]:
    common = {"reply_id": f"r-{thread}", "thread_id": thread, "turn_id": turn}
    approved = {**common, "message_id": f"reply-{thread}", "recipient": f"{thread}@x"}
    for step, data in (
        ("approved", approved),
        ("sending", {**common, "attempt": 1}),
        (result, {**common, "attempt": 1}),
    ):
        yield event(f"reply.{step}.v1", data, "delivery", f"r-{thread}")


def _numbered(events: Iterable[Event]) -> list[Event]:
    versions: dict[Any, int] = {}
    numbered = []
    for seq, one in enumerate(events):
        place = (one["aggregate"], one["aggregate_id"])
        versions[place] = versions.get(place, 0) + 1
        version = versions[place] if one["aggregate"] else None
        numbered.append({**one, "seq": seq, "id": f"e{seq}", "version": version, "unpublished": False})
    return numbered


def _tables(events: list[Event]) -> dict[str, tuple[Data, ...]]:
    newest = {(one["aggregate"], one["aggregate_id"]): one["version"] for one in events if one["aggregate"]}
    attached = ("thread.mail_attached.v1", "thread.reply_attached.v1")
    conversation = [one for one in events if one["type"] in attached]
    return {
        "aggregates": tuple({"kind": kind, "id": id, "version": version} for (kind, id), version in newest.items()),
        "mails": tuple(
            {"mail_id": mail, "thread_id": thread, "verdict": "park" if mail == "m5" else "answer"}
            for mail, thread in MAILS.items()
        ),
        "threads": (
            {"thread_id": "a", "state": "closed", "open_turn": None},
            {"thread_id": "b", "state": "escalated", "open_turn": None},
        ),
        "turns": (
            {"turn_id": "t1", "outcome": "superseded", "mail_ids": ["m1"]},
            {"turn_id": "t2", "outcome": "sent", "mail_ids": ["m1", "m2"]},
            {"turn_id": "t3", "outcome": "failed", "mail_ids": ["m3"]},
        ),
        "conversation": tuple(
            {
                "thread_id": one["aggregate_id"], "version": one["version"], "mail_id": one["data"].get("mail_id"),
                "reply_id": one["data"].get("reply_id"), "pending": one["data"].get("mail_id") == "m4",
            }
            for one in conversation
        ),
        "deliveries": (
            {"reply_id": "r-a", "turn_id": "t2", "state": "sent"},
            {"reply_id": "r-b", "turn_id": "t3", "state": "unknown"},
        ),
        "thread_summaries": (SUMMARY,),
        "timers": (),
    }  # fmt: skip


def without_event(evidence: Evidence, kind: str, **fields: Any) -> Evidence:
    """The result without the events of a type whose data has these fields."""
    kept = [one for one in evidence.events if not (one["type"] == kind and fields.items() <= one["data"].items())]
    assert len(kept) < len(evidence.events)
    return replace(evidence, events=tuple(kept))


def changed_event(evidence: Evidence, kind: str, change: Data, **fields: Any) -> Evidence:
    """The result with other data in the events of a type whose data has these fields."""
    hit = [one["type"] == kind and fields.items() <= one["data"].items() for one in evidence.events]
    assert any(hit)
    events = [
        {**one, "data": {**one["data"], **change}} if is_hit else one
        for one, is_hit in zip(evidence.events, hit, strict=True)
    ]
    return replace(evidence, events=tuple(events))


def more_events(evidence: Evidence, *events: Event) -> Evidence:
    """The result with further events stored after the others."""
    bare = [
        {name: one[name] for name in ("type", "data", "aggregate", "aggregate_id", "topic")} for one in evidence.events
    ]
    return replace(evidence, events=tuple(_numbered([*bare, *events])))


def changed_row(evidence: Evidence, table: str, index: int, **change: Any) -> Evidence:
    """The result with another row in a table."""
    rows = list(evidence.tables[table])
    rows[index] = {**rows[index], **change}
    return replace(evidence, tables={**evidence.tables, table: tuple(rows)})
