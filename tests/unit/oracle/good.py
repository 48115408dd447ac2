"""A good result, written by hand: what the oracle must find nothing wrong with, for faults to be planted in.

Thread `a`: mail m1 and its turn are overtaken by m2, one reply covers both; then the thread resolves and closes.
Thread `b`: the reply to m3 was lost after the final dot, a person was called, and m4 waits for that person.
Mail m5 is parked, and m6 says that our mail to `a@x` came back. One record of `turns` was poisoned.

Two drafts were approved as they were and opened their intent, the next one left as earned, a correction closed it. Pat was proposed a
mail, which left; Quinn's was given up when they unsubscribed. Three customers reported one trouble, twice one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.oracle.evidence import Accepted, DeadLetter, Earning, Evidence, Offered, Progress

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
        accepted=(Accepted("reply-a", "a@x"), Accepted("reply-b", "b@x"), Accepted("id-o-pat", "a@x")),
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
        earning=Earning(bound=0.3, over=10, senders=2),
    )


SUMMARY = {"thread_id": "a", "participant_id": "a@x", "trusted": True, "text": "They asked twice."}
MAILS = {"m1": "a", "m2": "a", "m3": "b", "m4": "b", "m5": "c", "m6": "a"}
VERDICTS = {"m5": "park", "m6": "bounce"}
REPORT = {"kind": "hard", "reply_id": "o-pat"}


def _events() -> Iterable[Event]:
    for mail in MAILS:
        yield event("mail.received.v1", {"mail_id": mail})
    for mail, thread in MAILS.items():
        verdict = {"kind": VERDICTS.get(mail, "answer")}
        read = {"mail_id": mail, "message_id": f"id-{mail}", "thread_id": thread, "verdict": verdict}
        read |= {"participant_id": f"{thread}@x", "report": REPORT if mail == "m6" else None}
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
    yield from _earned()
    yield from _reached()
    yield from _reported()
    yield bounced("m6")
    yield from _investigated()


def _earned() -> Iterable[Event]:
    for number in (1, 2):
        yield approved(f"d{number}", f"x{number}@x{number}", by="grace")
        yield counted(f"d{number}", "unchanged")
    yield intent("opened")
    yield approved("d3", "x3@x3", by="policy", earned=True)
    yield counted("d2", "reopened")
    yield intent("closed")


def _reached() -> Iterable[Event]:
    for who, states in (("pat", ("sent", "answered")), ("quinn", ("discarded",))):
        proposed = {"outreach_id": f"o-{who}", "participant_id": who, "turn_id": f"t-{who}"}
        yield event("outreach.proposed.v1", proposed)
        yield event("thread.draft_requested.v1", {"reply_id": f"o-{who}", "participant_id": who})
        drafted = {"reply_id": f"o-{who}", "participant_id": who, "turn_id": f"t-{who}", "proactive": True}
        yield event("reply.drafted.v1", drafted)
        if who == "pat":
            yield _thread("a", "turn.opened.v1", turn_id="t-pat", mail_ids=["m2"], mode="history")
            yield approved("o-pat", "a@x", by="grace", of="")
            yield event("reply.sent.v1", {"reply_id": "o-pat", "attempt": 1})
            yield closed("a", "t-pat", "sent", "m2")
        yield from (event("outreach.changed.v1", {"outreach_id": f"o-{who}", "state": state}) for state in states)
    yield event("outreach.unsubscribed.v1", {"participant_id": "quinn", "lifted": False})


def _reported() -> Iterable[Event]:
    for number, who in enumerate(("k", "l", "l", "m")):
        yield event("trouble.reported.v1", reported(number, who))
    opened = {"incident_id": "i1", "customers": 3, "report_ids": ["p0", "p1", "p2", "p3"]}
    yield event("incident.opened.v1", opened)
    yield event("incident.closed.v1", {"incident_id": "i1", "answer": "It works."})
    for who in ("k", "l", "m"):
        yield event("thread.draft_requested.v1", {"reply_id": f"i1-{who}", "participant_id": who})


def _investigated() -> Iterable[Event]:
    yield event("investigation.requested.v1", {"investigation_id": "v1"})
    for number in (1, 2):
        yield event("investigation.round_taken.v1", {"investigation_id": "v1", "number": number})
    yield event("investigation.closed.v1", {"investigation_id": "v1", "thread_id": "b", "outcome": "finished"})
    yield noted("b")


def noted(thread: str) -> Event:
    return event("thread.marks_requested.v1", {"thread_id": thread, "by": "investigation"})


def reported(number: int, who: str) -> Data:
    return {"report_id": f"p{number}", "mail_id": f"w{number}", "participant_id": who, "incident_id": None}


def approved(reply: str, recipient: str, *, by: str, of: str = "how_to", earned: bool = False) -> Event:
    turn = "t-" + reply.removeprefix("o-")
    said: Data = {"reply_id": reply, "message_id": f"id-{reply}", "turn_id": turn, "recipient": recipient}
    said |= {"approved_by": by, "by": "", "intent": of, "inbox": "support", "edited": 0, "earned": earned}
    return event("reply.approved.v1", said)


def bounced(mail: str) -> Event:
    return event("reply.bounced.v1", {"reply_id": "o-pat", "mail_id": mail, "recipient": "a@x", "suppressed": True})


def counted(reply: str, outcome: str) -> Event:
    said = {"reply_id": reply, "outcome": outcome, "intent": "how_to", "inbox": "support"}
    return event("approval.counted.v1", said, "approval", "how_to")


def intent(step: str, by: str = "") -> Event:
    return event(f"approval.{step}.v1", {"by": by, "intent": "how_to", "inbox": "support"}, "approval", "how_to")


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
    approved |= {"approved_by": "policy", "by": "", "intent": "", "inbox": "support", "edited": 0}
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
        also = {"seq": seq, "time": NOW + timedelta(seconds=seq), "id": f"e{seq}", "version": version}
        numbered.append({**one, **also, "unpublished": False})
    return numbered


def _tables(events: list[Event]) -> dict[str, tuple[Data, ...]]:
    newest = {(one["aggregate"], one["aggregate_id"]): one["version"] for one in events if one["aggregate"]}
    attached = ("thread.mail_attached.v1", "thread.reply_attached.v1")
    conversation = [one for one in events if one["type"] in attached]
    return {
        "aggregates": tuple({"kind": kind, "id": id, "version": version} for (kind, id), version in newest.items()),
        "mails": tuple(
            {"mail_id": mail, "thread_id": thread, "verdict": VERDICTS.get(mail, "answer")}
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
            {"turn_id": "t-pat", "outcome": "sent", "mail_ids": ["m2"]},
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
        "approvals": ({"approval_id": "how_to", "is_open": False},),
        "outreach": ({"outreach_id": "o-pat", "state": "answered"}, {"outreach_id": "o-quinn", "state": "discarded"}),
        "suppressions": ({"addr": "a@x"},),
        "unsubscribes": ({"participant_id": "quinn"},),
        "trouble_reports": tuple(
            {"report_id": f"p{number}", "mail_id": f"w{number}", "incident_id": "i1"} for number in range(4)
        ),
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
