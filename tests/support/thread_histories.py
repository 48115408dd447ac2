"""Random histories of a thread: commands from every side, carried out by track_threads itself on real Postgres."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from schemas.events.answers import AssignmentRequested, ReplyRequested, SnoozeRequested
from schemas.events.base import EventData
from schemas.events.mail import EmailRead
from schemas.events.marks import ThreadMarksRequested
from schemas.events.memory import TurnReflected
from schemas.events.replies import (
    ReplyApproved,
    ReplyDiscarded,
    ReplyDrafted,
    ReplyFailed,
    ReplySending,
    ReplySent,
    ReplyUnknown,
)
from schemas.events.suggestions import SuggestionDrafted, SuggestionRequested
from schemas.events.threads import ThreadTransitionRequested, TimerElapsed, TurnFailed
from services import read_email, send_email, track_threads
from services.core.bus.envelope import Envelope, first
from services.core.bus.runner import Runner
from services.core.bus.unit import Apply
from tests.support.remembering import START, Memory

LEVELS = {
    "normal": {"first_response_hours": 4, "next_response_hours": 8, "resolution_hours": 40},
    "high": {"resolution_hours": 8},
    "urgent": {"first_response_hours": 1, "resolution_hours": 4},
}
SETTINGS: dict[str, Any] = {
    "inboxes": [
        {"name": "support", "address": "support@ourcompany.example"},
        {"name": "slow", "address": "slow@ourcompany.example", "reply": {"quiet_s": 60}},
    ],
    "service_levels": LEVELS,
    "office_hours": {"hours": dict.fromkeys(("mon", "tue", "wed", "thu", "fri"), "09:00-17:00")},
    "threads": {"quiet_s": 0, "suggest": True},
    "alerts": {"to": [{"mail": "people@tellme.example"}]},
    "retention": {"bodies_days": 40, "blobs_days": 40, "checkpoints_days": 40},
    "behaviours": [
        {
            "name": "invoices",
            "when": {"subject_contains": ["invoice"]},
            "then": {"escalate": "Invoices go to accounting.", "tag": ["billing"], "priority": "high"},
        },
        {"name": "hurry", "when": {"text_contains": ["hurry"]}, "then": {"priority": "urgent", "untag": ["waits"]}},
        {
            "name": "answered",
            "moment": "after",
            "when": {"outcomes": ["sent"]},
            "then": {"tag": ["answered"], "untag": ["billing"], "priority": "low", "note": "Look whether it helped."},
        },
    ],
}
Step = tuple[str, str]
STEPS: tuple[Step, ...] = (
    *[
        ("mail", how)
        for how in ("ada", "ada", "bob", "invoice", "hurry", "unproven", "nobody", "human", "old", "links")
    ],
    *[("colleague", how) for how in ("names", "later", "old", "again")],
    *[("report", how) for how in ("hard", "soft")],
    *[
        ("timer", how)
        for how in ("quiet", "quiet", "auto_resolve", "auto_close", "retention", "sla", "deadline_near", "snooze")
    ],
    ("leaves", ""),
    *[("sent", how) for how in ("awaiting_reply", "awaiting_reply", "resolved", "in_progress", "escalate")],
    *[("no_reply", how) for how in ("resolved", "awaiting_reply")],
    *[("failed", how) for how in ("failed", "unknown", "turn")],
    *[("discarded", how) for how in ("rejected", "overtaken")],
    *[("asked", how) for how in ("new", "in_progress", "in_progress", "resolved", "closed", "awaiting_reply")],
    *[("marks", how) for how in ("urgent", "low", "goals", "close goals", "tags")],
    *[("reflected", how) for how in ("sent", "no_reply")],
    ("suggestion", ""),
    *[("suggest", how) for how in ("", "reworded")],
    *[("reply", how) for how in ("new", "resolve", "hand_back", "keep", "anyway", "stale", "again")],
    *[("assign", how) for how in ("grace", "take", "nobody")],
    *[("snooze", how) for how in ("hour", "month", "over")],
    *[("wait", how) for how in ("hours", "days", "months")],
)
APPLIERS: Mapping[type[EventData], Apply] = {**read_email.PROCESSOR.appliers, **send_email.PROCESSOR.appliers}
Make = Callable[["History", str], Awaitable[EventData | None]]


@dataclass
class History:
    """What has happened in one thread so far, and what happens next in it."""

    memory: Memory
    thread_id: UUID
    inbox: str = "support"
    now: datetime = START
    number: int = 0
    left: set[UUID] = field(default_factory=set)
    sent: set[UUID] = field(default_factory=set)

    async def next(self, step: Step) -> Envelope | None:
        """The event that a step is to track_threads; None where nothing comes of it, or nothing to be decided."""
        self.number += 1
        self.now += timedelta(minutes=7)
        data = await MAKERS[step[0]](self, step[1])
        return None if data is None else self.envelope(data)

    async def decide(self, envelope: Envelope) -> list[Envelope]:
        """Have it decided on; what was recorded, in order."""
        await Runner(track_threads.PROCESSOR, self.memory.app).process(envelope)
        return await self.memory.caused_by(envelope)

    def envelope(self, data: EventData) -> Envelope:
        """An event of now."""
        id = self.id_of(f"event {self.number}")
        return first(data, id=id, source="test", time=self.now, workspace=self.memory.workspace)

    def id_of(self, name: str) -> UUID:
        """An id of this thread's own."""
        return uuid5(self.thread_id, name)

    async def apply(self, data: EventData, version: int) -> None:
        """Write an event of another processor to its tables."""
        async with self.memory.app.database.transaction(self.memory.workspace) as conn:
            await APPLIERS[type(data)](conn, replace(self.envelope(data), version=version))

    async def turn(self) -> dict[str, Any] | None:
        """The row of the open turn, else of the last one."""
        rows = await self.memory.rows(
            "SELECT * FROM turns WHERE thread_id = %(id)s ORDER BY closed_at IS NULL DESC, version DESC LIMIT 1",
            id=self.thread_id,
        )
        return rows[0] if rows else None


async def _email(at: History, **given: Any) -> EmailRead:
    fields: dict[str, Any] = {
        "mail_id": at.id_of(f"mail {at.number}"),
        "thread_id": at.thread_id,
        "participant_id": at.id_of("ada"),
        "inbox": at.inbox,
        "mode": "live",
        "blob": "0" * 64,
        "message_id": f"{at.thread_id}.{at.number}@acme.example",
        "content_sha256": "0" * 64,
        "subject": "Export",
        "author": {"addr": "ada@acme.example"},
        "text": f"the text of mail {at.number}",
        "identity": {"level": "verified"},
        "verdict": {"kind": "answer", "reason": "nothing speaks against it"},
    }
    read = EmailRead.model_validate({**fields, **given})
    await at.apply(read, 1)
    return read


MAILS: dict[str, dict[str, Any]] = {
    "ada": {},
    "bob": {"author": {"addr": "bob@acme.example"}},
    "invoice": {"subject": "Invoice 4471"},
    "hurry": {"text": "Please hurry."},
    "unproven": {"identity": {"level": "unverified"}},
    "nobody": {"participant_id": None, "verdict": {"kind": "human", "reason": "no sender"}},
    "human": {"verdict": {"kind": "human", "reason": "a threat"}},
    "old": {"mode": "history"},
    "links": {"linked_from": uuid5(NAMESPACE_OID, "another thread")},
}


async def _mail(at: History, how: str) -> EventData:
    whose = {"participant_id": at.id_of("bob")} if how == "bob" else {}
    return await _email(at, **MAILS[how], **whose)


async def _colleague(at: History, how: str) -> EventData:
    given: dict[str, Any] = {"verdict": {"kind": "colleague", "reason": "from the Sent folder"}}
    if how == "names":
        rows = await at.memory.rows(
            "SELECT message_id FROM mails WHERE thread_id = %(id)s ORDER BY received_at LIMIT 1", id=at.thread_id
        )
        given |= {"in_reply_to": tuple(row["message_id"] for row in rows), "sent_at": at.now - timedelta(minutes=9)}
    elif how == "old":
        given |= {"mode": "history", "sent_at": at.now - timedelta(days=9)}
    elif how == "again":
        rows = await at.memory.rows(
            "SELECT reply_id FROM conversation WHERE thread_id = %(id)s AND role = 'human' ORDER BY version LIMIT 1",
            id=at.thread_id,
        )
        given |= {"mail_id": rows[0]["reply_id"]} if rows else {}
    return await _email(at, **given)


async def _report(at: History, how: str) -> EventData:
    return await _email(
        at, verdict={"kind": "bounce", "reason": "a report"}, report={"kind": how, "diagnostic": "550 no such user"}
    )


async def _timer(at: History, how: str) -> EventData:
    name = {"quiet": "quiet", "sla": "sla/first_response", "deadline_near": "near/resolution"}.get(how, "idle")
    return TimerElapsed.model_validate(
        {"timer_id": uuid5(at.thread_id, name), "thread_id": at.thread_id, "purpose": how, "due_at": at.now}
    )


async def _delivery(at: History) -> dict[str, Any] | None:
    turn = await at.turn()
    if turn is None:
        return None
    reply_id = uuid5(turn["turn_id"], "reply")
    return {
        "reply_id": reply_id,
        "thread_id": at.thread_id,
        "turn_id": turn["turn_id"],
        "participant_id": at.id_of("ada"),
    }


async def _leaves(at: History, _: str) -> None:
    """The reply of the open turn is at the server's door: send_email's rows alone say so."""
    ids = await _delivery(at)
    if ids is None or ids["reply_id"] in at.left:
        return
    at.left.add(ids["reply_id"])
    mime = {
        "message_id": f"{ids['reply_id']}@x.example",
        "blob": "0" * 64,
        "recipient": "ada@acme.example",
        "envelope_from": "s@x.example",
    }
    await at.apply(ReplyApproved(**ids, **mime, inbox=at.inbox, text="our answer"), 1)
    await at.apply(ReplySending(**ids, attempt=1), 2)


async def _sent(at: History, how: str) -> EventData | None:
    ids = await _delivery(at)
    if ids is None or ids["reply_id"] in at.sent:
        return None
    at.sent.add(ids["reply_id"])
    turn = await at.turn()
    by = turn["by"] if turn else ""
    said = {"decision": "escalate", "reason": "unsure"} if how == "escalate" else {"state": how, "by": by}
    goals = {"goals_add": (f"goal {at.number}", "the same goal"), "goals_close": ("the same goal",)}
    return ReplySent.model_validate({**ids, **goals, **said, "attempt": 1, "text": "our answer"})


async def _no_reply(at: History, how: str) -> EventData | None:
    ids = await _delivery(at)
    fields = {"inbox": at.inbox, "mail_ids": (), "trusted": True, "decision": "no_reply", "reason": "thanks only"}
    acts = ({"action": "looked up", "detail": "the invoice"},)
    if ids is None:
        return None
    said = {"state": how, "goals_close": ("the same goal",), "acts": acts}
    return ReplyDrafted.model_validate({**ids, **fields, **said})


async def _failed(at: History, how: str) -> EventData | None:
    ids = await _delivery(at)
    if ids is None:
        return None
    if how == "turn":
        return TurnFailed(thread_id=at.thread_id, turn_id=ids["turn_id"], processor="generate_reply", error="no model")
    kind = ReplyFailed if how == "failed" else ReplyUnknown
    return kind(**ids, attempt=1, error="the line was cut")


async def _discarded(at: History, how: str) -> EventData | None:
    ids = await _delivery(at)
    return None if ids is None else ReplyDiscarded(**ids, reason="not now", overtaken=how == "overtaken")


async def _asked(at: History, how: str) -> EventData:
    fields = {"thread_id": at.thread_id, "to_state": how, "trigger": "human", "reason": "asked", "by": "grace"}
    return ThreadTransitionRequested.model_validate(fields)


MARKS: dict[str, dict[str, Any]] = {
    "urgent": {"priority": "urgent"},
    "low": {"priority": "low", "note": "Not so urgent."},
    "goals": {"add_goals": ("Confirm the address", "the same goal")},
    "close goals": {"close_goals": ("the same goal", "confirm the address")},
    "tags": {"add_tags": ("vip", "waits"), "remove_tags": ("billing",)},
}


async def _marks(at: History, how: str) -> EventData:
    return ThreadMarksRequested.model_validate({"thread_id": at.thread_id, "by": "grace", **MARKS[how]})


async def _reflected(at: History, how: str) -> EventData | None:
    turn = await at.turn()
    if turn is None:
        return None
    fields = {
        "thread_id": at.thread_id,
        "participant_id": at.id_of("ada"),
        "inbox": at.inbox,
        "mail_ids": turn["mail_ids"],
    }
    said = {"trusted": True, "outcome": how, "summary": "They wrote.", "covers_to": 1}
    return TurnReflected.model_validate({**fields, **said, "turn_id": turn["turn_id"]})


async def _reply(at: History, how: str) -> EventData:
    """A person's own reply, bound to the thread as it is, or, `stale`, to the beginning of it."""
    (row,) = await at.memory.rows(
        "SELECT coalesce(max(version), 0) AS version FROM aggregates WHERE kind = 'thread' AND id = %(id)s",
        id=at.thread_id,
    )
    fields = {"reply_id": at.id_of("a reply" if how == "again" else f"reply {at.number}"), "thread_id": at.thread_id}
    seen = 0 if how in ("stale", "anyway") else row["version"]
    then = how if how in ("resolve", "hand_back", "keep") else ""
    return ReplyRequested.model_validate(
        {**fields, "thread_version": seen, "anyway": how == "anyway", "text": "Ours.", "then": then, "by": "grace"}
    )


async def _assign(at: History, how: str) -> EventData:
    name = "" if how == "nobody" else "grace"
    return AssignmentRequested(thread_id=at.thread_id, assignee=name, take_over=how == "take", by="ops")


async def _snooze(at: History, how: str) -> EventData:
    ahead = {"hour": timedelta(hours=1), "month": timedelta(days=30)}.get(how)
    return SnoozeRequested(thread_id=at.thread_id, until=at.now + ahead if ahead else None, by="grace")


async def _suggestion(at: History, _: str) -> EventData:
    fields = {"thread_id": at.thread_id, "participant_id": at.id_of("ada"), "inbox": at.inbox, "mail_ids": ()}
    said = {
        "turn_id": at.id_of(f"suggestion {at.number}"),
        "text": "We would say this.",
        "acts": ({"action": "looked"},),
    }
    return SuggestionDrafted.model_validate({**fields, **said})


async def _suggest(at: History, how: str) -> EventData:
    return SuggestionRequested(thread_id=at.thread_id, words="We look." if how else "", by="grace")


async def _wait(at: History, how: str) -> None:
    at.now += {"hours": timedelta(hours=5), "days": timedelta(days=4), "months": timedelta(days=50)}[how]


MAKERS: Mapping[str, Make] = {
    "mail": _mail,
    "colleague": _colleague,
    "report": _report,
    "timer": _timer,
    "leaves": _leaves,
    "sent": _sent,
    "no_reply": _no_reply,
    "failed": _failed,
    "discarded": _discarded,
    "asked": _asked,
    "marks": _marks,
    "reflected": _reflected,
    "suggestion": _suggestion,
    "suggest": _suggest,
    "reply": _reply,
    "assign": _assign,
    "snooze": _snooze,
    "wait": _wait,
}
