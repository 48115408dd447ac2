"""Why a reply says what it says: the context that it was made from, what shaped it, and what the model decided.

Read from the log, its archived days included, where the whole context of every turn stands; nothing is searched or
asked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog

from schemas.events.replies import (
    AgentAct,
    ChosenSetting,
    ContextLayer,
    DraftScore,
    MemoryLoaded,
    ReplyDrafted,
    TokenUsage,
)
from services.core.archive.archive import Archive
from services.core.archive.file import ArchiveDamaged
from services.core.archive.history import archived_of
from services.core.archive.places import ArchiveMissing
from services.core.bus.event_row import EventRow
from services.core.db import Connection, fetch_one, queries, rows_as
from services.core.errors import Permanent
from services.operations.retention.expired_events import BODIES, gone_since

SQL = queries(__file__, "explanations.sql")
TOLD = frozenset({MemoryLoaded.TYPE, ReplyDrafted.TYPE})


class NothingToExplain(Permanent):
    """No context is on the log for this: it was not assembled, or its people were erased."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the model made of a context: reply, no reply or a person.

    `acts` is what it did meanwhile, `refused_calls` what code did not let it do, `facts_cited` what it rests on.
    """

    at: datetime
    reply_id: UUID
    decision: str
    reason: str
    text: str
    citations: tuple[str, ...]
    facts_cited: tuple[UUID, ...]
    acts: tuple[AgentAct, ...]
    refused_calls: tuple[str, ...]
    model: str
    usage: TokenUsage
    score: DraftScore | None
    unsupported: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A turn's context as the model was given it, with what shaped the reply, where that was said, what came of it.

    `event_id` is that of the event that holds it, `texts_gone` the day since which its texts are not kept any more.
    """

    event_id: UUID
    thread_id: UUID
    turn_id: UUID
    at: datetime
    purpose: str
    trusted: bool
    mail_ids: tuple[UUID, ...]
    layers: tuple[ContextLayer, ...]
    settings: dict[str, ChosenSetting]
    decisions: tuple[Decision, ...]
    texts_gone: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """The event of a context, as it is stored, and what was decided on it."""

    row: EventRow
    decisions: tuple[Decision, ...]


async def explain_thread(
    conn: Connection,
    workspace: str,
    thread_id: UUID,
    turn_id: UUID | None = None,
    *,
    archive: Archive | None = None,
) -> Explanation:
    """The newest context of a thread, or that of one turn.

    Raises `NothingToExplain`, `ArchiveMissing`, `ArchiveDamaged`.
    """
    return explained(await told_in_thread(conn, workspace, thread_id, turn_id, archive=archive))


async def explain_reply(
    conn: Connection, workspace: str, reply_id: UUID, *, archive: Archive | None = None
) -> Explanation:
    """The context that a reply was made from. Raises as `explain_thread` does."""
    return explained(await told_of_reply(conn, workspace, reply_id, archive=archive))


async def told_in_thread(
    conn: Connection,
    workspace: str,
    thread_id: UUID,
    turn_id: UUID | None = None,
    *,
    archive: Archive | None = None,
) -> Told:
    """The event that holds what `explain_thread` explains. Raises as that does."""
    args = {"workspace": workspace, "thread_id": thread_id, "types": list(TOLD)}
    rows = await rows_as(conn, EventRow.of, SQL.turns_told, args)
    found = _newest(rows, turn_id)
    if found is None:
        older = await archived_in_thread(conn, archive, workspace, thread_id, TOLD)
        found = _newest([*older, *rows], turn_id)
    if found is None:
        what = "this turn" if turn_id else "a turn"
        raise NothingToExplain(f"no context of {what} of thread {thread_id} is on the log")
    return found


async def told_of_reply(conn: Connection, workspace: str, reply_id: UUID, *, archive: Archive | None = None) -> Told:
    """The event that a reply was made from. Raises as `explain_thread` does."""
    row = await fetch_one(conn, SQL.reply, {"workspace": workspace, "reply_id": reply_id})
    if row is None:
        raise NothingToExplain(f"there is no reply {reply_id}")
    return await told_in_thread(conn, workspace, row["thread_id"], row["turn_id"], archive=archive)


def _newest(rows: Sequence[EventRow], turn_id: UUID | None) -> Told | None:
    """Of events in their order the newest context, or that of one turn, with what was decided on it."""
    told = [row for row in rows if not row.is_sealed]
    drafted = [(row.time, ReplyDrafted.model_validate(row.data)) for row in told if row.type == ReplyDrafted.TYPE]
    for row in reversed(told):
        if row.type == MemoryLoaded.TYPE and turn_id in (None, UUID(row.data["turn_id"])):
            turn = UUID(row.data["turn_id"])
            return Told(row, tuple(_decision(at, one) for at, one in drafted if one.turn_id == turn))
    return None


def _decision(at: datetime, drafted: ReplyDrafted) -> Decision:
    return Decision(
        at=at,
        reply_id=drafted.reply_id,
        decision=drafted.decision,
        reason=drafted.reason,
        text=drafted.text,
        citations=drafted.citations,
        facts_cited=drafted.facts_cited,
        acts=drafted.acts,
        refused_calls=drafted.refused_calls,
        model=drafted.model,
        usage=drafted.usage,
        score=drafted.score,
        unsupported=drafted.unsupported,
    )


def explained(told: Told) -> Explanation:
    """What a stored event says, and what was decided on it."""
    loaded = MemoryLoaded.model_validate(told.row.data)
    return Explanation(
        event_id=told.row.id,
        thread_id=loaded.thread_id,
        turn_id=loaded.turn_id,
        at=told.row.time,
        purpose=loaded.purpose,
        trusted=loaded.trusted,
        mail_ids=loaded.mail_ids,
        layers=loaded.layers,
        settings=loaded.settings,
        decisions=told.decisions,
        texts_gone=gone_since(told.row.data).get(BODIES.name, ""),
    )


# What the log said of a thread, also where its older days lie in archived files.
#
# Files are read to their end, so that they are opened only where the table `events` does not have what is looked for.
log = structlog.get_logger(__name__)


async def archived_in_thread(
    conn: Connection, archive: Archive | None, workspace: str, thread_id: UUID, types: frozenset[str]
) -> list[EventRow]:
    """The archived events of some types in a thread, oldest first; none where no archive is given.

    Raises `ArchiveMissing` or `ArchiveDamaged`.
    """
    if archive is None:
        return []

    def mine(row: EventRow) -> bool:
        return row.key == str(thread_id) and row.workspace == workspace and row.type in types

    return await archived_of(conn, archive, mine)


async def archived_if_there(
    conn: Connection, archive: Archive | None, workspace: str, thread_id: UUID, types: frozenset[str]
) -> list[EventRow]:
    """The same, and nothing where a file is missing or damaged: what is shown next to them is worth showing alone."""
    try:
        return await archived_in_thread(conn, archive, workspace, thread_id, types)
    except (ArchiveMissing, ArchiveDamaged) as error:
        log.warning("archived days are not shown", reason=str(error))
        return []
