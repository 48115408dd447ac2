"""Who may use the API: the bearer of a token of the settings whose scopes fit (RFC 6750), else nobody.

Asked before a byte of the body is read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import Request
from fastapi.security import HTTPBearer

from services.core.request_limits import Pace
from services.core.settings import WebSettings
from services.core.settings.api_tokens import ApiToken
from services.core.web import RequestRefused
from services.web.caller import remember

BEARER = HTTPBearer(auto_error=False, description="A token of `[[web.tokens]]`, or that of `web.api_token`.")
READS = frozenset({"GET", "HEAD", "OPTIONS"})


def bearer_of(web: WebSettings) -> Callable[[str], Callable[[Request], Awaitable[None]]]:
    """For an area (`memory`, `threads` ...), a check that refuses every request without a token for it."""
    tokens = web.all_tokens
    paces = {one.name: Pace(one.requests_per_minute) for one in tokens}

    def of(area: str) -> Callable[[Request], Awaitable[None]]:
        async def check(request: Request) -> None:
            token = token_of(tokens, request)
            scope = f"{area}:{'read' if request.method in READS else 'write'}"
            if not token.may(scope):
                raise RequestRefused(403, "scope_missing", f"the token {token.name} is not for {scope}")
            if paces[token.name].takes(token.name):
                raise RequestRefused(429, "too_many", f"more than {token.requests_per_minute} requests in a minute")
            remember(token)

        return check

    return of


def token_of(tokens: tuple[ApiToken, ...], request: Request) -> ApiToken:
    """The token that a request came with. Raises `RequestRefused`."""
    if not tokens:
        raise RequestRefused(
            403,
            "api_off",
            "the API is off: set [[web.tokens]] or web.api_token, and send it as `Authorization: Bearer`",
        )
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not given.strip():
        raise RequestRefused(401, "token_missing", "send the API token as `Authorization: Bearer TOKEN`")
    found = [one for one in tokens if one.is_this(given.strip())]  # all are compared: the time tells nothing
    if not found:
        raise RequestRefused(401, "token_wrong", "this is no API token of this deployment")
    return found[0]
