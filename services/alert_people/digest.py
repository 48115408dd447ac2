"""What an alert says: requests by thread, as the text of a mail and as the JSON of a webhook. Pure.

Invariant: of a customer's mail an alert holds nothing but the subject; the reasons are the deployment's own words, and
those of the model where it hands over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from schemas.events.alerts import CallKind
from services.core.settings.oversight import THREAD

MOST_THREADS = 40  # in one mail; the rest is counted
LONGEST_REASON, LONGEST_SUBJECT = 300, 120
SYSTEM = "Correspondent itself"
INCIDENT = "several customers report the same issue"
FOOT = "A program wrote this, and nobody reads an answer to it."

WORDS: Mapping[CallKind, str] = MappingProxyType(
    {
        "escalated": "escalated",
        "mail_waits": "a new mail waits",
        "deadline_near": "a deadline is near",
        "deadline_missed": "a deadline was missed",
        "draft_waits": "a draft waits for a word",
        "system": "Correspondent needs its operator",
        "incident": "an incident",
        "mentioned": "a colleague asks",
    }
)


@dataclass(frozen=True, slots=True)
class Call:
    """One request for a person, as an alert shows it."""

    call_id: UUID
    kind: CallKind
    thread_id: UUID
    inbox: str
    subject: str
    reason: str
    at: datetime
    mail_id: UUID | None = None
    reply_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A thread and all its calls, oldest first."""

    thread_id: UUID
    inbox: str
    subject: str
    link: str
    calls: tuple[Call, ...]


def by_thread(calls: Iterable[Call], link: str) -> tuple[Told, ...]:
    """The threads in the order of their first calls. `link` holds `{thread_id}`, or is empty."""
    found: dict[UUID, list[Call]] = {}
    for call in calls:
        found.setdefault(call.thread_id, []).append(call)
    return tuple(
        Told(id, of[-1].inbox, _short(of[-1].subject, LONGEST_SUBJECT), link.replace(THREAD, str(id)), tuple(of))
        for id, of in found.items()
    )


def subject_of(threads: Sequence[Told]) -> str:
    """The mail's subject."""
    if len(threads) == 1:
        if all(one.kind == "system" for one in threads[0].calls):
            return f"A person is needed: {SYSTEM}"
        return f"A person is needed: {threads[0].subject or 'a mail without a subject'}"
    return f"{len(threads)} threads need a person"


def text_of(threads: Sequence[Told]) -> str:
    """The mail's text."""
    head = "One thread needs a person." if len(threads) == 1 else f"{len(threads)} threads need a person."
    rest = len(threads) - MOST_THREADS
    more = [f"And {rest} more: correspondent threads --state escalated, correspondent drafts"] if rest > 0 else []
    return "\n\n".join([head, *(_paragraph(one) for one in threads[:MOST_THREADS]), *more, FOOT])


def payload(digest_id: UUID, workspace: str, at: datetime, threads: Sequence[Told]) -> bytes:
    """The webhook's body: `type`, `timestamp` and `data`, as Standard Webhooks asks for."""
    data = {"digest_id": str(digest_id), "workspace": workspace, "threads": [_thread(one) for one in threads]}
    return json.dumps(
        {"type": "person.called", "timestamp": at.isoformat(), "data": data}, ensure_ascii=False, separators=(",", ":")
    ).encode()


def _paragraph(told: Told) -> str:
    said = [f"  {_at(one.at)}  {WORDS[one.kind]}{_because(one)}" for one in told.calls]
    where = [f"  {told.link}"] if told.link else []
    if all(one.kind == "system" for one in told.calls):
        return "\n".join([SYSTEM, *said, "  correspondent status"])
    if all(one.kind == "incident" for one in told.calls):
        return "\n".join([f"{told.inbox}: {INCIDENT}", *said, f"  correspondent incidents show {told.thread_id}"])
    name = told.subject or "(no subject)"
    return "\n".join([name, *said, *where, f"  {told.inbox}: correspondent thread {told.thread_id}"])


def _because(call: Call) -> str:
    reason = _short(call.reason, LONGEST_REASON)
    return f": {reason}" if reason else ""


def _thread(told: Told) -> dict[str, Any]:
    calls = [
        {
            "id": str(one.call_id),
            "kind": one.kind,
            "reason": _short(one.reason, LONGEST_REASON),
            "at": one.at.isoformat(),
            **({"mail_id": str(one.mail_id)} if one.mail_id else {}),
            **({"reply_id": str(one.reply_id)} if one.reply_id else {}),
        }
        for one in told.calls
    ]
    link = {"link": told.link} if told.link else {}
    return {"thread_id": str(told.thread_id), "inbox": told.inbox, "subject": told.subject, **link, "calls": calls}


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
