"""OAuth of mailboxes: an access token at each connection, and refresh tokens in sealed files below `home`.

The files are sealed with the master key: a copied folder opens no mailbox. Every process of a deployment needs the same
folder and the same master keys. Providers that renew the refresh token at each use (Microsoft does) have the new one
written in its place; the last writer wins, and each of them is valid.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

from services.core.errors import Permanent, Temporary
from services.core.keys.aead import NotAuthentic, seal, unseal
from services.core.keys.master import MasterKeys, read_master_keys
from services.core.settings import OAuthSettings, Settings


class TokenMissing(Permanent):
    """There is no refresh token that this deployment can read; `correspondent inbox login NAME` gets one."""


@dataclass(frozen=True, slots=True)
class TokenStore:
    """The sealed files. `keys` are read when they are needed: the first start makes them."""

    home: Path
    keys: Callable[[], MasterKeys]

    def read(self, name: str) -> str:
        """The token in a file. Raises `TokenMissing`."""
        try:
            box = self._path(name).read_bytes()
        except OSError as error:
            raise TokenMissing(f"{self._path(name)} cannot be read; `correspondent inbox login` writes it") from error
        for secret in self.keys().secrets:
            try:
                return unseal(secret, box, name.encode()).decode()
            except NotAuthentic:
                continue
        raise TokenMissing(f"{self._path(name)} was sealed with another master key; `correspondent inbox login` again")

    def write(self, name: str, token: str) -> None:
        """Put a token into its file, in one step, readable by its owner alone."""
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        number, aside = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
        with os.fdopen(number, "wb") as file:
            file.write(seal(self.keys().secrets[0], token.encode(), name.encode()))
        Path(aside).replace(path)

    def _path(self, name: str) -> Path:
        path = (self.home / name).resolve()
        if not path.is_relative_to(self.home.resolve()):
            raise TokenMissing(f"{name} does not lie below home")
        return path


def token_store(settings: Settings) -> TokenStore:
    """The deployment's."""
    given = settings.master_keys.get_secret_value()
    return TokenStore(Path(settings.home), lambda: read_master_keys(Path(settings.home), given))


# Access tokens for XOAUTH2: the refresh token grant (RFC 6749, section 6), asked for at each connection.
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
