"""Routes that look at who asks before they read what is asked, read no more than a limit of it, and take no text that
no table can hold.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from services.core.storable import holds_storable, is_storable
from services.core.web import RequestRefused, body_within

API_BODY_BYTES = 1024 * 1024  # of a JSON body; a document comes another way, with a limit of its own
BODY_DEADLINE_S = 30.0


def guarded(check: Callable[[Request], Awaitable[None]], limit: int = API_BODY_BYTES) -> type[APIRoute]:
    """A class of routes for `APIRouter(route_class=...)`.

    `check` raises `Refused`; FastAPI alone would parse the body first, and ask its dependencies afterwards.
    """

    class Guarded(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            inner = super().get_route_handler()

            async def handle(request: Request) -> Response:
                await check(request)
                _refuse_unstorable_address(request)
                if self.body_field is not None:
                    request._body = await body_within(request, limit, BODY_DEADLINE_S)
                    await _refuse_unstorable_body(request)
                return await inner(request)

            return handle

    return Guarded


def _refuse_unstorable_address(request: Request) -> None:
    for name, value in (*request.path_params.items(), *request.query_params.multi_items()):
        if not is_storable(f"{name}{value}"):
            raise _unstorable(name if is_storable(name) else "the query")


async def _refuse_unstorable_body(request: Request) -> None:
    with suppress(ValueError, RecursionError):  # what is no JSON is refused where it is read
        if not holds_storable(await request.json()):
            raise _unstorable("body")


def _unstorable(where: str) -> RequestRefused:
    said = f"{where}: a NUL character or half of a surrogate pair can be neither stored nor looked up"
    return RequestRefused(422, "invalid", said)
