"""The product at work, with a settings file that an operator could have written.

Every processor and edge runs, in the surroundings' thread; mail comes in by its doors and its answers go out by SMTP. A
log in memory stands in the broker's place (`support/brokerless.py`), for no decision about trust is made there, and its
resolver asks the test's name server.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
import pytest

from deploy.local import Endpoints
from deploy.local.ports import free_port
from services.core.app import App
from services.core.db import fetch_all
from services.core.settings import InboxSettings, LimitSettings, Settings
from services.mail.authentication.results import DnsResolver
from services.operations.deployment import stack_settings
from services.operations.idle import until_idle
from services.pipeline import NAMES
from tests.flow.scenario import AUTHSERV, WEBHOOK_KEY, signed_headers
from tests.security.surroundings import Surroundings, Zone, surroundings
from tests.support.brokerless import running_brokerless
from tests.support.stack import temporary_home

WORKSPACE = "security-suite"
DOMAIN = "ourcompany.example"
TOKEN = "the-token-of-the-security-suite"
NO_LIMIT = 100_000


@dataclass
class Product:
    """A running product: mail goes in through its doors, its tables are read as an operator's tools read them."""

    web: str
    around: Surroundings
    app: App
    http: httpx.Client
    _ids: Iterator[int] = field(default_factory=count)

    def post(self, raw: bytes, *, inbox: str = "support") -> None:
        """Bring a mail in by the signed webhook."""
        headers = signed_headers(raw, f"call-{next(self._ids)}", int(time.time()))
        answer = self.http.post(f"{self.web}/inbound/raw?inbox={inbox}", content=raw, headers=headers, timeout=180)
        assert answer.status_code == 200, answer.text

    def deliver(self, raw: bytes) -> None:
        """Put a mail into the mailbox that the product reads by IMAP."""
        mails = self.around.imap.mails
        self.around.loop.call_soon_threadsafe(mails.__setitem__, max(mails, default=0) + 1, raw)

    def settle(self, mails: int) -> None:
        """Wait until so many mails have been read, and nothing is left to do."""
        deadline = time.monotonic() + 600
        while len(self.rows("SELECT mail_id FROM mails")) < mails:
            assert time.monotonic() < deadline, f"{len(self.rows('SELECT mail_id FROM mails'))} of {mails} mails read"
            time.sleep(0.2)
        self.around.run(until_idle(self.app, timeout_s=600))

    def rows(self, query: str, **args: Any) -> list[dict[str, Any]]:
        """The rows of a query, opened."""

        async def read() -> list[dict[str, Any]]:
            async with self.app.database.reading() as conn:
                return await fetch_all(conn, query, args)

        return self.around.run(read())

    def api(self, path: str) -> Any:
        """What the API answers."""
        answer = self.http.get(f"{self.web}/api{path}", headers={"authorization": f"Bearer {TOKEN}"}, timeout=120)
        assert answer.status_code == 200, answer.text
        return answer.json()


@contextmanager
def running_product(zone: Zone, endpoints: Endpoints) -> Iterator[Product]:
    """The deployment of such a file, at work on the servers at `endpoints`."""
    with temporary_home() as folder, surroundings(zone) as around:
        port = free_port()
        config = folder / "correspondent.toml"
        config.write_text(_settings(around, port), encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CORRESPONDENT_CONFIG", str(config))
            settings = stack_settings(endpoints, folder / "var")
        with _at_work(settings, around) as app, httpx.Client() as http:
            yield Product(f"http://127.0.0.1:{port}", around, app, http)


@contextmanager
def _at_work(settings: Settings, around: Surroundings) -> Iterator[App]:
    """The deployment in the surroundings' loop, from when its door answers until the block ends."""
    begun: Future[App] = Future()
    over = asyncio.Event()

    async def work() -> None:
        resolver = DnsResolver(["127.0.0.1"], around.zone.port)
        async with running_brokerless(settings, NAMES, resolver=resolver) as app:
            async with asyncio.timeout(120):
                while not await _answers(settings.web.port):
                    await asyncio.sleep(0.05)
            begun.set_result(app)
            await over.wait()

    working = asyncio.run_coroutine_threadsafe(work(), around.loop)
    working.add_done_callback(
        lambda ended: None if begun.done() else begun.set_exception(ended.exception() or EOFError())
    )
    try:
        yield begun.result(180)
    finally:
        around.loop.call_soon_threadsafe(over.set)
        working.result(60)


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


def _settings(around: Surroundings, port: int) -> str:
    """An operator's file: four inboxes, three by webhook and one by IMAP, and nothing that makes attacks harder."""
    high = [f"{name} = {NO_LIMIT}" for name in LimitSettings.model_fields if name.startswith("unproven")]
    review = ['unproven = "review"'] if "unproven" in InboxSettings.model_fields else []
    team = ['layout = {reply_all = true, quote = "below"}']
    named = [("support", []), ("desk", review), ("team", team), ("post", [])]
    inboxes = [_inbox(name, further) for name, further in named]
    imap = (
        f'imap = {{host = "127.0.0.1", port = {around.imap.port}, username = "ann", password = "secret", tls = "none"}}'
    )
    return "\n".join(
        [
            f'workspace = "{WORKSPACE}"',
            f"own_authserv_ids = [{json.dumps(AUTHSERV)}]",
            "[threads]\nquiet_s = 0\nmax_auto_replies = 100",
            "[limits]\nthread_per_hour = 100\nsame_words = 1000",
            *high,
            f'[web]\nport = {port}\nwebhook_secret = "whsec_{WEBHOOK_KEY}"',
            f'api_token = "{TOKEN}"\nrequests_per_minute = 0',
            f'[smtp]\nhost = "127.0.0.1"\nport = {around.smtp.port}',
            f'[model]\nprovider = "anthropic"\napi_key = "test-key"\nbase_url = "{around.model.base_url}"',
            f'[kafka]\ntopic_prefix = "{WORKSPACE}."',
            *inboxes,
            imap,
        ]
    )


def _inbox(name: str, further: list[str]) -> str:
    lines = ["[[inboxes]]", f'name = "{name}"', f'address = "{name}@{DOMAIN}"', "replies_per_hour = 0", *further]
    return "\n".join(lines)
