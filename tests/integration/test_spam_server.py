"""rspamd over its HTTP API: what it calls spam is set aside, and that it is away stops no mail."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from deploy.local import Endpoints
from schemas.events.mail import EmailRead
from services.core.app import App
from services.core.settings import Settings, SpamSettings
from tests.integration.test_read_email import read_in
from tests.support.app import settings_for
from tests.support.brokerless import opened_brokerless
from tests.support.letters import letter


@dataclass
class Rspamd:
    """A server that answers as it is told, and keeps what it was asked."""

    answer: Any = field(default_factory=dict)
    status: int = 200
    asked: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""

    async def handle(self, request: web.Request) -> web.Response:
        self.asked.append((request.path, dict(request.headers), await request.read()))
        body = self.answer if isinstance(self.answer, str) else json.dumps(self.answer)
        return web.Response(text=body, status=self.status, content_type="application/json")


@asynccontextmanager
async def rspamd() -> AsyncIterator[Rspamd]:
    """A running one."""
    server = Rspamd()
    web_app = web.Application()
    web_app.router.add_post("/{path:.*}", server.handle)
    runner = web.AppRunner(web_app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    async with opened_brokerless(settings) as opened:
        yield opened


async def verdict(app: App, number: int, **spam: object) -> EmailRead:
    """What becomes of one mail with these settings."""
    settings = Settings.model_validate({**app.settings.model_dump(), "spam": SpamSettings.model_validate(spam)})
    raw = letter(f"Mail {number}", message_id=f"<s{number}@acme.example>")
    return await read_in(replace(app, settings=settings), raw)


async def test_what_rspamd_calls_spam_is_set_aside(app: App) -> None:
    """The mail is posted as it came; an action of the list parks it with action and score, any other lets it pass."""
    async with rspamd() as server:
        said = {"rspamd_url": server.url + "/", "rspamd_password": "q1"}
        for number, (action, kind) in enumerate(
            [("reject", "park"), ("add header", "park"), ("greylist", "answer"), ("no action", "answer")]
        ):
            server.answer = {"action": action, "score": 12.34, "required_score": 6, "symbols": {}, "is_skipped": False}
            event = await verdict(app, number, **said)
            assert event.verdict.kind == kind, action
        assert {path for path, _, _ in server.asked} == {"/checkv2"}
        assert {head["Password"] for _, head, _ in server.asked} == {"q1"}
        assert b"Mail 0" in server.asked[0][2]
        server.answer = {"action": "reject", "score": 12.34}
        event = await verdict(app, 9, **said, actions=["add header"])
        assert event.verdict.kind == "answer"
        event = await verdict(app, 10, **said)
        assert (event.verdict.filter, event.verdict.reason) == ("spam", "rspamd: reject (score 12.3)")


@pytest.mark.parametrize(
    ("answer", "status"), [("{", 200), ("[]", 200), ({"score": 1}, 200), ("x" * 3_000_000, 200), ({}, 503)]
)
async def test_an_rspamd_that_fails_stops_no_mail(app: App, answer: object, status: int) -> None:
    """By default such a mail is answered; where the settings say so, a person looks."""
    async with rspamd() as server:
        server.answer, server.status = answer, status
        assert (await verdict(app, 1, rspamd_url=server.url)).verdict.kind == "answer"
        assert (await verdict(app, 2, rspamd_url=server.url, unanswered="human")).verdict.kind == "human"
    assert (await verdict(app, 3, rspamd_url=server.url, timeout_s=1)).verdict.kind == "answer"


async def test_without_a_server_nobody_is_asked(app: App) -> None:
    """The default: the marks of the receiving server alone count."""
    assert (await verdict(app, 1)).verdict.kind == "answer"
    with pytest.raises(ValueError, match="http or https"):
        SpamSettings(rspamd_url="127.0.0.1:11333")
