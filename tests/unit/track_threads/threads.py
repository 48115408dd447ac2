"""A thread in memory, folded from events as `apply` folds them into tables: what decisions are tested on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

from schemas.events import threads as ev
from schemas.events.base import EventData
from schemas.events.mail import DeliveryReport, EmailRead, Identity, Verdict
from schemas.events.replies import ReplyDrafted, ReplySent
from services.track_threads.thread import Goal, OpenTurn, Pending, Thread

THREAD = UUID("a0000000-0000-4000-8000-000000000001")
PERSON = UUID("a0000000-0000-4000-8000-000000000002")
NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def id_of(name: str) -> UUID:
    return uuid5(THREAD, name)


def thread(**given: Any) -> Thread:
    return Thread(**{"thread_id": THREAD, "participant_id": PERSON, "inbox": "support", "exists": True, **given})


def pending(name: str = "mail", *, trusted: bool = True, at: datetime = NOW, by: UUID | None = PERSON) -> Pending:
    return Pending(id_of(name), at, trusted, f"{name}@example.org", by)


def turn(*names: str, leaving: bool = False) -> OpenTurn:
    return OpenTurn(id_of("turn"), tuple(id_of(name) for name in names or ("mail",)), True, leaving, PERSON)


def mail(name: str = "mail", *, kind: str = "answer", mode: str = "live", **given: Any) -> EmailRead:
    fields = {
        "mail_id": id_of(name),
        "thread_id": THREAD,
        "participant_id": PERSON,
        "inbox": "support",
        "mode": mode,
        "blob": "0" * 64,
        "message_id": f"{name}@example.org",
        "content_sha256": "0" * 64,
        "subject": "Export",
        "text": f"the text of {name}",
        "identity": Identity(level="verified"),
        "verdict": Verdict(kind=kind, reason=f"because of {name}"),  # type: ignore[arg-type]
    }
    return EmailRead.model_validate({**fields, **given})


def report(kind: str, diagnostic: str = "550 no such user") -> EmailRead:
    return mail("bounce", kind="bounce", report=DeliveryReport(kind=kind, diagnostic=diagnostic))  # type: ignore[arg-type]


def draft(**given: Any) -> ReplyDrafted:
    fields = {
        "reply_id": id_of("reply"),
        "turn_id": id_of("turn"),
        "thread_id": THREAD,
        "participant_id": PERSON,
        "inbox": "support",
        "mail_ids": (id_of("mail"),),
        "trusted": True,
        "decision": "no_reply",
        "reason": "thanks only",
        "state": "resolved",
    }
    return ReplyDrafted.model_validate({**fields, **given})


def reply(**given: Any) -> ReplySent:
    fields = {
        "reply_id": id_of("reply"),
        "thread_id": THREAD,
        "turn_id": id_of("turn"),
        "participant_id": PERSON,
        "attempt": 1,
        "text": "our answer",
    }
    return ReplySent.model_validate({**fields, **given})


def states(events: Iterable[EventData]) -> list[tuple[str, str]]:
    """The steps that were made, as (from, to)."""
    return [(one.from_state, one.to_state) for one in events if isinstance(one, ev.StateChanged)]


def kinds(events: Iterable[EventData]) -> list[str]:
    """The names of the events' classes, in order."""
    return [type(one).__name__ for one in events]


def folded(before: Thread, events: Iterable[EventData]) -> Thread:
    """The thread after the events, as the tables would hold it."""
    after = before
    for one in events:
        after = _fold(after, one)
    return after


def _fold(before: Thread, one: EventData) -> Thread:
    if isinstance(one, ev.ThreadOpened):
        return replace(before, exists=True, state="new")
    if isinstance(one, ev.MailAttached) and one.waits:
        return replace(before, pending=(*before.pending, Pending(one.mail_id, NOW, one.trusted, participant_id=PERSON)))
    if isinstance(one, ev.StateChanged):
        return replace(before, state=one.to_state)
    if isinstance(one, ev.TurnOpened):
        return replace(before, turn=OpenTurn(one.turn_id, one.mail_ids, one.trusted, participant_id=one.participant_id))
    if isinstance(one, ev.TurnClosed):
        waits = one.outcome == "superseded" or one.still_waits
        left = tuple(each for each in before.pending if waits or each.mail_id not in one.mail_ids)
        return replace(before, turn=None, pending=left)
    if isinstance(one, ev.GoalAdded):
        return replace(before, goals=(*before.goals, Goal(one.goal_id, one.text, one.participant_id)))
    if isinstance(one, ev.GoalClosed):
        return replace(before, goals=tuple(goal for goal in before.goals if goal.goal_id != one.goal_id))
    return before
