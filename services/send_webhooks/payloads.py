"""Which public type a stored event is told as, and the body of its webhook. Pure.

Invariant: the same event gives the same body on every attempt, as long as the endpoint's `with_text` stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from schemas import webhook_payloads as told
from schemas.events import EventData
from schemas.events.answers import Assigned
from schemas.events.incidents import IncidentClosed, IncidentOpened, IncidentReopened
from schemas.events.mail import EmailRead
from schemas.events.marks import DeadlineChanged, NoteAdded, PrioritySet, TagsChanged
from schemas.events.memory import ParticipantErased
from schemas.events.ratings import ReplyRated
from schemas.events.replies import ReplyBounced, ReplyFailed, ReplyHeld, ReplySent, ReplyUnknown
from schemas.events.threads import StateChanged, ThreadOpened
from schemas.events.webhooks import WebhookRequested
from schemas.webhook_payloads import LONGEST_TEXT, TEST, Kind, Payload, Words

Make = Callable[[Any, bool], Payload]

SOURCES: Mapping[type[EventData], Kind] = MappingProxyType(
    {
        EmailRead: "mail.received",
        ThreadOpened: "thread.opened",
        StateChanged: "thread.state_changed",
        Assigned: "thread.assigned",
        PrioritySet: "thread.priority_changed",
        TagsChanged: "thread.tags_changed",
        NoteAdded: "thread.note_added",
        DeadlineChanged: "thread.deadline_changed",
        ReplyHeld: "draft.waiting",
        ReplySent: "reply.sent",
        ReplyFailed: "reply.failed",
        ReplyBounced: "reply.bounced",
        ReplyUnknown: "reply.unknown",
        ReplyRated: "reply.rated",
        IncidentOpened: "incident.opened",
        IncidentClosed: "incident.closed",
        IncidentReopened: "incident.reopened",
        ParticipantErased: "participant.erased",
    }
)


def kind_of(event: EventData) -> Kind | None:
    """The public type of an event; None where it is not told: imported mail, and mail that nobody answers."""
    if isinstance(event, EmailRead) and (event.mode == "history" or event.verdict.kind not in ("answer", "human")):
        return None
    return SOURCES[type(event)]


def thread_of(event: EventData) -> UUID | None:
    """The thread that orders what is told of the event."""
    value = getattr(event, "thread_id", None)
    return value if isinstance(value, UUID) else None


def body_of(kind: str, event: EventData, at: datetime, *, with_text: bool) -> bytes:
    """The body of a webhook: `type`, `timestamp` and `data`, as Standard Webhooks asks for."""
    data = _MAKERS[type(event)](event, with_text).model_dump(mode="json")
    said = {"type": kind, "timestamp": at.isoformat(), "data": data}
    return json.dumps(said, ensure_ascii=True, separators=(",", ":")).encode()


def _mail(event: EmailRead, with_text: bool) -> Payload:
    author = event.author
    text = told.MailText(
        author_name=author.name if author else "",
        author_address=author.addr if author else "",
        subject=event.subject,
        body=event.text[:LONGEST_TEXT],
        cut=len(event.text) > LONGEST_TEXT,
    )
    return told.MailReceived(
        mail_id=event.mail_id,
        thread_id=event.thread_id,
        participant_id=event.participant_id,
        inbox=event.inbox,
        needs="human" if event.verdict.kind == "human" else "answer",
        sender_level=event.identity.level,
        language=event.language,
        attachments=len(event.attachments),
        text=text if with_text else None,
    )


def _opened(event: ThreadOpened, with_text: bool) -> Payload:
    return told.ThreadOpened(**_fields(event, told.ThreadOpened), text=_words(event.subject, with_text))


def _state_changed(event: StateChanged, with_text: bool) -> Payload:
    fields = _fields(event, told.ThreadStateChanged)
    return told.ThreadStateChanged(**fields, by=event.trigger, text=_words(event.reason, with_text))


def _assigned(event: Assigned, with_text: bool) -> Payload:
    return told.ThreadAssigned(**_fields(event, told.ThreadAssigned))


def _priority(event: PrioritySet, with_text: bool) -> Payload:
    return told.ThreadPriorityChanged(**_fields(event, told.ThreadPriorityChanged), by=event.trigger)


def _tags(event: TagsChanged, with_text: bool) -> Payload:
    return told.ThreadTagsChanged(**_fields(event, told.ThreadTagsChanged), by=event.trigger)


def _note(event: NoteAdded, with_text: bool) -> Payload:
    ids = {"thread_id": event.thread_id, "note_id": event.note_id}
    return told.ThreadNoteAdded(**ids, by=event.trigger, author=event.by, text=_words(event.text, with_text))


def _deadline(event: DeadlineChanged, with_text: bool) -> Payload:
    return told.ThreadDeadlineChanged(**_fields(event, told.ThreadDeadlineChanged), deadline=event.kind)


def _held(event: ReplyHeld, with_text: bool) -> Payload:
    score = event.score.value if event.score else None
    fields = {**_fields(event, told.DraftWaiting), "score": score}
    return told.DraftWaiting(**fields | {"level": event.band, "text": _words(event.shown, with_text)})


def _failed(event: ReplyFailed, with_text: bool) -> Payload:
    return told.ReplyFailed(**_fields(event, told.ReplyFailed))


def _unknown(event: ReplyUnknown, with_text: bool) -> Payload:
    return told.ReplyUnknown(**_fields(event, told.ReplyUnknown))


def _sent(event: ReplySent, with_text: bool) -> Payload:
    return told.ReplySent(**_fields(event, told.ReplySent) | {"text": _words(event.text, with_text)})


def _bounced(event: ReplyBounced, with_text: bool) -> Payload:
    return told.ReplyBounced(**_fields(event, told.ReplyBounced), bounce=event.kind)


def _rated(event: ReplyRated, with_text: bool) -> Payload:
    return told.ReplyRated(**_fields(event, told.ReplyRated), text=_words(event.comment, with_text))


def _incident(event: IncidentOpened, with_text: bool) -> Payload:
    return told.IncidentOpened(**_fields(event, told.IncidentOpened))


def _over(event: IncidentClosed, with_text: bool) -> Payload:
    return told.IncidentClosed(**_fields(event, told.IncidentClosed), customers=None)


def _not_over(event: IncidentReopened, with_text: bool) -> Payload:
    return told.IncidentReopened(**_fields(event, told.IncidentReopened) | {"customers": event.customers or None})


def _erased(event: ParticipantErased, with_text: bool) -> Payload:
    return told.ParticipantErased(participant_id=event.participant_id)


def _test(event: WebhookRequested, with_text: bool) -> Payload:
    return told.Test(endpoint_id=event.endpoint_id)


def _fields(event: EventData, kind: type[Payload]) -> dict[str, Any]:
    """The fields that the event and the payload have in common, but for what anybody wrote."""
    common = kind.model_fields.keys() & type(event).model_fields.keys() - {"text"}
    return {name: getattr(event, name) for name in common}


def _words(text: str, with_text: bool) -> Words | None:
    return Words(body=text[:LONGEST_TEXT], cut=len(text) > LONGEST_TEXT) if with_text else None


_MAKERS: Mapping[type[EventData], Make] = MappingProxyType(
    {
        EmailRead: _mail,
        ThreadOpened: _opened,
        StateChanged: _state_changed,
        Assigned: _assigned,
        PrioritySet: _priority,
        TagsChanged: _tags,
        NoteAdded: _note,
        DeadlineChanged: _deadline,
        ReplyHeld: _held,
        ReplySent: _sent,
        ReplyFailed: _failed,
        ReplyBounced: _bounced,
        ReplyUnknown: _unknown,
        ReplyRated: _rated,
        IncidentOpened: _incident,
        IncidentClosed: _over,
        IncidentReopened: _not_over,
        ParticipantErased: _erased,
        WebhookRequested: _test,
    }
)
assert _MAKERS.keys() == SOURCES.keys() | {WebhookRequested}, "each type that is told has a body"
assert TEST not in SOURCES.values()
