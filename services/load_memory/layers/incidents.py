"""Troubles that several customers of this inbox report right now, and what we said when one was over.

Of other customers' reports there are numbers, times, and the words that as many customers said as open an incident.
Counted when it is read: what was erased or merged since counts no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any

from services.core.db import Connection, fetch_all, fetch_one
from services.load_memory.section import Entry, Section, entry, section
from services.load_memory.turn import SQL, Turn
from services.memory.troubles import Report, customers, report_of, shared_words

NAME, SHARED, TRUSTED = "incidents", False, False
ABOUT = "Troubles that several customers report; nothing that one of them alone said."

MOST = 5  # incidents, the newest first
SEVERAL = 2  # customers at least whose word is told to others, however few open an incident


def budget(turn: Turn) -> int:
    """Tokens."""
    return turn.settings.layer_tokens // 2


async def load(turn: Turn, conn: Connection) -> Section:
    """Nothing for an author who is not authenticated, nor where the inbox opens no incidents."""
    settings = turn.app.settings.incidents_of(turn.inbox.name)
    if turn.participant_id is None or not settings.customers:
        return Section()
    args = {"workspace": turn.workspace, "inbox": turn.inbox.name, "most": MOST, "now": turn.now}
    rows = await fetch_all(conn, SQL.incidents, {**args, "closed_since": turn.now - timedelta(days=settings.days)})
    found = await fetch_all(conn, SQL.reports, {"incidents": [row["incident_id"] for row in rows]}) if rows else []
    reports = {id: [report_of(one) for one in some] for id, some in groupby(found, key=itemgetter("incident_id"))}
    who = await fetch_one(conn, SQL.person, {"participant_id": turn.participant_id})
    assert who is not None
    told = (told_to(row, reports.get(row["incident_id"], []), who["person"], settings.customers) for row in rows)
    return section(one for one in told if one)


def told_to(row: Mapping[str, Any], reports: list[Report], person: Any, least: int) -> Entry | None:
    """An incident as it reads; None where fewer than open one are left of it, or no word of it can be told."""
    count = len(customers(reports))
    words = " ".join(shared_words(reports, max(least, SEVERAL)))
    own = next((one.trouble for one in reversed(reports) if one.person == person), "")
    if count < least or not (words or own):
        return None
    what = f"what the author reports as «{own}»" if own else f"«{words}»"
    since = f"{count} customers report {what} since {min(one.said_at for one in reports):%Y-%m-%d %H:%M}"
    over = "" if row["is_open"] else f"; over since {row['closed_at']:%Y-%m-%d %H:%M}"
    said = f". What we say: {row['answer']}" if row["answer"] and not row["is_open"] else ""
    ids = {"incident": str(row["incident_id"]), "customers": count, "words": words, "open": row["is_open"]}
    return entry(f"- {since}{over}{said}", **ids)
