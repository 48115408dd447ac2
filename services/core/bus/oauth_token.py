"""Tokens for OAUTHBEARER: by the client credentials grant (RFC 6749, section 4.4), or from a file that others renew.

Invariants
- A token is asked for again before it expires, once for all clients of the process.
- Faust consumes in threads with loops of their own: nothing here belongs to a loop.
"""

from __future__ import annotations

import asyncio
import threading

from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import KafkaConnectionError

from services.core.clock import monotonic
from services.core.settings import KafkaOAuth

TIMEOUT_S = 15.0
RENEWED_AT = 0.8  # of a token's life
SHORT_LIFE_S = 300.0  # of a token whose server does not say when it expires


class NoToken(KafkaConnectionError):  # type: ignore[misc]
    """No token could be got: the brokers cannot be asked anything, for now."""


class TokenSource(AbstractTokenProvider):  # type: ignore[misc]
    """Gives aiokafka and Faust their token."""

    def __init__(self, oauth: KafkaOAuth) -> None:
        self._oauth = oauth
        self._lock = threading.Lock()
        self._token, self._renew_at = "", 0.0

    async def token(self) -> str:
        """A token that is valid now. Raises `NoToken`."""
        return await asyncio.to_thread(self._get)

    def _get(self) -> str:
        if self._oauth.token_file is not None:
            try:
                return self._oauth.token_file.read_text(encoding="utf-8").strip()
            except OSError as error:
                raise NoToken(f"kafka.oauth.token_file, {self._oauth.token_file}: {error.strerror}") from None
        with self._lock:
            if monotonic() >= self._renew_at:
                self._token, life_s = self._ask()
                self._renew_at = monotonic() + life_s * RENEWED_AT
            return self._token

    def _ask(self) -> tuple[str, float]:
        """A new token, and for how many seconds it is valid."""
        import httpx  # with Authlib half a second, which no command pays that needs no token
        from authlib.integrations.base_client.errors import OAuthError
        from authlib.integrations.httpx_client import OAuth2Client

        oauth = self._oauth
        try:
            secret = oauth.client_secret.get_secret_value()
            with OAuth2Client(oauth.client_id, secret, scope=oauth.scope or None, timeout=TIMEOUT_S) as client:
                answer = client.fetch_token(oauth.token_url, grant_type="client_credentials")
            return str(answer["access_token"]), float(answer.get("expires_in") or SHORT_LIFE_S)
        except (OAuthError, httpx.HTTPError, KeyError, ValueError) as error:
            said = f"{type(error).__name__}: {error}"
            raise NoToken(f"{oauth.token_url} gave no token ({said}); look at kafka.oauth") from None
