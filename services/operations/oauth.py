"""Asking a person's consent to use a mailbox of Google or Microsoft: in this machine's browser, or by a code elsewhere.

Authlib makes and reads the OAuth messages. The browser flow is RFC 8252 (a loopback address) with PKCE (RFC 7636), the
device flow RFC 8628. Both end in a refresh token; no secret is printed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import httpx2
from authlib.common.security import generate_token
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client

from services.core.errors import Permanent
from services.operations.oauth_providers import Provider

TIMEOUT_S = 20.0
CONSENT_S = 600.0  # how long a person may take
MOST_REQUEST = 16 * 1024  # bytes of the browser's call back
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
PAGE = "<!DOCTYPE html><meta charset=utf-8><title>Correspondent</title><p>{said}</p><p>You may close this window.</p>"


class ConsentRefused(Permanent):
    """The provider gave no refresh token."""


@dataclass(frozen=True, slots=True)
class Client:
    """What the provider knows the application by. `tenant` is Microsoft's directory."""

    client_id: str
    client_secret: str = ""
    tenant: str = "common"

    def at(self, url: str) -> str:
        """A provider's address, for this client's tenant."""
        return url.replace("{tenant}", self.tenant)


Show = Callable[[str], None]


async def by_browser(provider: Provider, client: Client, show: Show, *, timeout_s: float = CONSENT_S) -> str:
    """A refresh token, consented to in a browser on this machine; `show` is given the address to open.

    Raises `ConsentRefused`.
    """
    called: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    server = await asyncio.start_server(lambda reader, writer: _called_back(reader, writer, called), "127.0.0.1", 0)
    async with server:
        redirect = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        verifier = generate_token(64)
        async with _session(provider, client, redirect_uri=redirect, code_challenge_method="S256") as session:
            address, state = session.create_authorization_url(
                client.at(provider.authorize_url), code_verifier=verifier, **dict(provider.extra)
            )
            show(address)
            try:
                answer = await asyncio.wait_for(called, timeout_s)
            except TimeoutError:
                raise ConsentRefused(f"nobody consented within {timeout_s:g} s") from None
            if httpx.URL(answer).params.get("state") != state:
                raise ConsentRefused("the browser came back with an answer to another question; try again")
            return await _refresh_token(
                session, client.at(provider.token_url), authorization_response=answer, code_verifier=verifier
            )


async def by_device(provider: Provider, client: Client, show: Show, *, timeout_s: float = CONSENT_S) -> str:
    """A refresh token, consented to on any device with the code that `show` is given. Raises `ConsentRefused`."""
    if not provider.device_url:
        raise ConsentRefused(f"{provider.name} grants no mailbox by a device code; leave --device out")
    begun = await _begin(client.at(provider.device_url), {"client_id": client.client_id, "scope": provider.scope})
    show(f"Open {begun['verification_uri']} and enter the code {begun['user_code']}")
    url, code = client.at(provider.token_url), begun["device_code"]
    wait_s = float(begun.get("interval", 5))
    lasts_s = min(timeout_s, float(begun.get("expires_in", timeout_s)))
    try:
        async with asyncio.timeout(lasts_s), _session(provider, client) as session:
            while True:
                await asyncio.sleep(wait_s)
                try:
                    return await _refresh_token(session, url, grant_type=DEVICE_GRANT, device_code=code)
                except _NotYet as not_yet:
                    wait_s += 5 if not_yet.slower else 0
    except TimeoutError:
        raise ConsentRefused(f"nobody entered the code within {lasts_s:g} s") from None


class _NotYet(Exception):
    """The person has not decided yet; `slower` asks for longer pauses (RFC 8628, section 3.5)."""

    def __init__(self, *, slower: bool) -> None:
        self.slower = slower


def _session(provider: Provider, client: Client, **given: Any) -> AsyncOAuth2Client:
    method = "client_secret_post" if client.client_secret else "none"
    return AsyncOAuth2Client(
        client.client_id,
        client.client_secret or None,
        scope=provider.scope,
        token_endpoint_auth_method=method,
        timeout=TIMEOUT_S,
        **given,
    )


async def _refresh_token(session: AsyncOAuth2Client, url: str, **grant: Any) -> str:
    try:
        token = await session.fetch_token(url, **grant)
    except OAuthError as error:
        if error.error in ("authorization_pending", "slow_down"):
            raise _NotYet(slower=error.error == "slow_down") from None
        raise ConsentRefused(f"the provider said {error.error}: {error.description or 'no reason'}"[:500]) from None
    except (httpx2.HTTPError, ValueError) as error:  # Authlib's HTTP
        raise ConsentRefused(f"{url} did not answer as it should: {type(error).__name__}") from None
    refresh = token.get("refresh_token") if isinstance(token, dict) else None
    if not isinstance(refresh, str) or not refresh:
        raise ConsentRefused("the provider gave no refresh token: the scope has to allow offline access")
    return refresh


async def _begin(url: str, form: dict[str, str]) -> dict[str, Any]:
    try:
        async with httpx.AsyncClient(timeout=TIMEOUT_S) as http:
            said = (await http.post(url, data=form)).json()
    except (httpx.HTTPError, ValueError) as error:
        raise ConsentRefused(f"{url} did not answer as it should: {type(error).__name__}") from None
    needed = ("device_code", "user_code", "verification_uri")
    if not isinstance(said, dict) or not all(isinstance(said.get(name), str) for name in needed):
        reason = said.get("error", "no code") if isinstance(said, dict) else "no JSON object"
        raise ConsentRefused(f"the provider gave no code: {reason}"[:500])
    return said


async def _called_back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, called: asyncio.Future[str]) -> None:
    """One call of the browser: that with an answer ends the wait, any other (a favicon) is told that it is nothing."""
    try:
        line = (await asyncio.wait_for(reader.readline(), TIMEOUT_S))[:MOST_REQUEST].decode("latin-1").split(" ")
        target = line[1] if len(line) > 1 else ""
        answers = "code=" in target or "error=" in target
        if answers and not called.done():
            called.set_result(f"http://127.0.0.1{target}")
        body = PAGE.format(said="Thank you." if answers else "There is nothing here.").encode()
        status = "200 OK" if answers else "404 Not Found"
        head = (
            f"HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        writer.write(head.encode() + b"\r\n\r\n" + body)
        await writer.drain()
    except (OSError, TimeoutError, ValueError):
        pass
    finally:
        writer.close()
