"""What is, or was, known of a participant, each fact with its provenance. Every query names its workspace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from services.core.db import Connection, fetch_all, rows_as
from services.core.paging import Listing, Page
from services.memory.derived import lapsed_among
from services.memory.facts import plain_key
from services.memory.keys import key_of
from services.operations.memory.people import SQL

REFUSALS = Listing("refusals", (("version", "number"), ("participant_id", "id")), descending=True)
CURRENT = Listing("facts", (("kind", "text"), ("key", "text"), ("recorded_at", "time"), ("fact_id", "id")))
THEN = Listing("facts-then", (("kind", "text"), ("key", "text"), ("valid_from", "time"), ("fact_id", "id")))
EVERY = Listing("history", (("key", "text"), ("valid_from", "time"), ("recorded_at", "time"), ("fact_id", "id")))


@dataclass(frozen=True, slots=True)
class RememberedFact:
    """A row of `facts` for people; what each column means stands in the migrations 0010 and 0011."""

    fact_id: UUID
    kind: str
    key: str
    value: str
    text: str
    confidence: float
    importance: float
    trust: str
    pinned: bool
    stale_since: datetime | None
    valid_from: datetime
    valid_to: datetime | None
    expires_at: datetime | None
    recorded_at: datetime
    superseded_at: datetime | None
    superseded_by: UUID | None
    retracted_at: datetime | None
    merged_into: UUID | None
    source_message_id: str | None
    quote: str | None
    span_start: int | None
    span_end: int | None

    def status(self, now: datetime) -> str:
        """What it is now, in one or two words."""
        if self.retracted_at:
            return "withdrawn"
        if self.merged_into:
            return "merged"
        if self.superseded_at:
            return "past"
        if self.expires_at and self.expires_at <= now:
            return "expired"
        return "stale" if self.stale_since else "current"


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One support of a fact. `message_id` is that of the mail, the customer's or ours; "" where a person said it.

    The span is where the quote stands in the text of that mail, in characters, its end exclusive.
    """

    fact_id: UUID
    trust: str
    mail_id: UUID | None
    reply_id: UUID | None
    thread_id: UUID | None
    quote: str
    quote_sha256: str | None
    span_start: int | None
    span_end: int | None
    said_at: datetime
    at: datetime
    message_id: str
    subject: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """One decision about a fact: when, what, by which rule, caused by which event."""

    fact_id: UUID
    version: int
    at: datetime
    decision: str
    reason: str
    cause: UUID | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A fact with everything that it rests on and that was decided about it."""

    fact: RememberedFact
    sources: tuple[SourceLine, ...]
    log: tuple[LogLine, ...]


async def current(conn: Connection, workspace: str, participant_id: UUID, now: datetime) -> list[RememberedFact]:
    """What is believed now, expired facts included."""
    args = {"workspace": workspace, "participant_id": participant_id, "now": now}
    return await _remembered(conn, SQL.current, args, now)


async def history(
    conn: Connection, workspace: str, participant_id: UUID, now: datetime, *, fact_id: UUID | None = None, key: str = ""
) -> list[Entry]:
    """Every fact that there ever was, with sources and decisions; of one id, or of a key by any of its names."""
    facts = await recorded(conn, workspace, participant_id, now, fact_id=fact_id, key=key)
    return await with_provenance(conn, workspace, participant_id, facts)


async def recorded(
    conn: Connection, workspace: str, participant_id: UUID, now: datetime, *, fact_id: UUID | None = None, key: str = ""
) -> list[RememberedFact]:
    """The same without sources and decisions."""
    args = {
        "workspace": workspace,
        "participant_id": participant_id,
        "fact_id": fact_id,
        "keys": sorted({key, plain_key(key), key_of(key)}) if key else None,
    }
    return await _remembered(conn, SQL.every, args, now)


def in_order(facts: Sequence[RememberedFact], listing: Listing) -> list[RememberedFact]:
    """The facts of one person by the sort key of a list, as Python compares."""
    return sorted(facts, key=lambda one: tuple(getattr(one, name) for name, _ in listing.key))


async def with_provenance(
    conn: Connection, workspace: str, participant_id: UUID, facts: Sequence[RememberedFact]
) -> list[Entry]:
    """Facts with their sources and decisions, in the same order."""
    args = {"workspace": workspace, "participant_id": participant_id, "fact_ids": [one.fact_id for one in facts]}
    sources: dict[UUID, list[SourceLine]] = defaultdict(list)
    log: dict[UUID, list[LogLine]] = defaultdict(list)
    for row in await fetch_all(conn, SQL.sources, args):
        sources[row["fact_id"]].append(SourceLine(**row))
    for row in await fetch_all(conn, SQL.decisions, args):
        log[row["fact_id"]].append(LogLine(**row))
    return [Entry(one, tuple(sources[one.fact_id]), tuple(log[one.fact_id])) for one in facts]


async def refusals(
    conn: Connection, workspace: str, participant_id: UUID, *, limit: int = 20, after: str = ""
) -> Page[dict[str, Any]]:
    """Proposals and requests that did not hold, newest first. Raises `BadCursor`."""
    args = {"workspace": workspace, "participant_id": participant_id} | REFUSALS.args(after, limit)
    return REFUSALS.page(await fetch_all(conn, SQL.refusals, args), limit)


async def _remembered(conn: Connection, query: Any, args: dict[str, Any], now: datetime) -> list[RememberedFact]:
    """The facts that a query gives; those that rest on what has ended by itself are stale since then."""
    facts = await facts_of(conn, query, args)
    stale = await lapsed_among(conn, args["workspace"], [one.fact_id for one in facts], now)
    return [made_stale(one, stale.get(one.fact_id)) for one in facts]


def made_stale(fact: RememberedFact, since: datetime | None) -> RememberedFact:
    """The fact, stale since then at the latest; as it is, where nothing that it rests on has ended."""
    return fact if since is None else replace(fact, stale_since=min(since, fact.stale_since or since))


async def facts_of(conn: Connection, query: Any, args: dict[str, Any]) -> list[RememberedFact]:
    """The facts that a query gives."""
    return await rows_as(conn, RememberedFact, query, args)
