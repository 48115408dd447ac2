"""Access tokens."""

from __future__ import annotations

import httpx
import pytest

from services.core.settings import OAuthSettings
from services.mail.imap import TokenRefused, access_token

OAUTH = OAuthSettings.model_validate(
    {
        "token_url": "https://login.example/token",
        "client_id": "me",
        "client_secret": "secret&more",
        "refresh_token": "re+fresh",
    }
)


async def test_the_refresh_token_grant_is_made() -> None:
    """The request is a form after RFC 6749, section 6, without the fields that are not set."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"access_token": "t", "expires_in": 3600})

    assert await access_token(OAUTH, transport=httpx.MockTransport(answer)) == "t"
    assert dict(httpx.QueryParams(seen[0].content.decode())) == {
        "grant_type": "refresh_token",
        "client_id": "me",
        "client_secret": "secret&more",
        "refresh_token": "re+fresh",
    }


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(400, json={"error": "invalid_grant"}),
        httpx.Response(200, json={"access_token": ""}),
        httpx.Response(200, json=["access_token"]),
        httpx.Response(502, text="<html>"),
    ],
)
async def test_no_token_is_said_without_secrets(response: httpx.Response) -> None:
    """Whatever the server answers instead of a token is a temporary error that names neither secret."""
    with pytest.raises(TokenRefused) as caught:
        await access_token(OAUTH, transport=httpx.MockTransport(lambda _: response))
    assert "re+fresh" not in str(caught.value)
    assert "secret&more" not in str(caught.value)
