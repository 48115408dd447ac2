"""Whom we write to: name, standing, risk, issues, and the facts that bear on this mail, by kind."""

from __future__ import annotations

from services.core.db import Connection, fetch_all, fetch_one
from services.core.memory.search import Hit, search_facts
from services.core.settings import ContextSettings
from services.load_memory.section import Entry, Section, entry, section
from services.load_memory.turn import SQL, Turn

NAME, SHARED, TRUSTED = "participant", False, False

CARE = "This customer has been frustrated three mails in a row: take special care, apologise for facts, not feelings."


def budget(settings: ContextSettings) -> int:
    """Tokens."""
    return settings.facts_tokens


async def load(turn: Turn, conn: Connection) -> Section:
    """Nothing for an author who is not authenticated."""
    if turn.participant_id is None:
        return Section()
    args = {"participant_id": turn.participant_id}
    row = await fetch_one(conn, SQL.participant, args)
    issues = await fetch_all(conn, SQL.issues, args)
    hits = await search_facts(
        conn,
        workspace=turn.workspace,
        participant_id=turn.participant_id,
        query_text=turn.query,
        query_vector=turn.vector,
        now=turn.now,
    )
    entries = [] if row is None else [_person(row)]
    entries += [_issue(issue) for issue in issues[:8]]
    entries += [_fact(hit) for hit in hits]
    return section(entries)


def _person(row: dict[str, object]) -> Entry:
    who, since = row["name"] or row["addr"], row["first_seen_at"]
    text = f"{who}, {row['state']}, risk {row['risk']}, with us since {since:%Y-%m-%d}"
    if row["risk"] == "high":
        text += f". {CARE}"
    return entry(text, name=row["name"], address=row["addr"], state=row["state"], risk=row["risk"])


def _issue(row: dict[str, object]) -> Entry:
    times = "once" if row["reports"] == 1 else f"{row['reports']} times"
    state = "resolved" if row["resolved"] else "open"
    text = f"- issue: {row['issue_key']} (reported {times}, {state}, last {row['last_at']:%Y-%m-%d})"
    if isinstance(row["reports"], int) and row["reports"] > 1:
        text += f". Not new: a further report is number {row['reports'] + 1}; say that you know it has happened before."
    return entry(text, issue=row["issue_key"], reports=row["reports"], resolved=row["resolved"])


def _fact(hit: Hit) -> Entry:
    fact = hit.fact
    sure = "" if fact.confidence >= 0.7 else ", not confirmed"
    return entry(
        f"- [{fact.fact_id}] {fact.kind}/{fact.key}: {fact.text} (since {fact.valid_from:%Y-%m-%d}{sure})",
        id=str(fact.fact_id),
        kind=fact.kind,
        key=fact.key,
        value=fact.value,
        text=fact.text,
        confidence=fact.confidence,
        recorded_at=fact.recorded_at.isoformat(),
    )
