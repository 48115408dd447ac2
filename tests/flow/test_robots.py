"""Robots in eight languages answer our mail. None gets an answer, and no model is asked."""

from __future__ import annotations

from collections import Counter

import pytest

from services.core.db import fetch_all
from tests.flow.conftest import Town
from tests.flow.scenario import agent, reflection, replies_to, rows, sent_mail, verified
from tests.support.auto_senders import LANGUAGES, Ours, automatic_mails
from tests.support.scripted_replies import reply_tool

ANN = "ann@customer.example"


def from_town(town: Town) -> int:
    """How many mails this town has sent, to whomever."""
    return sum(str(mail["Message-ID"]).rstrip(">").endswith(town.domain) for mail in sent_mail(town.stack.outbox))


@pytest.mark.slow
async def test_no_robot_is_answered_and_no_model_is_asked(town: Town) -> None:
    """After one real reply of ours, 232 automatic answers to it: each judged with a reason, none answered."""
    town.server.script(
        agent(
            lambda seen: reply_tool("reply", {"text": "Hi", "state": "awaiting_reply"}), lambda seen: reflection("S.")
        )
    )
    await town.post(verified("Where is order 4711?", sender=f"Ann Lee <{ANN}>", message_id="<ann1@customer.example>"))
    ours = replies_to(town.stack.outbox, ANN, town.domain)[0]
    asked, sent = len(town.server.requests), from_town(town)
    address = town.app.settings.inboxes[0].address
    robots = list(automatic_mails(Ours(address, str(ours["Message-ID"]).strip("<>"), str(ours["Subject"]))))
    assert len({one.language for one in robots}) == len(LANGUAGES) == 8
    await town.post(*(one.raw for one in robots))
    async with town.app.database.reading() as conn:
        judged = await fetch_all(conn, "SELECT verdict, reason, filter FROM mails ORDER BY received_at, mail_id")
    print(len(robots), Counter(row["verdict"] for row in judged))
    assert len(judged) == len(robots) + 1 == 233
    assert Counter(row["verdict"] for row in judged)["answer"] == 1
    assert all(row["verdict"] != "duplicate" for row in judged), "each robot is judged for what it is"
    assert all(row["reason"] and row["filter"] for row in judged if row["verdict"] != "answer")
    assert len(town.server.requests) == asked
    assert from_town(town) == sent == 1
    assert len(await rows(town.app, "SELECT turn_id FROM turns")) == 1
