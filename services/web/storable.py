"""Nobody can ask for text that no table can hold."""

from __future__ import annotations

from fastapi import Request

from services.core.storable import is_storable
from services.core.web import RequestRefused


async def asks_for_storable(request: Request) -> None:
    """A dependency that refuses a request whose path or query holds such text. Raises `RequestRefused` with 422."""
    for name, value in (*request.path_params.items(), *request.query_params.multi_items()):
        if not is_storable(f"{name}{value}"):
            where = name if is_storable(name) else "the query"
            raise RequestRefused(
                422, "invalid", f"{where}: a NUL character or half of a surrogate pair cannot be looked up"
            )
