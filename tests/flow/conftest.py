"""One deployment for a module of flow tests, with a scripted agent; each test writes as people of its own."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import default
from itertools import count

import pytest

from deploy.local import Endpoints
from services.core.app import App
from services.core.clock import utc_now
from services.demo.clock import SteppingClock
from services.operations.idle import until_idle
from services.receive_email.accept import accept
from tests.flow.scenario import AUTHSERV, replies_to
from tests.support.app import running_app, settings_for
from tests.support.brokerless import running_brokerless
from tests.support.reading import read_ours
from tests.support.scripted_model import ScriptedModel
from tests.support.stack import fresh_database, temporary_home

PATIENT = 1  # the inbox that waits long for another mail, however busy the machine is
_numbers = count(1)


@dataclass
class Town:
    """A running deployment, its scripted model, and its post."""

    app: App
    server: ScriptedModel
    stack: Endpoints
    domain: str
    clock: SteppingClock

    async def post(self, *mails: bytes, inbox: int = 0, settled: bool = True) -> None:
        """Bring mails in, in order; by default wait until the deployment is at rest. Who answers ours has read it."""
        if any(self._answers_ours(raw) for raw in mails):
            read_ours(self.clock)
        for raw in mails:
            key = f"{next(_numbers)}"
            await accept(self.app, self.app.settings.inboxes[inbox], raw, source="file", source_key=key)
        if settled:
            await until_idle(self.app)

    def _answers_ours(self, raw: bytes) -> bool:
        mail = message_from_bytes(raw, policy=default)
        return f"@{self.domain}>" in f"{mail['In-Reply-To']} {mail['References']}"

    def replies(self, address: str) -> list[str]:
        """The texts of our mails to one address, oldest first."""
        mails = replies_to(self.stack.outbox, address, self.domain)
        return [mail.get_body(("plain",)).get_content() for mail in mails]


@pytest.fixture(scope="module")
async def town(request: pytest.FixtureRequest, stack: Endpoints, template_database: str) -> AsyncIterator[Town]:
    """A deployment with three inboxes that believes its own mail server's Authentication-Results.

    Of who is not proven, one gives them its fixed reply, and in another a person reads what the model drafts. The
    third has a memory and documents of its own. The log is in memory, but for a module that says `OVER_A_BROKER = True`.
    """
    number = next(_numbers)
    domain = f"town{os.getpid()}-{number}.example"
    inboxes = [
        {"name": "support", "address": f"support@{domain}"},
        {"name": "billing", "address": f"billing@{domain}", "reply": {"quiet_s": 6}, "unproven": "review"},
        {"name": "press", "address": f"press@{domain}", "memory": {"space": "press"}},
    ]
    with fresh_database(stack.database, template=template_database) as database, temporary_home() as home:
        async with ScriptedModel() as server:
            settings = settings_for(
                stack,
                database,
                f"town{os.getpid()}-{number}.",
                home,
                own_authserv_ids=[AUTHSERV],
                threads={"quiet_s": 1},
                model={"provider": "anthropic", "api_key": "test-key", "base_url": server.base_url, "max_retries": 1},
                inboxes=inboxes,
                canned_answers=[{"name": "about", "text": "Dear {name|customer}, you wrote about {subject}."}],
            )
            running = running_app if getattr(request.module, "OVER_A_BROKER", False) else running_brokerless
            clock = SteppingClock(utc_now())
            async with running(settings, now=clock) as app:
                yield Town(app, server, stack, domain, clock)
