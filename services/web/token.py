"""Who may use the API: the bearer of a token of the settings or of a user, whose scopes fit (RFC 6750), else nobody.

Asked before a byte of the body is read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import Request
from fastapi.security import HTTPBearer

from services.core.app import App
from services.core.request_limits import Pace
from services.core.settings.web import ApiToken
from services.core.web import RequestRefused
from services.operations.users import Role
from services.operations.users.tokens import PREFIX, REQUESTS_PER_MINUTE, Bearer, bearer
from services.web.caller import Caller, remember

BEARER = HTTPBearer(auto_error=False, description="A token of `[[web.tokens]]`, of `web.api_token`, or of a user.")
READS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Roles:
    """The least role of a user whose token reads, and acts, as the console's pages of the same have it."""

    reads: Role = "viewer"
    acts: Role = "agent"


def bearer_of(app: App) -> Callable[[str, Roles], Callable[[Request], Awaitable[None]]]:
    """For an area (`memory`, `threads` ...), a check that refuses every request without a token for it.

    A user's token is besides refused where their role is less than that of the area. Those of the settings have none.
    """
    tokens = app.settings.web.all_tokens
    paces = {one.name: Pace(one.requests_per_minute) for one in tokens}
    of_users = Pace(REQUESTS_PER_MINUTE)

    def of(area: str, roles: Roles) -> Callable[[Request], Awaitable[None]]:
        async def check(request: Request) -> None:
            token = await token_of(app, request)
            reads = request.method in READS
            scope = f"{area}:{'read' if reads else 'write'}"
            if not token.may(scope):
                raise RequestRefused(403, "scope_missing", f"the token {token.name} is not for {scope}")
            role = roles.reads if reads else roles.acts
            if isinstance(token, Bearer) and not token.has(role):
                raise RequestRefused(
                    403, "role", f"this needs the role {role}, and that of {token.name} is {token.role}"
                )
            pace = of_users if isinstance(token, Bearer) else paces[token.name]
            if pace.takes(token.name):
                raise RequestRefused(429, "too_many", f"more than {token.requests_per_minute} requests in a minute")
            remember(token)

        return check

    return of


async def token_of(app: App, request: Request) -> Caller:
    """The token that a request came with, of the settings or of a user. Raises `RequestRefused`."""
    scheme, _, said = request.headers.get("authorization", "").partition(" ")
    given, tokens = said.strip() if scheme.lower() == "bearer" else "", app.settings.web.all_tokens
    found = [one for one in tokens if one.is_this(given)]  # all are compared: the time tells nothing
    token: Caller | None = found[0] if found else await bearer(app, given)
    if token is None:
        raise _nobodys(tokens, given)
    return token


def _nobodys(tokens: tuple[ApiToken, ...], given: str) -> RequestRefused:
    if not tokens and not given.startswith(PREFIX):
        said = "there is no token: set [[web.tokens]] or web.api_token, or make one in the console, and send it as"
        return RequestRefused(403, "api_off", f"{said} `Authorization: Bearer`")
    if not given:
        return RequestRefused(401, "token_missing", "send the API token as `Authorization: Bearer TOKEN`")
    return RequestRefused(401, "token_wrong", "this is no API token of this deployment")
