"""Pages over HTTP: `limit` and `after` in the request, the next page in the header `Link` (RFC 8288)."""

from __future__ import annotations

from typing import Annotated, TypeVar
from urllib.parse import urlencode

from fastapi import Query, Request, Response

from services.core.paging import LONGEST, MOST, Page

T = TypeVar("T")

Limit = Annotated[int, Query(ge=1, le=MOST, description="at most so many rows")]
After = Annotated[
    str, Query(max_length=LONGEST, description="where to go on: from the header `Link` of the page before")
]


def linked(request: Request, response: Response, page: Page[T]) -> Page[T]:
    """The page, with `Link: <...>; rel="next"` where there is another: the same request, but for where it goes on."""
    if page.next:
        asked = [(name, value) for name, value in request.query_params.multi_items() if name != "after"]
        query = urlencode([*asked, ("after", page.next)])
        response.headers["Link"] = f'<{request.url.path}?{query}>; rel="next"'
    return page
