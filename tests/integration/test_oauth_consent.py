"""A mailbox is signed in by a person's consent; its refresh token is kept sealed, and renewed where the provider does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from services.core.settings import OAuthSettings, Settings
from services.mail.imap import TokenMissing, access_token, token_store
from services.operations.oauth import Client, ConsentRefused, by_browser, by_device
from tests.support.oauth_provider import REFRESH, OAuthServer

ME = Client("me")


@pytest.fixture
async def server() -> AsyncIterator[OAuthServer]:
    async with OAuthServer() as running:
        yield running


class Browser:
    """Opens the address that it is shown, and follows where it leads; first it asks for an icon, as browsers do."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Task[None]] = []
        self.said: list[str] = []

    def __call__(self, said: str) -> None:
        self.said.append(said)
        if said.startswith("http"):
            self.tasks.append(asyncio.create_task(self._open(said)))

    async def _open(self, address: str) -> None:
        async with httpx.AsyncClient(follow_redirects=True) as http:
            home = httpx.URL(httpx.URL(address).params["redirect_uri"])
            assert (await http.get(home.join("/favicon.ico"))).status_code == 404
            assert (await http.get(address)).status_code == 200


async def test_consent_in_a_browser_gives_a_refresh_token(server: OAuthServer) -> None:
    """The code comes back to a loopback address, and counts only with the verifier of this very question (PKCE)."""
    browser = Browser()
    assert await by_browser(server.provider(), ME, browser, timeout_s=120) == REFRESH
    assert "client_secret" not in server.forms[0]
    await asyncio.gather(*browser.tasks)


@pytest.mark.parametrize(("refuses", "says"), [("access_denied", "access_denied"), ("server_error", "server_error")])
async def test_a_refused_consent_is_said_in_the_providers_words(server: OAuthServer, refuses: str, says: str) -> None:
    """No token, and the reason."""
    server.refuses = refuses
    browser = Browser()
    with pytest.raises(ConsentRefused, match=says):
        await by_browser(server.provider(), ME, browser, timeout_s=20)
    await asyncio.gather(*browser.tasks)


async def test_an_answer_to_another_question_is_no_consent(server: OAuthServer) -> None:
    """Somebody who gets the browser to call the loopback address with a code of theirs signs nobody in."""

    def forge(address: str) -> None:
        home = httpx.URL(address).params["redirect_uri"]
        tasks.append(asyncio.create_task(call(f"{home}?code=evil&state=guessed")))

    async def call(url: str) -> None:
        async with httpx.AsyncClient() as http:
            await http.get(url)

    tasks: list[asyncio.Task[None]] = []
    with pytest.raises(ConsentRefused, match="another question"):
        await by_browser(server.provider(), ME, forge, timeout_s=20)
    await asyncio.gather(*tasks)
    assert server.forms == []


async def test_nobody_consents(server: OAuthServer) -> None:
    """The wait ends, and says so."""
    with pytest.raises(ConsentRefused, match="nobody consented"):
        await by_browser(server.provider(), ME, lambda said: None, timeout_s=0.1)


async def test_consent_by_a_code_on_another_device(server: OAuthServer) -> None:
    """The person is shown address and code, and the provider is asked until they have decided."""
    server.pending = 2
    said: list[str] = []
    assert await by_device(server.provider(), Client("me", "secret"), said.append, timeout_s=120) == REFRESH
    assert said == ["Open https://x.example/device and enter the code ABCD-EFGH"]
    assert len(server.forms) == 3
    assert server.forms[0]["client_secret"] == "secret"


async def test_a_provider_that_was_gone_when_the_code_was_handed_in_ended_in_a_traceback(server: OAuthServer) -> None:
    """It is said, with the address."""
    browser = Browser()
    gone = replace(server.provider(), token_url="http://127.0.0.1:1/token")
    with pytest.raises(ConsentRefused, match="did not answer"):
        await by_browser(gone, ME, browser, timeout_s=60)
    await asyncio.gather(*browser.tasks)


async def test_a_provider_that_gives_no_refresh_token_signs_nobody_in(server: OAuthServer) -> None:
    """An access token alone would last an hour."""
    server.gives_refresh = False
    with pytest.raises(ConsentRefused, match="no refresh token"):
        await by_device(server.provider(), ME, lambda said: None, timeout_s=20)


async def test_the_token_is_sealed_and_a_renewed_one_takes_its_place(server: OAuthServer, tmp_path: Path) -> None:
    """The file shows nothing; with another master key, or without the file, the error says what to do."""
    store = token_store(Settings(home=tmp_path))
    store.write("oauth/support.token", REFRESH)
    file = tmp_path / "oauth" / "support.token"
    assert REFRESH.encode() not in file.read_bytes()
    assert file.stat().st_mode & 0o077 == 0
    oauth = OAuthSettings(
        token_url=server.provider().token_url, client_id="me", refresh_token_file="oauth/support.token"
    )
    server.renews = True
    assert await access_token(oauth, store) == "a"
    assert server.forms[-1]["refresh_token"] == REFRESH
    assert store.read("oauth/support.token") == "renewed"
    with pytest.raises(TokenMissing, match="another master key"):
        token_store(Settings(home=tmp_path, master_keys="ab" * 32)).read("oauth/support.token")
    with pytest.raises(TokenMissing, match="inbox login"):
        store.read("oauth/other.token")
    with pytest.raises(TokenMissing, match="below home"):
        store.read("../outside")


def test_a_login_needs_one_token() -> None:
    """Neither both nor none."""
    for wrong in ({}, {"refresh_token": "x", "refresh_token_file": "y"}):
        with pytest.raises(ValueError, match="one of refresh_token and refresh_token_file"):
            OAuthSettings.model_validate({"token_url": "https://x.example", "client_id": "me", **wrong})
