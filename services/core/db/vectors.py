"""pgvector's types on a connection: vectors go in and out in its binary form, as `Vector` and `HalfVector`.

Invariant: what the types are called by the server is asked once for all connections of a pool; a database that is not
migrated yet has none, and is asked again by the next connection.
"""

from __future__ import annotations

from typing import Any

from pgvector.psycopg.halfvec import register_halfvec_info
from pgvector.psycopg.vector import register_vector_info
from psycopg import AsyncConnection
from psycopg.types import TypeInfo

NAMES = ("vector", "halfvec")


class VectorTypes:
    """Registers both types with connections to one database."""

    def __init__(self) -> None:
        self._known: tuple[TypeInfo, ...] = ()

    async def register(self, conn: AsyncConnection[Any]) -> None:
        """Have `conn` send and read vectors as pgvector does; nothing where the database has no such types."""
        if not self._known:
            found = [await TypeInfo.fetch(conn, name) for name in NAMES]
            self._known = tuple(one for one in found if one is not None)
        if len(self._known) == len(NAMES):
            register_vector_info(conn, self._known[0])
            register_halfvec_info(conn, self._known[1])
        else:
            self._known = ()
