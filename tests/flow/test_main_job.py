"""Mails come in by IMAP and by webhook, correct replies go out by SMTP, and memory is used at another mailbox."""

from __future__ import annotations

import time
from pathlib import Path

from deploy.local import Endpoints
from deploy.local.ports import free_port
from tests.flow.scenario import (
    AUTHSERV,
    WEBHOOK_KEY,
    agent,
    fact,
    post_signed,
    reflection,
    replies_to,
    rows,
    until_mails,
    verified,
)
from tests.support.app import running_app, settings_for
from tests.support.dovecot import running_dovecot
from tests.support.scripted_model import ScriptedModel, Seen
from tests.support.scripted_replies import Behaviour, reply_tool

DOMAIN = "main-job.example"  # whose replies no other test sends
JOHN = "john@acme.example"


def answer(seen: Seen) -> Behaviour:
    """Reply with what the prompt knows of the plan, so that the test sees memory used."""
    known = "Enterprise" if "plan is Enterprise" in seen.text else "unknown to me"
    goals = ["waiting for the customer to confirm the address"]
    text = f"Hi John,\n\nyour plan is {known}.\n\nBest regards,\nSupport"
    return reply_tool("reply", {"text": text, "state": "awaiting_reply", "goals_add": goals})


def learn(seen: Seen) -> Behaviour:
    """Remember the plan where the mail says it."""
    if "we are on the Enterprise plan" in seen.text:
        return reflection(
            "John is on Enterprise and asked about SSO.", fact("plan", "Enterprise", "we are on the Enterprise plan")
        )
    return reflection("John asked which plan he is on.")


async def test_imap_and_webhook_in_smtp_out_memory_across_mailboxes(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A fact told to one mailbox by IMAP is used in the reply that another mailbox sends after a webhook."""
    port = free_port()
    with running_dovecot() as dovecot:
        async with ScriptedModel() as server:
            server.script(agent(answer, learn))
            settings = settings_for(
                stack,
                database,
                topic_prefix,
                tmp_path,
                own_authserv_ids=[AUTHSERV],
                model={"provider": "anthropic", "api_key": "test-key", "base_url": server.base_url},
                web={"port": port, "webhook_secret": f"whsec_{WEBHOOK_KEY}"},
                inboxes=[
                    {"name": "support", "address": f"support@{DOMAIN}", "imap": dovecot.imap("support").model_dump()},
                    {"name": "billing", "address": f"billing@{DOMAIN}"},
                ],
            )
            dovecot.maildir("support")
            async with running_app(settings) as app:
                await opened_inbox(app)
                dovecot.deliver(
                    "support",
                    verified(
                        "Hello, we are on the Enterprise plan. How do we set up SSO?\n\nJohn",
                        subject="SSO",
                        message_id="<a1@acme.example>",
                        to=f"support@{DOMAIN}",
                    ),
                )
                await until_mails(app, 1)
                response = await post_signed(
                    f"http://127.0.0.1:{port}",
                    verified(
                        "Which plan are we on?\n\nJohn",
                        subject="Plan?",
                        message_id="<b1@acme.example>",
                        to=f"billing@{DOMAIN}",
                    ),
                    inbox="billing",
                    webhook_id="call-1",
                    at=int(time.time()),
                )
                assert response.status_code == 200, response.text
                await until_mails(app, 2)
                threads = await rows(app, "SELECT inbox, state FROM threads ORDER BY opened_at")
                summaries = await rows(app, "SELECT text FROM thread_summaries ORDER BY updated_at")
                facts = await rows(app, "SELECT key, value, quote, source_message_id FROM facts")
                log = await rows(app, "SELECT from_state, to_state, refused FROM thread_log ORDER BY at, version")
                goals = await rows(app, "SELECT text FROM goals")
    first, second = replies_to(stack.outbox, JOHN, DOMAIN)
    assert first["In-Reply-To"] == "<a1@acme.example>"
    assert first["References"] == "<a1@acme.example>"
    assert first["Subject"] == "Re: SSO"
    assert first["Auto-Submitted"] == "auto-replied"
    assert f"support@{DOMAIN}" in first["From"]
    assert f"billing@{DOMAIN}" in second["From"]
    assert "your plan is Enterprise" in second.get_body(("plain",)).get_content()
    assert [row["state"] for row in threads] == ["awaiting_reply", "awaiting_reply"]
    assert [row["refused"] for row in log] == [""] * 4
    assert summaries[0]["text"] == "John is on Enterprise and asked about SSO."
    assert facts == [
        {
            "key": "plan",
            "value": "Enterprise",
            "quote": "we are on the Enterprise plan",
            "source_message_id": "a1@acme.example",
        }
    ]
    assert len(goals) == 2
    asked = [seen for seen in server.requests if "reflect" not in seen.tools]
    assert len(asked) == 2, "one reply conversation a mail"
    assert len(server.requests) == 4, "and one reflection"


async def opened_inbox(app: object) -> None:
    """Wait until the inbox has been opened at its newest mail: from then on everything counts."""
    import asyncio

    async with asyncio.timeout(120):
        while not await rows(app, "SELECT 1 AS one FROM inbox_positions"):  # type: ignore[arg-type]
            await asyncio.sleep(0.05)
