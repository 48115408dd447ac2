"""What a reflection is made from: the current summary and brief, stored facts, what was said since."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from services.core.bus.work import Work
from services.core.db import Connection, fetch_several, queries
from services.mail.masking import mask
from services.mail.sender import sender_of
from services.memory.facts import plain_key
from services.memory.speaker import Spoken, speaker
from services.model.port import Layer
from services.reflect.instructions import condensing
from services.reflect.turn import Turn

SQL = queries(__file__)
KNOWN = (SQL.mails, SQL.summary, SQL.briefs, SQL.participant, SQL.facts, SQL.issues, SQL.people)


@dataclass(frozen=True, slots=True)
class TurnMail:
    """A mail of the turn; `written_at` is when it was written, from which a date in its words counts."""

    mail_id: UUID
    participant_id: UUID | None
    message_id: str
    subject: str
    text: str
    author_name: str
    author_addr: str
    written_at: datetime


@dataclass(frozen=True, slots=True)
class KnownBrief:
    """A brief of the author: the one that holds, or one that is to be merged into it. `by` is "" after a turn."""

    version: str
    text: str
    by: str
    written_at: datetime
    shown: bool


@dataclass(frozen=True, slots=True)
class Person:
    """The author as they are known."""

    name: str
    addr: str
    state: str


@dataclass(frozen=True, slots=True)
class KnownFact:
    """What is believed of the author now."""

    fact_id: UUID
    kind: str
    key: str
    value: str
    text: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class ReportedIssue:
    """An issue that the author reported, and how often."""

    issue_key: str
    reports: int
    resolved: bool


@dataclass(frozen=True, slots=True)
class Message(Spoken):
    """A message of the conversation, in the thread's `version` in which it came."""

    version: int
    text: str
    at: datetime
    mail_id: UUID | None
    address: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary that there is, and how far into the conversation it goes."""

    text: str = ""
    covers_to: int = 0


@dataclass(frozen=True, slots=True)
class Materials:
    """Everything that the one model call is given, and how far the conversation goes.

    `condense` is how many messages a thread has whose summary is to be condensed now, else 0. There is `news` where
    something was said that the summary does not cover yet. `briefs` are those of the author, the one that holds first,
    `known_keys` the keys of the facts that are shown, and `said` what was said that a fact may quote.
    """

    layers: tuple[Layer, ...]
    mails: tuple[TurnMail, ...]
    covers_to: int
    summary: str
    condense: int = 0
    news: bool = True
    briefs: tuple[KnownBrief, ...] = ()
    known_keys: frozenset[str] = frozenset()
    said: tuple[str, ...] = ()


async def gather(work: Work[Any], conn: Connection, event: Turn) -> Materials:
    """Read it all in one view. For an author who is not authenticated there are no facts and no brief."""
    shown = work.app.settings.learning.model_dump(include={"facts_shown", "issues_shown", "messages_shown"})
    author_id = event.participant_id if event.trusted else None
    person = {**shown, "participant_id": author_id, "workspace": work.workspace}
    of = {"thread_id": event.thread_id, "author_id": event.participant_id, "trusted": event.trusted}
    rows = await fetch_several(conn, KNOWN, {**of, **person, "mail_ids": list(event.mail_ids)})
    mails, summary = [TurnMail(**row) for row in rows[0]], Summary(**rows[1][0]) if rows[1] else Summary()
    briefs, who = [KnownBrief(**row) for row in rows[2]], Person(**rows[3][0]) if rows[3] else None
    facts, issues = [KnownFact(**row) for row in rows[4]], [ReportedIssue(**row) for row in rows[5]]
    author_ids = rows[6][0]["ids"] if event.trusted else [event.participant_id]
    author = mails[-1].author_addr if mails else ""
    since = {"covers_to": summary.covers_to, "addr": author}
    messages, [size] = await fetch_several(conn, (SQL.conversation, SQL.size), {**of, **shown, **since})
    new = [Message(**row) for row in messages]
    said = [one for one in new if not _by_stranger(one, author_ids, author)]
    condense = size["messages"] if condensing(work.app.settings, event.inbox, **size) else 0
    layers = (
        _person_layer(who, issues, facts),
        _brief_layer([one for one in briefs if one.shown]),
        _text_layer("summary", summary.text),
        _recent_layer(
            [one for one in said if one.mail_id not in event.mail_ids], author_ids=author_ids, trusted=event.trusted
        ),
        _mail_layer(mails),
    )
    covers_to = max((one.version for one in new), default=summary.covers_to)
    return Materials(
        layers,
        tuple(mails),
        covers_to,
        summary.text,
        condense,
        bool(new),
        tuple(briefs),
        known_keys=frozenset(plain_key(fact.key) for fact in facts),
        said=(*(one.text for one in mails), *(one.text for one in said)),
    )


def _by_stranger(message: Message, author_ids: Collection[UUID | None], author: str) -> bool:
    """Whether another customer wrote it who is not of the author's company.

    Anybody may put the author into Cc. What they write would otherwise be written down as what is known of the author.
    """
    if message.role != "customer" or message.author_id in author_ids:
        return False
    return sender_of(message.address) != sender_of(author)


def _person_layer(who: Person | None, issues: list[ReportedIssue], facts: list[KnownFact]) -> Layer:
    items: list[dict[str, Any]] = []
    lines: list[str] = []
    if who:
        name = mask(who.name).text
        items.append({"name": name, "address": who.addr, "state": who.state})
        lines.append(f"{name or who.addr}, {who.state}")
    for issue in issues:
        state = "resolved" if issue.resolved else "open"
        items.append({"issue": issue.issue_key, "reports": issue.reports, "resolved": issue.resolved})
        lines.append(f"- known trouble: {issue.issue_key} (reported {issue.reports} times, {state})")
    for fact in facts:
        known = {"id": str(fact.fact_id), "kind": fact.kind, "key": fact.key, "value": fact.value, "text": fact.text}
        items.append({**known, "recorded_at": fact.recorded_at.isoformat()})
        lines.append(f"- [{fact.fact_id}] {fact.kind}/{fact.key}: {fact.text}")
    return Layer("participant", "\n".join(lines), tuple(items), trusted=False)


def _text_layer(name: str, text: str) -> Layer:
    return Layer(name, text, ({"text": text},) if text else (), trusted=False)


def _brief_layer(briefs: list[KnownBrief]) -> Layer:
    """The briefs, each with who wrote it and when where there are several or a person did."""
    items = tuple({"text": mask(one.text).text, "by": one.by} for one in briefs)
    named = len(briefs) > 1 or any(one.by for one in briefs)
    heads = (f"[{one.written_at:%Y-%m-%d %H:%M}, {one.by or 'after a turn'}]\n" for one in briefs)
    lines = (f"{head if named else ''}{item['text']}" for head, item in zip(heads, items, strict=True))
    return Layer("brief", "\n\n".join(lines), items, trusted=False)


def _recent_layer(said: list[Message], **author: Any) -> Layer:
    items = tuple({"role": one.role, "text": mask(one.text).text, "at": one.at.isoformat()} for one in said)
    who = (mask(speaker(one, **author)).text for one in said)
    lines = (f"{one['at'][:10]} {name}:\n{one['text']}" for name, one in zip(who, items, strict=True))
    return Layer("recent", "\n\n".join(lines), items, trusted=False)


def _mail_layer(mails: list[TurnMail]) -> Layer:
    items = tuple(
        {
            "message_id": mail.message_id,
            "mail_id": str(mail.mail_id),
            "from_name": mask(mail.author_name).text,
            "from_address": mail.author_addr,
            "subject": mask(mail.subject).text,
            "text": mask(mail.text).text,
            "at": mail.written_at.isoformat(),
        }
        for mail in mails
    )
    lines = [
        f"From: {one['from_name']}\nDate: {one['at'][:10]}\nSubject: {one['subject']}\n\n{one['text']}" for one in items
    ]
    return Layer("mail", "\n\n".join(lines), items, trusted=False)
