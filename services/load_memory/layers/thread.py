"""Where the thread stands: state, open goals, what the agent keeps in mind and did."""

from __future__ import annotations

from services.core.db import Connection, fetch_all, fetch_one
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import SQL, Turn

NAME, SHARED, TRUSTED = "thread", False, False
ABOUT = "Where this thread stands: its state, the goals that are open, what you keep in mind, what you did."


def budget(turn: Turn) -> int:
    """Tokens."""
    return turn.settings.layer_tokens


async def load(turn: Turn, conn: Connection) -> Section:
    """State first, then goals, what is kept in mind, actions."""
    args = {"thread_id": turn.thread_id, "now": turn.now, **turn.of_author}
    row = await fetch_one(conn, SQL.thread, args)
    if row is None:
        return Section()
    goals = [goal["text"] for goal in await fetch_all(conn, SQL.goals, args)]
    actions = await fetch_all(conn, SQL.actions, args)
    entries = [entry(f"state: {row['state']}, subject: {row['subject']}", state=row["state"], goals=goals)]
    entries += [entry(f"- open goal: {goal}", goal=goal) for goal in goals]
    entries += [
        entry(f"- kept in mind: {one['name']}: {one['value']}", entity=one["name"], value=one["value"])
        for one in await fetch_all(conn, SQL.entities, args)
    ]
    entries += [
        entry(f"- {one['at']:%Y-%m-%d} {one['action']}: {one['detail']}", action=one["action"], detail=one["detail"])
        for one in actions
    ]
    return section(entries)
