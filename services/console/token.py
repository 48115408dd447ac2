"""Who may use the API: the bearer of the token of the settings (RFC 6750), and nobody where there is none."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from services.core.settings import WebSettings
from services.core.web import Refused

BEARER = HTTPBearer(auto_error=False, description="The token of `web.api_token`.")


def bearer_of(web: WebSettings) -> Callable[..., Awaitable[None]]:
    """A dependency that refuses every request without the right token."""

    async def check(given: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]) -> None:
        expected = web.api_token.get_secret_value()
        if not expected:
            raise Refused(403, "api_off", "the API is off: set web.api_token, and send it as `Authorization: Bearer`")
        if given is None:
            raise Refused(401, "token_missing", "send the API token as `Authorization: Bearer TOKEN`")
        if not hmac.compare_digest(given.credentials.encode(), expected.encode()):
            raise Refused(401, "token_wrong", "this is not the API token of this house")

    return check
