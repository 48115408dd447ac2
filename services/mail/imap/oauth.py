"""Access tokens for XOAUTH2: the refresh token grant (RFC 6749, section 6), asked for at each connection."""

from __future__ import annotations

import httpx

from services.core.errors import Temporary
from services.core.settings import OAuthSettings
from services.mail.imap.token_store import TokenMissing, TokenStore

TIMEOUT_S = 20.0


class TokenRefused(Temporary):
    """The token server did not give an access token."""


async def access_token(
    oauth: OAuthSettings, tokens: TokenStore | None = None, transport: httpx.AsyncBaseTransport | None = None
) -> str:
    """A fresh access token; a refresh token that the server renewed is kept. Raises `TokenRefused`, `TokenMissing`.

    The errors say what the server said, never a secret.
    """
    refresh = oauth.refresh_token.get_secret_value()
    if oauth.refresh_token_file:
        if tokens is None:
            raise TokenMissing
        refresh = tokens.read(oauth.refresh_token_file)
    form = {
        "grant_type": "refresh_token",
        "client_id": oauth.client_id,
        "client_secret": oauth.client_secret.get_secret_value(),
        "refresh_token": refresh,
        "scope": oauth.scope,
    }
    try:
        async with httpx.AsyncClient(timeout=TIMEOUT_S, transport=transport) as client:
            answer = await client.post(oauth.token_url, data={name: value for name, value in form.items() if value})
            said = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise TokenRefused(f"{oauth.token_url} gave no JSON answer: {error!r}") from error
    token = said.get("access_token") if isinstance(said, dict) else None
    if not isinstance(token, str) or not token:
        reason = said.get("error", "no reason") if isinstance(said, dict) else "no JSON object"
        raise TokenRefused(f"{oauth.token_url} answered {answer.status_code}: {reason}")
    renewed = said.get("refresh_token")
    if tokens and oauth.refresh_token_file and isinstance(renewed, str) and renewed not in ("", refresh):
        tokens.write(oauth.refresh_token_file, renewed)
    return token
