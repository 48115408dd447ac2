"""Routes that look at who asks before they read what is asked, and read no more than a limit of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from services.core.web import body_within

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
                if self.body_field is not None:
                    request._body = await body_within(request, limit, BODY_DEADLINE_S)
                return await inner(request)

            return handle

    return Guarded
