"""The product, started by its own command on the embedded stack, with a settings file that an operator could have written.

Its DNS is the test's: a `sitecustomize` on its path points dnspython at a name server of ours. Nothing else is replaced.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from deploy.local import running_endpoints
from deploy.local.ports import free_port
from services.core.app import App, open_app
from services.core.db import fetch_all
from services.core.settings import InboxSettings, LimitSettings
from services.operations.deployment import stack_settings
from services.operations.settle import settle
from tests.flow.scenario import AUTHSERV, WEBHOOK_KEY, signed_headers
from tests.security.surroundings import Surroundings, Zone, surroundings
from tests.support.stack import temporary_home

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from services.cli.main import main; main()"]
DOMAIN = "ourcompany.example"
TOKEN = "the-token-of-the-security-suite"
RESOLVER = """
import dns.resolver
_made = dns.resolver.Resolver.__init__
def _ours(self, *args, **kwargs):
    _made(self, configure=False)
    self.nameservers, self.port = ["127.0.0.1"], {port}
dns.resolver.Resolver.__init__ = _ours
"""
NO_LIMIT = 100_000


@dataclass
class Product:
    """A running product: mail goes in through its doors, its tables are read as an operator's tools read them."""

    home: Path
    web: str
    around: Surroundings
    app: App
    _ids: Iterator[int] = field(default_factory=count)

    def post(self, raw: bytes, *, inbox: str = "support") -> None:
        """Bring a mail in by the signed webhook."""
        headers = signed_headers(raw, f"call-{next(self._ids)}", int(time.time()))
        answer = httpx.post(f"{self.web}/inbound/raw?inbox={inbox}", content=raw, headers=headers, timeout=180)
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
        self.around.run(settle(self.app, timeout_s=600))

    def rows(self, query: str, **args: Any) -> list[dict[str, Any]]:
        """The rows of a query, opened."""

        async def read() -> list[dict[str, Any]]:
            async with self.app.database.reading() as conn:
                return await fetch_all(conn, query, args)

        return self.around.run(read())

    def api(self, path: str) -> Any:
        """What the API answers."""
        answer = httpx.get(f"{self.web}/api{path}", headers={"authorization": f"Bearer {TOKEN}"}, timeout=120)
        assert answer.status_code == 200, answer.text
        return answer.json()


@contextmanager
def running_product(zone: Zone) -> Iterator[Product]:
    """`correspondent up` in a folder of its own, at work."""
    with temporary_home() as folder, surroundings(zone) as around:
        port = free_port()
        config = folder / "correspondent.toml"
        config.write_text(_settings(around, port), encoding="utf-8")
        (folder / "site").mkdir()
        (folder / "site" / "sitecustomize.py").write_text(RESOLVER.format(port=zone.port), encoding="utf-8")
        with _up(folder, port):
            yield from _product(folder, port, around)


def _product(folder: Path, port: int, around: Surroundings) -> Iterator[Product]:
    endpoints = running_endpoints(folder / "var")
    assert endpoints is not None
    before = os.environ.get("CORRESPONDENT_CONFIG")
    os.environ["CORRESPONDENT_CONFIG"] = str(folder / "correspondent.toml")
    try:
        opening = open_app(stack_settings(endpoints, (folder / "var").resolve()))
    finally:
        os.environ.pop("CORRESPONDENT_CONFIG")
        if before is not None:
            os.environ["CORRESPONDENT_CONFIG"] = before
    app = around.run(opening.__aenter__())
    try:
        yield Product(folder, f"http://127.0.0.1:{port}", around, app)
    finally:
        around.run(opening.__aexit__(None, None, None))


@contextmanager
def _up(folder: Path, port: int) -> Iterator[None]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CORRESPONDENT_")}
    environment = {**kept, "PYTHONPATH": f"{folder / 'site'}:{ROOT}", "NO_COLOR": "1"}
    with (folder / "up.log").open("w") as log:
        process = subprocess.Popen(
            [*COMMAND, "up"], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        _until_ready(process, port, folder / "up.log")
        yield
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(60)


def _until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until it says that it is ready. Fails with its log where it ended, or takes too long."""
    deadline = time.monotonic() + 180
    while True:
        assert process.poll() is None, log.read_text()[-3000:]
        assert time.monotonic() < deadline, log.read_text()[-3000:]
        try:
            if httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=5).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.3)


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
            f"own_authserv_ids = [{json.dumps(AUTHSERV)}]",
            "[threads]\nquiet_s = 0\nmax_auto_replies = 100",
            "[limits]\nthread_per_hour = 100\nsame_words = 1000",
            *high,
            f'[web]\nport = {port}\nwebhook_secret = "whsec_{WEBHOOK_KEY}"',
            f'api_token = "{TOKEN}"\nrequests_per_minute = 0',
            f'[smtp]\nhost = "127.0.0.1"\nport = {around.smtp.port}',
            f'[model]\nprovider = "anthropic"\napi_key = "test-key"\nbase_url = "{around.model.base_url}"',
            *inboxes,
            imap,
        ]
    )


def _inbox(name: str, further: list[str]) -> str:
    lines = ["[[inboxes]]", f'name = "{name}"', f'address = "{name}@{DOMAIN}"', "replies_per_hour = 0", *further]
    return "\n".join(lines)
