"""Settings of TLS and logins: what fits together, and that no secret is ever shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aiohttp import BasicAuth, web
from aiohttp.test_utils import TestServer
from pydantic import ValidationError

from services.core.bus.broker_client import LogAccessWrong, client_arguments, faust_arguments
from services.core.bus.oauth_token import NoToken, TokenSource
from services.core.settings import KafkaOAuth, KafkaSettings

LOGIN = {"security_protocol": "SASL_SSL", "username": "mailer", "password": "a-secret"}


def test_no_secret_is_shown_by_the_settings() -> None:
    """Neither the words of the settings nor their JSON hold a password."""
    oauth = {"token_url": "https://login.example", "client_id": "c", "client_secret": "a-secret"}
    for given in (LOGIN, {"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER", "oauth": oauth}):
        settings = KafkaSettings(**given)
        assert "a-secret" not in f"{settings!r} {settings} {settings.model_dump_json()}"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"username": "mailer"}, "kafka.username needs security_protocol SASL_SSL"),
        ({"ca_file": "ca.pem"}, "kafka.ca_file needs security_protocol SSL"),
        ({"security_protocol": "SSL", "key_file": "k"}, "kafka.key_file needs cert_file"),
        ({"security_protocol": "SASL_SSL"}, "needs username and password"),
        ({**LOGIN, "password_file": "p"}, "password and password_file are both set"),
        ({**LOGIN, "sasl_mechanism": "OAUTHBEARER"}, r"OAUTHBEARER and \[kafka.oauth\] go together"),
        ({**LOGIN, "oauth": {"token_url": "https://a", "token_file": "t"}}, "one of token_url and token_file"),
        ({**LOGIN, "oauth": {"token_url": "https://a"}}, "token_url needs a client_id"),
    ],
)
def test_what_does_not_fit_together_is_said_by_its_name(wrong: dict[str, Any], said: str) -> None:
    """A login without a protocol that logs in would be ignored, and is an error."""
    with pytest.raises(ValidationError, match=said):
        KafkaSettings(**wrong)


def test_defaults_written_out_are_still_the_defaults() -> None:
    """Settings that another process was given in full are read as those that were left out."""
    assert KafkaSettings(**KafkaSettings().model_dump()) == KafkaSettings()


def test_a_password_comes_from_its_file(tmp_path: Path) -> None:
    """The file's text is the password, without its last line break; one that is not there is named."""
    file = tmp_path / "password"
    given = {"security_protocol": "SASL_SSL", "username": "mailer", "password_file": str(file)}
    with pytest.raises(ValidationError, match=r"password_file: .*No such file"):
        KafkaSettings(**given)
    file.write_text("from a file\n")
    settings = KafkaSettings(**given)
    assert client_arguments(settings)["sasl_plain_password"] == "from a file"
    assert faust_arguments(settings)["broker_credentials"].password == "from a file"


def test_a_certificate_file_that_is_none_is_named(tmp_path: Path) -> None:
    """`ca_file` and `cert_file` are told apart."""
    empty = tmp_path / "empty.pem"
    empty.touch()
    with pytest.raises(LogAccessWrong, match=r"kafka\.ca_file, .*empty\.pem"):
        client_arguments(KafkaSettings(security_protocol="SSL", ca_file=empty))
    with pytest.raises(LogAccessWrong, match=r"kafka\.cert_file, .*empty\.pem"):
        client_arguments(KafkaSettings(security_protocol="SSL", cert_file=empty))


async def test_a_token_file_is_read_at_each_login(tmp_path: Path) -> None:
    """Who keeps the token fresh writes the file; we keep none."""
    file = tmp_path / "token"
    source = TokenSource(KafkaOAuth(token_file=file))
    with pytest.raises(NoToken, match="token_file"):
        await source.token()
    for text in ("one", "two"):
        file.write_text(f"{text}\n")
        assert await source.token() == text


async def test_a_token_is_asked_for_once_and_again_before_it_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client credentials grant over HTTP; all clients of a process share the token, and no error tells a secret."""
    asked: list[str] = []

    async def give(request: web.Request) -> web.Response:
        given = BasicAuth.decode(request.headers["Authorization"])
        form = await request.post()
        if given.password != "a-secret":
            return web.json_response({"error": "invalid_client"}, status=401)
        asked.append(f"{form['grant_type']} {form['scope']} by {given.login}")
        return web.json_response({"access_token": f"token {len(asked)}", "token_type": "Bearer", "expires_in": 100})

    app = web.Application()
    app.router.add_post("/token", give)
    async with TestServer(app) as server:
        url = str(server.make_url("/token"))
        source = TokenSource(KafkaOAuth(token_url=url, client_id="c", client_secret="a-secret", scope="kafka"))
        now = [1000.0]
        monkeypatch.setattr("services.core.bus.oauth_token.monotonic", lambda: now[0])
        assert [await source.token() for _ in range(3)] == ["token 1"] * 3
        now[0] += 81
        assert await source.token() == "token 2"
        assert asked == ["client_credentials kafka by c"] * 2
        wrong = TokenSource(KafkaOAuth(token_url=url, client_id="c", client_secret="another"))
        with pytest.raises(NoToken, match=f"{url} gave no token .*invalid_client") as refused:
            await wrong.token()
        assert "another" not in str(refused.value)
