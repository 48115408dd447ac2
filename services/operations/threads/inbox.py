"""Threads as a person's inbox shows them: by who has to act next, by words, by person, each with what is due.

Invariant: a page costs what it shows: its ids are found by an index first, then all that a line shows is read for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal
from uuid import UUID

from schemas.events.marks import DeadlineKind, DeadlineStatus, Priority
from schemas.events.threads import ThreadState
from services.core.db import Connection, fetch_all, fetch_all_planned, fetch_one, queries, rows_as
from services.core.paging import Listing, Page
from services.operations.typed_words import beginnings_of
from services.operations.users.teams import Team

SQL = queries(__file__, "inbox.sql")
INBOX = Listing("inbox", (("changed_at", "time"), ("thread_id", "id")), descending=True)
MOST_COUNTED = 100  # threads that need a person; whoever reads the number wants to know whether there are many
MOST_HITS, LATELY = 4000, 2000  # places that hold the words before they are words of many; threads looked through then

View = Literal["needs_me", "mine", "mentioned", "team", "agent", "customer", "snoozed", "resolved", "all"]
STATES: Mapping[View, tuple[ThreadState, ...]] = MappingProxyType(
    {
        "agent": ("new", "in_progress"),
        "customer": ("awaiting_reply",),
        "resolved": ("resolved", "closed"),
        "all": ("new", "in_progress", "awaiting_reply", "escalated", "resolved", "closed"),
    }
)


@dataclass(frozen=True, slots=True)
class Only:
    """Of a view the threads of one inbox, with one priority, or with one tag; "" for all."""

    inbox: str = ""
    priority: Priority | Literal[""] = ""
    tag: str = ""

    def __bool__(self) -> bool:
        return any(asdict(self).values())


EVERY = Only()


@dataclass(frozen=True, slots=True)
class InboxLine:
    """A thread in the inbox. `draft` waits for a person, `due_at` is the next deadline, `waiting_since` the oldest
    mail that the open turn answers; until `snoozed_until` a person put it off. `claims_to_be` is the address of a
    sender whom nothing proves, `last_words` how the newest message begins.
    """

    thread_id: UUID
    subject: str
    inbox: str
    state: ThreadState
    priority: Priority
    tags: list[str]
    changed_at: datetime
    version: int
    participant_id: UUID | None
    participant: str
    participant_name: str
    claims_to_be: str
    assignee: str
    snoozed_until: datetime | None
    last_role: str
    last_words: str
    draft: UUID | None
    waiting_since: datetime | None
    due_at: datetime | None
    due_kind: DeadlineKind | None
    due_status: DeadlineStatus | None


async def inbox(
    conn: Connection,
    workspace: str,
    view: View,
    *,
    assignee: str = "",
    team: Team | None = None,
    only: Only = EVERY,
    limit: int,
    after: str = "",
) -> Page[InboxLine]:
    """The threads of a view, the latest change first; `mine` are those of `assignee`, `mentioned` those whose notes ask
    them to look, `team` the queue of `team`. Raises `BadCursor`.
    """
    args = {"workspace": workspace, **asdict(only)}
    if view == "needs_me":
        return await _page(conn, SQL.needing_a_person, args, limit, after)
    if view == "snoozed":
        return await _page(conn, SQL.snoozed, args, limit, after)
    if view == "mine":
        return await _page(conn, SQL.of_assignee, args | {"assignee": assignee}, limit, after)
    if view == "team":
        queue = {"assignee": team.name, "inboxes": team.inboxes} if team else {"assignee": "", "inboxes": []}
        return await _page(conn, SQL.of_team, args | queue, limit, after)
    if view == "mentioned":
        return await _page(conn, SQL.asked_to_look, args | {"name": assignee}, limit, after)
    return await _page(conn, SQL.in_states, args | {"states": list(STATES[view]), "every": view == "all"}, limit, after)


async def found(
    conn: Connection, workspace: str, words: str, *, only: Only = EVERY, limit: int, after: str = ""
) -> Page[InboxLine]:
    """The threads whose subject, a person or a message in them has every word or its beginning. Raises `BadCursor`.

    Whatever the words are, few rows are read: what few threads have is found by the indexes of words; what many have,
    among the threads that changed last. Only words that many old threads and no late ones have are looked for in all.
    """
    beginnings = beginnings_of(words)
    if not beginnings:
        return Page()
    args = {"workspace": workspace, "words": beginnings, "addr": words.strip().lower(), **asdict(only)}
    args |= {"window": LATELY, "most": MOST_HITS, **INBOX.args(after, limit)}
    rows = await fetch_all_planned(conn, SQL.found, args)
    if rows[0]["hits"] >= MOST_HITS:
        rows = await fetch_all_planned(conn, SQL.found_lately, args)
        if len(rows) <= limit:
            rows = await fetch_all_planned(conn, SQL.found, args | {"most": None})
    return await _lines_of_page(conn, workspace, [row for row in rows if row["thread_id"]], limit)


async def of_person(
    conn: Connection, workspace: str, participant_id: UUID, *, limit: int, after: str = ""
) -> Page[InboxLine]:
    """The threads of a participant, under all addresses that are theirs. Raises `BadCursor`."""
    args = {"workspace": workspace, "participant_id": participant_id}
    return await _page(conn, SQL.of_person, args, limit, after)


async def count_needing_a_person(conn: Connection, workspace: str) -> int:
    """How many threads wait for a person, counted no further than `MOST_COUNTED`."""
    row = await fetch_one(conn, SQL.count_needing_a_person, {"workspace": workspace, "most": MOST_COUNTED})
    assert row is not None
    return int(row["threads"])


async def _page(conn: Connection, query: Any, args: dict[str, Any], limit: int, after: str) -> Page[InboxLine]:
    rows = await fetch_all(conn, query, args | INBOX.args(after, limit))
    return await _lines_of_page(conn, args["workspace"], rows, limit)


async def _lines_of_page(conn: Connection, workspace: str, rows: Sequence[Any], limit: int) -> Page[InboxLine]:
    page = INBOX.page(rows, limit)
    lines = await lines_of(conn, workspace, [row["thread_id"] for row in page])
    return Page([lines[row["thread_id"]] for row in page], page.next)


async def lines_of(conn: Connection, workspace: str, ids: Sequence[UUID]) -> dict[UUID, InboxLine]:
    """What a line shows, by thread."""
    rows = await rows_as(conn, InboxLine, SQL.lines, {"workspace": workspace, "ids": list(ids)})
    return {row.thread_id: row for row in rows}
