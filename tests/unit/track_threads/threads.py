"""A thread in memory, and what happens to it: what decisions are tested on."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import reduce
from typing import Any
from uuid import UUID, uuid5

from schemas.events.base import EventData
from schemas.events.mail import DeliveryReport, EmailRead, Identity, Verdict
from schemas.events.replies import ReplyDrafted, ReplySent
from schemas.events.threads import StateChanged
from services.track_threads.evolve import evolve
from services.track_threads.thread import OpenTurn, Pending, Thread

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


def moves(events: Iterable[EventData]) -> list[tuple[str, str]]:
    """The steps that were made, as (from, to)."""
    return [(one.from_state, one.to_state) for one in events if isinstance(one, StateChanged)]


def kinds(events: Iterable[EventData]) -> list[str]:
    """The names of the events' classes, in order."""
    return [type(one).__name__ for one in events]


def evolved(before: Thread, events: Iterable[EventData]) -> Thread:
    """The thread after the events."""
    return reduce(lambda thread, event: evolve(thread, event, NOW), events, before)
