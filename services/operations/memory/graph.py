"""Who and what hang together, read from the facts as they stand: no store of its own.

An edge is a fact: its person, its key, its value. So it is there while the fact is: an update shows the new value, and
what is forgotten, merged, expired or erased is gone with its edge; a key that has one value has one edge. From a value
the way goes on to others of the workspace of whom a fact of the same key says the same, in capitals or not; people are
never taken for one another by their names. For operators alone: what is known of others is in nobody's prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from services.core.db import Connection
from services.memory.keys import key_of
from services.operations.memory.facts import RememberedFact, current
from services.operations.memory.past import as_of
from services.operations.memory.people import SQL, Person

NODES = (
    "identity",
    "customer_info",
    "contact_info",
    "order_info",
    "relationship",
    "preference",
)  # kinds that name things
LONGEST = 80  # characters of a value that is a thing, and no sentence
MOST = 200  # edges that lead to others


@dataclass(frozen=True, slots=True)
class Edge:
    """That a fact of a person says: subject, predicate, object."""

    participant_id: UUID
    subject: str
    predicate: str
    object: str
    fact_id: UUID
    confidence: float
    since: datetime


@dataclass(frozen=True, slots=True)
class Graph:
    """The edges of a person, and those of others that lead to the same things."""

    own: Sequence[Edge]
    others: Sequence[Edge]


async def graph_of(
    conn: Connection, workspace: str, one: Person, *, now: datetime, about: str = "", at: datetime | None = None
) -> Graph:
    """The graph around a person, of what names `about` only; `at`: the person's own edges as they were known then."""
    if at is None:
        facts = await current(conn, workspace, one.participant_id, now)
        facts = [fact for fact in facts if fact.status(now) in ("current", "stale")]
    else:
        facts = await as_of(conn, workspace, one.participant_id, valid_at=at, known_at=at)
    own = [edge for edge in (edge_of(one, fact) for fact in facts if is_edge(fact)) if _names(edge, about)]
    return Graph(own, [] if at else await _others(conn, workspace, one, own, now))


def is_edge(fact: RememberedFact) -> bool:
    """Whether a fact names a thing."""
    return fact.kind in NODES and 0 < len(fact.value) <= LONGEST


def edge_of(one: Person, fact: RememberedFact) -> Edge:
    """The edge that a fact is."""
    subject = one.name or one.addr
    return Edge(one.participant_id, subject, fact.key, fact.value, fact.fact_id, fact.confidence, fact.valid_from)


def _names(edge: Edge, about: str) -> bool:
    wanted = about.casefold().strip()
    return wanted in edge.object.casefold() or key_of(about) == edge.predicate


async def _others(conn: Connection, workspace: str, one: Person, own: Sequence[Edge], now: datetime) -> list[Edge]:
    values = {
        "workspace": workspace,
        "participant_id": one.participant_id,
        "keys": [edge.predicate for edge in own],
        "values": [edge.object.lower() for edge in own],
        "kinds": list(NODES),
        "now": now,
        "most": MOST,
    }
    async with conn.cursor(row_factory=class_row(Edge)) as cursor:
        return await (await cursor.execute(SQL.edges_to_the_same, values)).fetchall()
