"""A colleague answers from the same mailbox, in their own mail program: the agent sees it in Sent and keeps still."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from services.core.app import App
from services.operations.idle import until_idle
from tests.flow.scenario import AUTHSERV, agent, reflection, rows, until_mails, verified
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.dovecot import Dovecot, running_dovecot
from tests.support.letters import letter
from tests.support.scripted_model import ScriptedModel
from tests.support.scripted_replies import reply_tool
from tests.support.smtp_server import SmtpServer

pytestmark = pytest.mark.dovecot

SUPPORT = "support@ourcompany.example"
JOHN = "John Miller <john@acme.example>"


@pytest.fixture(scope="module")
def dovecot() -> Iterator[Dovecot]:
    with running_dovecot() as server:
        yield server


def question(number: int, text: str, **parts: str) -> bytes:
    return verified(text, sender=JOHN, message_id=f"<q{number}@acme.example>", **parts)


def by_hand(number: int, text: str, to: str = JOHN, **parts: str) -> bytes:
    return letter(text, sender=f"Grace <{SUPPORT}>", to=to, message_id=f"<grace{number}@laptop.local>", **parts)


async def watching(app: App) -> None:
    """Wait until both folders are being read."""
    async with asyncio.timeout(120):
        while len(await rows(app, "SELECT folder FROM inbox_positions")) < 2:
            await asyncio.sleep(0.05)


async def told(app: App) -> list[tuple[str, str]]:
    return [
        (row["role"], row["text"].strip()) for row in await rows(app, "SELECT * FROM conversation ORDER BY version")
    ]


async def test_a_colleagues_reply_closes_the_turn_and_stays_in_the_conversation(
    dovecot: Dovecot, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """No reply of ours follows theirs; the next mail is answered in the same thread, knowing what they wrote."""
    dovecot.maildir("team")
    dovecot.maildir("team", "Sent")
    async with SmtpServer() as server, ScriptedModel() as model:
        model.script(
            agent(
                lambda seen: reply_tool("reply", {"text": "By the agent.", "state": "awaiting_reply"}),
                lambda seen: reflection("So."),
            )
        )
        inbox: dict[str, Any] = {"name": "support", "address": SUPPORT, "imap": dovecot.imap("team").model_dump()}
        settings = settings_for(
            stack, database, topic_prefix, tmp_path,
            own_authserv_ids=[AUTHSERV],
            threads={"quiet_s": 4},
            model={"provider": "anthropic", "api_key": "k", "base_url": model.base_url, "max_retries": 1},
            inboxes=[{**inbox, "smtp": {"port": server.port}}],
        )  # fmt: skip
        async with running_brokerless(settings) as app:
            await watching(app)
            dovecot.deliver("team", question(1, "Where is my order?"))
            await until_read(app, 1)
            dovecot.deliver("team", by_hand(1, "It left today.", in_reply_to="<q1@acme.example>"), folder="Sent")
            await until_mails(app, 2)
            assert await told(app) == [("customer", "Where is my order?"), ("human", "It left today.")]
            assert [row["outcome"] for row in await rows(app, "SELECT outcome FROM turns")] == ["human_took_over"]
            assert [row["state"] for row in await rows(app, "SELECT state FROM threads")] == ["awaiting_reply"]
            assert server.accepted == []

            dovecot.deliver("team", question(2, "And when is it here?", in_reply_to="<grace1@laptop.local>"))
            await until_mails(app, 3)
            await until_idle(app)
            assert [role for role, _ in await told(app)] == ["customer", "human", "customer", "agent"]
            assert len(await rows(app, "SELECT thread_id FROM threads")) == 1
            asked = [seen for seen in model.requests if "And when is it here?" in seen.text]
            assert "It left today." in asked[0].text

            expert = by_hand(2, "Please look.", to="expert@elsewhere.example", in_reply_to="<q2@acme.example>")
            dovecot.deliver("team", expert, folder="Sent")
            await until_mails(app, 4)
            verdicts = await rows(
                app, "SELECT verdict, filter FROM mails WHERE filter = 'sent_folder' ORDER BY received_at"
            )
    assert [row["verdict"] for row in verdicts] == ["colleague", "park"], "our own copy in Sent is no colleague's mail"
    assert [one.recipient for one in server.accepted] == ["john@acme.example"]
    assert list((dovecot.maildir("team", "Sent") / "cur").iterdir()), "our reply has a copy in Sent"


async def test_sent_may_be_read_before_the_inbox(
    dovecot: Dovecot, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Where the server shows the colleague's answer first, the question that comes after it is answered already."""
    dovecot.maildir("late")
    dovecot.maildir("late", "Sent")
    async with SmtpServer() as server:
        inbox = {"name": "support", "address": SUPPORT, "imap": dovecot.imap("late").model_dump()}
        settings = settings_for(
            stack, database, topic_prefix, tmp_path,
            own_authserv_ids=[AUTHSERV],
            inboxes=[{**inbox, "smtp": {"port": server.port}}],
        )  # fmt: skip
        async with running_brokerless(settings) as app:
            await watching(app)
            dovecot.deliver("late", by_hand(1, "It left today.", in_reply_to="<q1@acme.example>"), folder="Sent")
            await until_mails(app, 1)
            assert await told(app) == []
            dovecot.deliver("late", question(1, "Where is my order?"))
            await until_mails(app, 2)
            assert sorted(await told(app)) == [("customer", "Where is my order?"), ("human", "It left today.")]
            assert [row["outcome"] for row in await rows(app, "SELECT outcome FROM turns")] == ["human_took_over"]
    assert server.accepted == []


async def until_read(app: App, count: int) -> None:
    """Wait until so many mails have been read, whatever waits for them."""
    async with asyncio.timeout(120):
        while len(await rows(app, "SELECT mail_id FROM conversation")) < count:
            await asyncio.sleep(0.05)
