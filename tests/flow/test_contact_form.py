"""A contact form writes for its visitors: they are answered, and nothing is remembered or shown for them."""

from __future__ import annotations

from pathlib import Path

from deploy.local import Endpoints
from services.operations.idle import until_idle
from services.receive_email.accept import accept
from tests.flow.scenario import AUTHSERV, agent, fact, reflection, rows, verified
from tests.support.app import INBOX, settings_for
from tests.support.brokerless import running_brokerless
from tests.support.letters import letter
from tests.support.scripted_model import ScriptedModel
from tests.support.scripted_replies import reply_tool
from tests.support.smtp_server import SmtpServer

FORM = "Shop form <no-reply@forms.ourcompany.example>"


async def test_a_visitor_is_answered_and_stays_a_stranger(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """The reply goes to whom the trusted form names; the same words from a stranger in the form's name go to a person."""
    async with SmtpServer() as server, ScriptedModel() as model:
        model.script(
            agent(
                lambda seen: reply_tool("reply", {"text": "At nine.", "state": "resolved"}),
                lambda seen: reflection("S.", fact("plan", "Team", "our Team plan")),
            )
        )
        settings = settings_for(
            stack, database, topic_prefix, tmp_path,
            own_authserv_ids=[AUTHSERV],
            smtp={"host": "127.0.0.1", "port": server.port},
            model={"provider": "anthropic", "api_key": "k", "base_url": model.base_url},
            inboxes=[{**INBOX, "forwarders": [{"sender": "no-reply@forms.ourcompany.example"}]}],
        )  # fmt: skip
        async with running_brokerless(settings) as app:
            inbox = app.settings.inboxes[0]
            known = verified(
                "We are on our Team plan. Thanks!", sender="Ann <ann@acme.example>", message_id="<k@acme.example>"
            )
            await accept(app, inbox, known, source="file", source_key="0")
            await until_idle(app)
            marks = {"Auto_Submitted": "auto-generated", "Return_Path": f"<{inbox.address}>"}  # its envelope is ours
            asked = {"sender": FORM, "Reply_To": "Ann <ann@acme.example>", **marks}
            form = verified("When do you open, with our Team plan?", message_id="<f1@forms.example>", **asked)
            await accept(app, inbox, form, source="file", source_key="1")
            await until_idle(app)
            forged = letter("When do you open?", message_id="<f2@forms.example>", **asked)
            await accept(app, inbox, forged, source="file", source_key="2")
            await until_idle(app)
            mails = await rows(app, "SELECT message_id, verdict, trusted, author_addr FROM mails ORDER BY received_at")
            facts = await rows(app, "SELECT value FROM facts")
            threads = await rows(app, "SELECT state FROM threads ORDER BY opened_at")
    assert [one.recipient for one in server.accepted] == ["ann@acme.example", "ann@acme.example"]
    assert [(one["verdict"], one["trusted"]) for one in mails] == [
        ("answer", True),
        ("answer", False),
        ("human", False),
    ]
    assert [one["value"] for one in facts] == ["Team"], "only the proven mail taught something"
    assert [one["state"] for one in threads][1] == "awaiting_reply", "a visitor's turn proposes no state"
    asked_for = [
        seen.text for seen in model.requests if "When do you open" in seen.text and "reflect" not in seen.tools
    ]
    assert len(asked_for) == 1
    assert "We are on our Team plan" not in asked_for[0]
    assert "The customer's plan is Team" not in asked_for[0]
