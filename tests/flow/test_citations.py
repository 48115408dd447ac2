"""From the document to the customer's mail: what a reply rests on is verified, noted, and shown where it is public."""

from __future__ import annotations

import re
from uuid import UUID

from services.core.clock import random_id
from services.operations.idle import until_idle
from services.operations.knowledge.listing import show_document
from tests.flow.conftest import Town
from tests.flow.scenario import agent, reflection, rows, verified
from tests.support.documents import shelve
from tests.support.scripted_model import Seen
from tests.support.scripted_replies import Behaviour, reply_tool

LINK = "https://help.ourcompany.example/refunds"
DRAFTS = "SELECT data FROM events WHERE type = 'reply.drafted.v1'"
_SHOWN = re.compile(r"\[([0-9a-f-]{36})\] (\w+)")


def citing(seen: Seen) -> Behaviour:
    """A reply that cites every passage it was shown, marks one in its text, and invents another."""
    shown = [id for id, _ in _SHOWN.findall(seen.text)]
    text = f"Within 30 days [{shown[0]}], see {LINK} or https://evil.example/?q=ann."
    return reply_tool("reply", {"text": text, "state": "resolved", "citations": [*shown, str(random_id())]})


async def test_a_reply_cites_what_it_was_shown_and_the_customer_sees_public_pages_alone(town: Town) -> None:
    """Invented ids fall away, marks do not reach the customer, and only the public document stands below the reply."""
    public = await shelve(town.app, "refunds.md", "# Refunds\n\nMoney back within 30 days.", public_url=LINK)
    internal = await shelve(town.app, "internal.md", "# Internal\n\nRefunds above 500 need a second person.")
    await until_idle(town.app)
    town.server.script(agent(citing, lambda seen: reflection("Refund.")))
    raw = verified("Do refunds give money back?", sender="Ann <ann@cites.example>", message_id="<ann1@cites.example>")
    await town.post(raw)
    (mail,) = town.replies("ann@cites.example")
    assert mail.rstrip().endswith("evil[.]example.") is False
    assert "Within 30 days, see" in mail
    assert "https://evil" not in mail
    assert f"Refunds: {LINK}" not in mail, "a page that the reply names itself gets no line of its own"
    assert "Internal" not in mail
    (draft,) = [row["data"] for row in await rows(town.app, DRAFTS) if "Within 30 days" in row["data"]["text"]]
    assert len(draft["citations"]) == 2
    assert any("which it was not shown" in one for one in draft["refused_calls"])
    for id in (public, internal):
        shown = await show_document(town.app, id)
        assert shown is not None
        assert [one.reply_id for one in shown.cited_in] == [UUID(draft["reply_id"])]


async def test_a_page_that_the_reply_rests_on_stands_below_it(town: Town) -> None:
    """The address is the operator's; the model gave the id alone."""
    await shelve(town.app, "refunds.md", "# Refunds\n\nMoney back within 30 days.", public_url=LINK)
    await until_idle(town.app)

    def answer(seen: Seen) -> Behaviour:
        id = next(id for id, title in _SHOWN.findall(seen.text) if title == "Refunds")
        return reply_tool("reply", {"text": "Within 30 days.", "state": "resolved", "citations": [id]})

    town.server.script(agent(answer, lambda seen: reflection("Refund.")))
    raw = verified("Do refunds give money back?", sender="Bea <bea@cites.example>", message_id="<bea1@cites.example>")
    await town.post(raw)
    (mail,) = town.replies("bea@cites.example")
    assert f"Refunds: {LINK}" in mail
