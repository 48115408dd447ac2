"""What a reflection is made from: the current summary and brief, stored facts, what was said since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from services.core.bus.work import Work
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.mail.masking import mask
from services.memory.facts import plain_key
from services.memory.speaker import speaker
from services.model.port import Layer
from services.reflect.instructions import condensing
from services.reflect.turn import Turn

SQL = queries(__file__)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Materials:
    """Everything that the one model call is given, and how far the conversation goes.

    `condense` is how many messages a thread has whose summary is to be condensed now, else 0. There is `news` where
    something was said that the summary does not cover yet. `briefs` are those of the author, the one that holds first,
    `known_keys` the keys of the facts that are shown, and `said` what was said that a fact may quote.
    """

    layers: tuple[Layer, ...]
    mails: tuple[Row, ...]
    covers_to: int
    summary: str
    condense: int = 0
    news: bool = True
    briefs: tuple[Row, ...] = ()
    known_keys: frozenset[str] = frozenset()
    said: tuple[str, ...] = ()


async def gather(work: Work[Any], conn: Connection, event: Turn) -> Materials:
    """Read it all in one view. For an author who is not authenticated there are no facts and no brief."""
    shown = work.app.settings.learning.model_dump(include={"facts_shown", "issues_shown", "messages_shown"})
    author_id = event.participant_id if event.trusted else None
    person = {**shown, "participant_id": author_id, "workspace": work.workspace}
    mails = await fetch_all(conn, SQL.mails, {"mail_ids": list(event.mail_ids)})
    people = await fetch_one(conn, SQL.people, person) if event.trusted else None
    author_ids = people["ids"] if people else [event.participant_id]
    author = {"author_id": event.participant_id, "trusted": event.trusted}
    of = {"thread_id": event.thread_id, "addr": mails[-1]["author_addr"] if mails else "", **author}
    summary = await fetch_one(conn, SQL.summary, of)
    briefs = await fetch_all(conn, SQL.briefs, person)
    who = await fetch_one(conn, SQL.participant, person)
    facts = await fetch_all(conn, SQL.facts, person)
    issues = await fetch_all(conn, SQL.issues, person)
    covered: int = summary["covers_to"] if summary else 0
    said = await fetch_all(conn, SQL.conversation, {**of, **shown, "covers_to": covered})
    size = await fetch_one(conn, SQL.size, {"thread_id": event.thread_id, "covers_to": covered})
    assert size is not None
    condense = size["messages"] if condensing(work.app.settings, event.inbox, **size) else 0
    layers = (
        _person_layer(who, issues, facts),
        _brief_layer([one for one in briefs if one["shown"]]),
        _text_layer("summary", summary),
        _recent_layer(
            [row for row in said if row["mail_id"] not in event.mail_ids], author_ids=author_ids, trusted=event.trusted
        ),
        _mail_layer(mails),
    )
    covers_to = max((row["version"] for row in said), default=covered)
    text = summary["text"] if summary else ""
    return Materials(
        layers,
        tuple(mails),
        covers_to,
        text,
        condense,
        bool(said),
        tuple(briefs),
        known_keys=frozenset(plain_key(fact["key"]) for fact in facts),
        said=tuple(row["text"] for row in (*mails, *said)),
    )


def _person_layer(who: Row | None, issues: list[Row], facts: list[Row]) -> Layer:
    items: list[Row] = []
    lines: list[str] = []
    if who:
        name = mask(who["name"]).text
        items.append({"name": name, "address": who["addr"], "state": who["state"]})
        lines.append(f"{name or who['addr']}, {who['state']}")
    for issue in issues:
        standing = "resolved" if issue["resolved"] else "open"
        items.append({"issue": issue["issue_key"], "reports": issue["reports"], "resolved": issue["resolved"]})
        lines.append(f"- known trouble: {issue['issue_key']} (reported {issue['reports']} times, {standing})")
    for fact in facts:
        told = {**fact, "id": str(fact["fact_id"]), "recorded_at": fact["recorded_at"].isoformat()}
        items.append({name: told[name] for name in ("id", "kind", "key", "value", "text", "recorded_at")})
        lines.append(f"- [{fact['fact_id']}] {fact['kind']}/{fact['key']}: {fact['text']}")
    return Layer("participant", "\n".join(lines), tuple(items), trusted=False)


def _text_layer(name: str, row: Row | None) -> Layer:
    text = row["text"] if row else ""
    return Layer(name, text, ({"text": text},) if text else (), trusted=False)


def _brief_layer(briefs: list[Row]) -> Layer:
    """The briefs, each with who wrote it and when where there are several or a person did."""
    items = tuple({"text": mask(one["text"]).text, "by": one["by"]} for one in briefs)
    named = len(briefs) > 1 or any(one["by"] for one in briefs)
    heads = (f"[{one['written_at']:%Y-%m-%d %H:%M}, {one['by'] or 'after a turn'}]\n" for one in briefs)
    lines = (f"{head if named else ''}{item['text']}" for head, item in zip(heads, items, strict=True))
    return Layer("brief", "\n\n".join(lines), items, trusted=False)


def _recent_layer(rows: list[Row], **author: Any) -> Layer:
    items = tuple({"role": row["role"], "text": mask(row["text"]).text, "at": row["at"].isoformat()} for row in rows)
    who = (mask(speaker(row, **author)).text for row in rows)
    lines = (f"{one['at'][:10]} {name}:\n{one['text']}" for name, one in zip(who, items, strict=True))
    return Layer("recent", "\n\n".join(lines), items, trusted=False)


def _mail_layer(mails: list[Row]) -> Layer:
    items = tuple(
        {
            "message_id": mail["message_id"],
            "mail_id": str(mail["mail_id"]),
            "from_name": mask(mail["author_name"]).text,
            "from_address": mail["author_addr"],
            "subject": mask(mail["subject"]).text,
            "text": mask(mail["text"]).text,
            "at": mail["written_at"].isoformat(),
        }
        for mail in mails
    )
    lines = [
        f"From: {one['from_name']}\nDate: {one['at'][:10]}\nSubject: {one['subject']}\n\n{one['text']}" for one in items
    ]
    return Layer("mail", "\n\n".join(lines), items, trusted=False)
