"""An inbox without a Sent folder: a colleague's answer is seen by the copy that they send us, or by an outbound hook."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from deploy.local import Endpoints
from deploy.local.ports import free_port
from services.core.app import App
from services.operations.idle import until_idle
from services.receive_email.accept import accept
from tests.flow.scenario import AUTHSERV, WEBHOOK_KEY, agent, post_signed, reflection, rows, verified
from tests.support.app import INBOX, settings_for
from tests.support.brokerless import running_brokerless
from tests.support.letters import letter
from tests.support.scripted_model import ScriptedModel
from tests.support.scripted_replies import reply_tool
from tests.support.smtp_server import SmtpServer

JOHN = "John Miller <john@acme.example>"
GRACE = "Grace Hopper <grace@ourcompany.example>"
ASKED = verified("Where is my order?", sender=JOHN, message_id="<q1@acme.example>")
VERDICTS = "SELECT verdict, filter, reason FROM mails ORDER BY received_at"


@dataclass(frozen=True, slots=True)
class Desk:
    app: App
    server: SmtpServer
    port: int

    async def post(self, raw: bytes, key: str) -> None:
        """Bring a mail in, as a webhook does."""
        await accept(self.app, self.app.settings.inboxes[0], raw, source="webhook", source_key=key)
        await until_idle(self.app)

    async def outcomes(self) -> list[str | None]:
        return [row["outcome"] for row in await rows(self.app, "SELECT outcome FROM turns ORDER BY opened_at")]

    async def said(self) -> list[tuple[str, str]]:
        found = await rows(self.app, "SELECT role, text FROM conversation ORDER BY version")
        return [(row["role"], row["text"].strip()) for row in found]


@pytest.fixture
async def desk(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Desk]:
    """A deployment in review mode, so that a draft waits while the colleague answers."""
    port = free_port()
    async with SmtpServer() as server, ScriptedModel() as model:
        model.script(
            agent(
                lambda seen: reply_tool("reply", {"text": "By the agent.", "state": "awaiting_reply"}),
                lambda seen: reflection("So."),
            )
        )
        settings = settings_for(
            stack, database, topic_prefix, tmp_path,
            own_authserv_ids=[AUTHSERV],
            send={"approval": "review"},
            smtp={"host": "127.0.0.1", "port": server.port},
            web={"port": port, "webhook_secret": f"whsec_{WEBHOOK_KEY}"},
            model={"provider": "anthropic", "api_key": "k", "base_url": model.base_url},
            inboxes=[{**INBOX, "colleagues": ["*@ourcompany.example"]}],
        )  # fmt: skip
        async with running_brokerless(settings) as app:
            yield Desk(app, server, port)


def answer(**parts: str) -> dict[str, str]:
    return {"to": JOHN, "in_reply_to": "<q1@acme.example>", "message_id": "<g1@laptop.local>", **parts}


async def test_a_colleagues_blind_copy_closes_the_turn(desk: Desk) -> None:
    """Grace answers from her own mailbox and puts the inbox on Bcc: the draft is gone, her words are in the thread."""
    await desk.post(ASKED, "1")
    assert await desk.outcomes() == [None]
    await desk.post(verified("It left today.", sender=GRACE, **answer()), "2")
    assert await desk.outcomes() == ["human_took_over"]
    assert await desk.said() == [("customer", "Where is my order?"), ("human", "It left today.")]
    assert desk.server.accepted == []


async def test_a_copy_that_came_before_the_question_is_read_again(desk: Desk) -> None:
    """Order of arrival does not matter."""
    await desk.post(verified("It left today.", sender=GRACE, **answer()), "2")
    assert (await rows(desk.app, VERDICTS))[0]["verdict"] == "park"
    await desk.post(ASKED, "1")
    assert await desk.outcomes() == ["human_took_over"]


async def test_a_stranger_in_a_colleagues_name_answers_nothing(desk: Desk) -> None:
    """Only a proven colleague's word closes a turn."""
    await desk.post(ASKED, "1")
    await desk.post(letter("It left today.", sender=GRACE, **answer()), "2")
    assert (await desk.outcomes())[0] is None
    assert ("human", "It left today.") not in await desk.said()


async def test_a_colleague_who_writes_to_the_inbox_is_answered_like_anybody(desk: Desk) -> None:
    """What is addressed to us and to no customer is a question of their own."""
    await desk.post(verified("Which plans are there?", sender=GRACE, message_id="<g9@laptop.local>"), "1")
    assert [row["verdict"] for row in await rows(desk.app, VERDICTS)] == ["answer"]


async def test_an_outbound_hook_shows_what_a_colleague_sent(desk: Desk) -> None:
    """`direction=sent` is the Sent folder of an inbox that has none; the agent's own replies are not let in."""
    await desk.post(ASKED, "1")
    url = f"http://127.0.0.1:{desk.port}"
    sent = letter("It left today.", sender=f"Grace <{INBOX['address']}>", **answer())
    response = await post_signed(url, sent, inbox="support", webhook_id="w1", at=int(time.time()), direction="sent")
    assert response.json()["status"] == "accepted", response.text
    await until_idle(desk.app)
    assert await desk.outcomes() == ["human_took_over"]


@pytest.mark.parametrize("how", ["copy", "hook"])
async def test_a_colleagues_vacation_note_closes_nothing(desk: Desk, how: str) -> None:
    """What a colleague's program replied to the customer is not the colleague's answer: the agent's draft stays."""
    await desk.post(ASKED, "1")
    parts = answer(Auto_Submitted="auto-replied", subject="Out of office")
    if how == "copy":
        await desk.post(verified("I am back on Monday.", sender=GRACE, **parts), "2")
    else:
        url, own = f"http://127.0.0.1:{desk.port}", f"Grace <{INBOX['address']}>"
        sent = letter("I am back on Monday.", sender=own, **parts)
        await post_signed(url, sent, inbox="support", webhook_id="w1", at=int(time.time()), direction="sent")
        await until_idle(desk.app)
    assert await desk.outcomes() == [None]
    assert await desk.said() == [("customer", "Where is my order?")]
    assert [row["verdict"] for row in await rows(desk.app, VERDICTS)] == ["answer", "park"]


async def test_a_copy_that_comes_twice_is_said_once(desk: Desk) -> None:
    """A colleague's mail in two mailboxes of ours, or in Sent and as a copy, stands once in the conversation."""
    await desk.post(ASKED, "1")
    mail = verified("It left today.", sender=GRACE, **answer())
    await desk.post(mail, "2")
    await desk.post(b"Received: by second.example; Mon, 02 Mar 2026 09:00:00 +0000\r\n" + mail, "3")
    assert await desk.said() == [("customer", "Where is my order?"), ("human", "It left today.")]
