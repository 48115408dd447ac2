"""Threads as people see them. Every query names its workspace."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.events.marks import DeadlineKind, DeadlineStatus, Priority
from schemas.events.memory import TurnReflected
from schemas.events.threads import ThreadState, Trigger
from services.core.archive.archive import Archive
from services.core.bus.event_row import EventRow
from services.core.db import Connection, fetch_all, fetch_one, queries, rows_as
from services.core.errors import Permanent
from services.core.paging import MOST, Listing, Page
from services.operations.knowledge.listing import SourceLine, sources_of
from services.operations.threads.explanations import archived_if_there

SQL = queries(__file__)
THREADS = Listing("threads", (("changed_at", "time"), ("thread_id", "id")), descending=True)
SAID = Listing("messages", (("version", "number"),), descending=True)
DUE = Listing("deadlines", (("due_at", "time"), ("thread_id", "id"), ("kind", "text")))


class ThreadUnknown(Permanent):
    """There is no thread with this id here."""


@dataclass(frozen=True, slots=True)
class ThreadLine:
    """A thread in a list. `participant` is the author's address, "" where they are not known for sure.

    `sender_level` is how far the one who opened it is believed; `claims_to_be` the address of whom that is not proven.
    `assignee` is the person who has it, "" for nobody in particular; until `snoozed_until` somebody put it off.
    """

    thread_id: UUID
    subject: str
    inbox: str
    state: ThreadState
    priority: Priority
    tags: list[str]
    opened_at: datetime
    changed_at: datetime
    participant_id: UUID | None
    participant: str
    sender_level: str = ""
    claims_to_be: str = ""
    assignee: str = ""
    snoozed_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """Something to be reached; `closed_at` once it was reached or dropped, not `proven` where nobody proven asked."""

    goal_id: UUID
    text: str
    added_at: datetime
    closed_at: datetime | None
    proven: bool = True


@dataclass(frozen=True, slots=True)
class Message:
    """One row of the conversation; `pending` while it waits for an answer, `sources` what a reply of ours rests on.

    `gone_at` is since when retention keeps its text no longer; `sender_level` how far a customer's mail is believed to
    be theirs; `waited_s` how long the oldest mail that a reply answers had waited, where that is known; `by` the person
    who wrote a reply here.
    """

    at: datetime
    role: str
    text: str
    pending: bool
    reply_id: UUID | None
    gone_at: datetime | None = None
    sender_level: str = ""
    waited_s: float | None = None
    by: str = ""
    sources: list[SourceLine] = field(default_factory=list)
    mail_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the state machine: who asked, why, because of which event; `refused` says why it was not made."""

    version: int
    at: datetime
    from_state: ThreadState
    to_state: ThreadState
    trigger: Trigger
    reason: str
    refused: str
    cause: UUID | None


@dataclass(frozen=True, slots=True)
class Action:
    """Something that was done in the thread: by whom, why, because of which event; `proven` as with a goal."""

    version: int
    at: datetime
    action: str
    detail: str
    trigger: Trigger
    cause: UUID | None
    proven: bool = True


@dataclass(frozen=True, slots=True)
class Note:
    """For people; never sent. `mentions` are the names of colleagues whom it asks to look."""

    note_id: UUID
    at: datetime
    by: str
    trigger: Trigger
    text: str
    mentions: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Kept:
    """What the agent keeps in mind of one person's matter in the thread, until `expires_at`."""

    participant_id: UUID
    name: str
    value: str
    noted_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Clock:
    """The newest deadline of its kind: `due_at` while it runs or is breached, `left_s` of office hours while paused.

    `ended_at` is when it was met or missed, where that is known.
    """

    kind: DeadlineKind
    status: DeadlineStatus
    since: datetime
    due_at: datetime | None
    left_s: float | None
    allowed_s: float
    priority: Priority
    reason: str
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """A deadline in the list of what is due next."""

    thread_id: UUID
    kind: DeadlineKind
    status: DeadlineStatus
    since: datetime
    due_at: datetime
    priority: Priority
    subject: str
    inbox: str
    state: ThreadState


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned from a turn, `drafted` while its reply waited: what was proposed, what of it did not hold.

    Where nothing held, `held` is False, and `retry_at` says when the model is asked again (None: not any more).
    """

    at: datetime
    turn_id: UUID
    outcome: str
    held: bool
    facts: int
    relations: int
    refused: tuple[str, ...]
    retry_at: datetime | None


@dataclass(frozen=True, slots=True)
class WholeThread:
    """What is known of a thread. `linked_to` are those that carry on from it, or claim to.

    `conversation` is a page, oldest first, and `log` and `actions` are what was done next to it; `earlier` is the
    cursor of the page before, "" where this is the first; `version` is what a reply of yours is bound to.
    """

    thread: ThreadLine
    linked_from: UUID | None
    linked_to: list[UUID]
    open_turn: UUID | None
    summary: str
    goals: tuple[Goal, ...]
    deadlines: tuple[Clock, ...]
    conversation: tuple[Message, ...]
    notes: tuple[Note, ...]
    kept_in_mind: tuple[Kept, ...]
    log: tuple[Step, ...]
    actions: tuple[Action, ...]
    learned: tuple[Learned, ...]
    earlier: str = ""
    version: int = 0


async def list_threads(
    conn: Connection, workspace: str, *, limit: int, after: str = "", **filters: str | None
) -> Page[ThreadLine]:
    """Threads, the latest change first; filters are `state`, `priority`, `tag` and `inbox`. Raises `BadCursor`."""
    wanted = {**dict.fromkeys(("state", "priority", "tag", "inbox")), **filters, "workspace": workspace}
    rows = await rows_as(conn, ThreadLine, SQL.threads, wanted | THREADS.args(after, limit))
    return THREADS.page(rows, limit)


async def whole_thread(
    conn: Connection,
    workspace: str,
    thread_id: UUID,
    *,
    archive: Archive | None = None,
    limit: int = MOST,
    after: str = "",
) -> WholeThread:
    """One thread with the newest page of its conversation, or the page that `after`, an `earlier` of another, names.

    What was learned in archived days is read where an archive is given. Raises `ThreadUnknown` and `BadCursor`.
    """
    args: dict[str, Any] = {"workspace": workspace, "thread_id": thread_id, **SAID.args(after, limit)}
    row = await fetch_one(conn, SQL.thread, args)
    if row is None:
        raise ThreadUnknown(f"there is no thread {thread_id}")
    rest = {name: row.pop(name) for name in ("linked_from", "linked_to", "open_turn", "summary", "version")}

    async def every(query: Any, kind: Any) -> tuple[Any, ...]:
        return tuple(kind(**one) for one in await fetch_all(conn, query, args))

    page = SAID.page(await fetch_all(conn, SQL.said, args), limit)
    args["least"] = page[-1]["version"] if page.next else 0
    said = [Message(**{name: one[name] for name in one if name != "version"}) for one in reversed(page)]
    sources = await sources_of(conn, workspace, [one.reply_id for one in said if one.reply_id])
    return WholeThread(
        thread=ThreadLine(**row),
        **rest,
        goals=await every(SQL.goals, Goal),
        deadlines=await every(SQL.deadlines, Clock),
        conversation=tuple(replace(one, sources=sources.get(one.reply_id, []) if one.reply_id else []) for one in said),
        notes=await every(SQL.notes, Note),
        kept_in_mind=await every(SQL.entities, Kept),
        log=await every(SQL.steps, Step),
        actions=await every(SQL.actions, Action),
        learned=await _learned(conn, args, archive),
        earlier=page.next,
    )


async def _learned(conn: Connection, args: dict[str, Any], archive: Archive | None) -> tuple[Learned, ...]:
    """Of every turn, oldest first; what can no longer be read is left out."""
    rows = await rows_as(conn, EventRow.of, SQL.reflections, args)
    if await fetch_one(conn, SQL.learned_before, {**args, "turns": [str(one.data.get("turn_id", "")) for one in rows]}):
        older = await archived_if_there(
            conn, archive, args["workspace"], args["thread_id"], frozenset({TurnReflected.TYPE})
        )
        rows = [*older, *rows]
    told = [(row.time, TurnReflected.model_validate(row.data)) for row in rows if not row.is_sealed]
    return tuple(_from_turn(at, event) for at, event in told if not event.again)


def _from_turn(at: datetime, event: TurnReflected) -> Learned:
    return Learned(
        at=at,
        turn_id=event.turn_id,
        outcome=event.outcome,
        held=event.covers_to > 0,
        facts=len(event.facts),
        relations=len(event.relations),
        refused=event.refused,
        retry_at=event.retry_at,
    )


async def due_next(conn: Connection, workspace: str, *, limit: int, after: str = "") -> Page[Due]:
    """Deadlines that run or were missed, the first to be due first. Raises `BadCursor`."""
    args = {"workspace": workspace} | DUE.args(after, limit)
    return DUE.page(await rows_as(conn, Due, SQL.due, args), limit)
