"""A long history without its years: rows as answered mails leave them, copied by SQL; and what statements read of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from schemas.topics import catalogue
from services.cli.alerts import SQL as ALERT_SQL
from services.cli.alerts import TOLD
from services.cli.mails import OUTCOMES
from services.core.app import App
from services.core.bus.undone_events import SQL as UNDONE_SQL
from services.core.bus.undone_events import advance, not_done_args, pairs_of
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.paging import Listing
from services.operations.deliveries import LEDGER
from services.operations.deliveries import SQL as DELIVERY_SQL
from services.operations.drafts.listing import DRAFTS
from services.operations.drafts.listing import SQL as DRAFT_SQL
from services.operations.health.backlog import SQL as STATUS_SQL
from services.operations.health.state import SQL as HEALTH_SQL
from services.operations.idle import SQL as IDLE_SQL
from services.operations.ids import SQL as ID_SQL
from services.operations.ids import id_range
from services.operations.mailboxes import SQL as MAILBOX_SQL
from services.operations.memory.people import PEOPLE
from services.operations.memory.people import SQL as PEOPLE_SQL
from services.operations.threads.course import SQL as COURSE_SQL
from services.operations.threads.inbox import INBOX, MOST_COUNTED, MOST_HITS, STATES
from services.operations.threads.inbox import SQL as INBOX_SQL
from services.operations.threads.listing import DUE, THREADS
from services.operations.threads.listing import SQL as THREAD_SQL
from services.operations.vectors.renewal import SQL as VECTOR_SQL
from tests.support.plans import plan_of, scans_of

SQL = queries(__file__, "history.sql")
PAIRS = pairs_of(catalogue().consumers())
EVENTS_A_MAIL = 10
PARTS = ("people", "threads", "mails", "turns", "conversation", "deliveries", "deadlines", "alerts", "events")
TABLES = (
    "participants", "threads", "mails", "turns", "conversation", "deliveries", "thread_deadlines", "alerts", "events",
    "journal",
)  # fmt: skip
UNTIL = datetime(2026, 3, 1, tzinfo=UTC)
PAGE = 50


@dataclass(frozen=True, slots=True)
class Asked:
    """One statement of the product with its parameters."""

    name: str
    statement: Any
    args: dict[str, Any]


async def fill(app: App, done: int, mails: int) -> None:
    """Bring the deployment from `done` to `mails` mails, a minute apart, all answered; the marks come along."""
    args = {"workspace": app.settings.workspace, "done": done, "mails": mails, "until": UNTIL}
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.last_seq)
        for part in PARTS:
            await conn.execute(getattr(SQL, part), args)
        for day in await fetch_all(conn, SQL.days):
            await conn.execute("SELECT make_journal_day(%(day)s)", day)
        await conn.execute(SQL.journal, {**PAIRS.args(), "after": row["seq"] if row else 0})
        await conn.execute(f"VACUUM ANALYZE {', '.join(TABLES)}".encode())
    await advance(app, PAIRS, margin_s=0)


async def asked_at_start(app: App) -> list[Asked]:
    """What an embedded start asks the tables: what is undone, and how far the marks are."""
    async with app.database.reading() as conn:
        args = await not_done_args(conn, PAIRS)
    moment = {"limit": 20_000, "moment": UNTIL}
    return [
        Asked("start: what is undone", UNDONE_SQL.undone, args),
        Asked("start: marks moved on", UNDONE_SQL.advance, {**args, **moment}),
        Asked("start: what is listed", UNDONE_SQL.forget_done, {}),
    ]


async def asked_by_status(app: App) -> list[Asked]:
    """What `correspondent status` and its like ask the tables."""
    async with app.database.reading() as conn:
        args = await not_done_args(conn, PAIRS)
    here = {**args, "workspace": app.settings.workspace, "now": UNTIL, "minutes": 10, "older_s": 0.0, "until": UNTIL}
    return [
        Asked("status: what waits", STATUS_SQL.waiting, here),
        Asked("status: open turns", STATUS_SQL.open_turns, here),
        Asked("status: what stands still", HEALTH_SQL.undone, here),
        Asked("whether the deployment is at rest", IDLE_SQL.unfinished, {**here, "since": 0}),
    ]


async def asked_by_lists(app: App) -> list[Asked]:
    """The first page of each list, and one from its middle."""
    async with app.database.reading() as conn:
        low = (await not_done_args(conn, PAIRS))["low"]
        here = {"workspace": app.settings.workspace, "low": low, "thread_id": None, "reply_id": None, "state": ""}
        every = {**here, **dict.fromkeys(("inbox", "priority", "tag"), "")}
        sought = {**every, "words": "'zebra':*", "addr": "zebra"}
        threads = {**here, **dict.fromkeys(("state", "priority", "tag", "inbox"))}
        lists: list[tuple[str, Listing, Any, dict[str, Any], str]] = [
            ("threads", THREADS, THREAD_SQL.threads, threads, "threads"),
            ("threads, closed", THREADS, THREAD_SQL.threads, {**threads, "state": "closed"}, "threads"),
            ("threads, urgent", THREADS, THREAD_SQL.threads, {**threads, "priority": "urgent"}, "threads"),
            ("threads of an inbox", THREADS, THREAD_SQL.threads, {**threads, "inbox": "support"}, "threads"),
            ("inbox: needs a person", INBOX, INBOX_SQL.needing_a_person, every, "threads"),
            (
                "inbox: agent",
                INBOX,
                INBOX_SQL.in_states,
                {**every, "states": ["new", "in_progress"], "every": False},
                "threads",
            ),
            (
                "inbox: resolved",
                INBOX,
                INBOX_SQL.in_states,
                {**every, "states": ["resolved", "closed"], "every": False},
                "threads",
            ),
            (
                "inbox: all",
                INBOX,
                INBOX_SQL.in_states,
                {**every, "states": list(STATES["all"]), "every": True},
                "threads",
            ),
            ("inbox: snoozed", INBOX, INBOX_SQL.snoozed, every, ""),
            ("inbox: found", INBOX, INBOX_SQL.found, {**sought, "most": MOST_HITS}, "threads"),
            ("inbox: found lately", INBOX, INBOX_SQL.found_lately, {**sought, "window": PAGE}, "threads"),
            ("inbox: of a person", INBOX, INBOX_SQL.of_person, {**here, "participant_id": UUID(int=1)}, "threads"),
            ("participants", PEOPLE, PEOPLE_SQL.people, here, "participants"),
            ("mails", OUTCOMES, IDLE_SQL.outcomes, here, "mails"),
            ("deliveries", LEDGER, DELIVERY_SQL.ledger, here, "deliveries"),
            ("deliveries, sent", LEDGER, DELIVERY_SQL.ledger, {**here, "state": "sent"}, "deliveries"),
            ("alerts", TOLD, ALERT_SQL.told, here, "alerts"),
            ("deadlines", DUE, THREAD_SQL.due, here, ""),
            ("drafts", DRAFTS, DRAFT_SQL.waiting, here, ""),
        ]
        least, most = id_range("abc")
        named = {**here, "beginning": "abc", "least": least, "most": most}
        lacking = {**here, "model": "a model"}
        found = [
            Asked("the beginning of an id", ID_SQL.threads, named),
            Asked("inbox: how many need a person", INBOX_SQL.count_needing_a_person, here | {"most": MOST_COUNTED}),
            Asked("what happened in a thread", COURSE_SQL.hops, {**here, "thread_id": UUID(int=1), "limit": 400}),
            Asked("vectors that are lacking", VECTOR_SQL.lacking, lacking),
            Asked("rows of before the mailbox key", MAILBOX_SQL.waiting, here),
        ]
        for name, listing, statement, args, table in lists:
            found.append(Asked(name, statement, args | listing.args("", PAGE)))
            if table:
                found.append(Asked(f"{name}, its middle", statement, args | await _middle(conn, listing, table)))
    return found


@dataclass(frozen=True, slots=True)
class Read:
    """What a statement read: pages of 8 kB, in memory or on disk, rows, and the tables that it read from end to end."""

    pages: int
    rows: int
    whole: tuple[str, ...]


async def read_by(app: App, asked: Asked) -> Read:
    """What the statement reads, by its plan as it was run; what it writes is taken back."""
    async with app.database.reading() as conn, conn.transaction(force_rollback=True):
        plan = await plan_of(conn, b"ANALYZE, BUFFERS, ", asked.statement, asked.args)
    scans = list(scans_of(plan))
    rows = sum((one["Actual Rows"] + one.get("Rows Removed by Filter", 0)) * one["Actual Loops"] for one in scans)
    whole = {one["Relation Name"] for one in scans if one["Node Type"] == "Seq Scan" and one["Actual Loops"]}
    return Read(int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]), round(rows), tuple(sorted(whole)))


async def _middle(conn: Connection, listing: Listing, table: str) -> dict[str, Any]:
    columns = ", ".join(name for name, _ in listing.key)
    middle = f"SELECT {columns} FROM {table} ORDER BY {columns} OFFSET (SELECT count(*) / 2 FROM {table}) LIMIT 1"
    row = await fetch_one(conn, middle.encode())
    assert row is not None
    return listing.args("", PAGE) | {f"after_{name}": row[name] for name, _ in listing.key}
