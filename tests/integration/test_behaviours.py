"""Behaviours and the cascade in a whole deployment: what the model is told, who answers, what happens afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from tests.support.tending import Tended, tending

BEHAVIOURS = [
    {
        "name": "invoices",
        "when": {"subject_contains": ["invoice"]},
        "then": {"escalate": "Invoices go to accounting.", "tag": ["billing"], "priority": "high"},
    },
    {
        "name": "acme",
        "when": {"from_domains": ["acme.example"]},
        "then": {"say": "Name their account manager, Grace.", "set": {"approval": "review", "recent_messages": 2}},
    },
    {
        "name": "answered",
        "moment": "after",
        "when": {"outcomes": ["sent"]},
        "then": {"tag": ["answered"], "note": "Look whether it helped."},
    },
]
INBOXES = [
    {
        "name": "support",
        "address": "support@ourcompany.example",
        "vouched_by": "the test",
        "reply": {"layer_tokens": 500},
    },
    {"name": "open", "address": "open@ourcompany.example", "unproven": "review"},
]


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    said: dict[str, Any] = {"behaviours": BEHAVIOURS, "inboxes": INBOXES, "web": {"api_token": "t"}}
    async with tending(stack, database, topic_prefix, tmp_path, **said) as one:
        yield one


async def loaded(app: Tended) -> dict[str, Any]:
    (row,) = await app.rows("SELECT data FROM events WHERE type = 'memory.loaded.v1'")
    data: dict[str, Any] = row["data"]
    return data


async def test_a_rule_sends_a_mail_to_a_person_and_asks_no_model(app: Tended) -> None:
    """An invoice is escalated before anything is written; tags and priority say which rule put them there."""
    thread_id = await app.write("Please pay.", subject="Invoice 4471")
    whole = await app.thread(thread_id)
    assert (whole.thread.state, whole.thread.priority, whole.thread.tags) == ("escalated", "high", ["billing"])
    assert await app.rows("SELECT 1 FROM events WHERE type IN ('memory.loaded.v1', 'reply.drafted.v1')") == []
    (turn,) = await app.rows("SELECT outcome, reason FROM turns")
    assert (turn["outcome"], turn["reason"]) == ("escalated", "behaviour invoices: Invoices go to accounting.")
    assert [one.detail for one in whole.actions if one.action == "tags changed"] == ["+billing: behaviour invoices"]
    assert whole.summary, "escalated threads need their summary most"


async def test_a_rule_shapes_the_reply_and_the_event_says_so(app: Tended) -> None:
    """What the rule says is a layer; what it sets is in force, with its source beside the mailbox's and the default."""
    await app.write("The export stops.")
    event = await loaded(app)
    layers = {one["name"]: one for one in event["layers"]}
    assert layers["guidance"]["text"] == "- Name their account manager, Grace."
    assert layers["guidance"]["trusted"]
    assert "Grace" not in layers["behaviours"]["text"]
    settings = event["settings"]
    assert settings["approval"] == {"value": "review", "source": "turn acme"}
    assert settings["recent_messages"] == {"value": 2, "source": "turn acme"}
    assert settings["layer_tokens"] == {"value": 500, "source": "inbox support"}
    assert settings["disclose_ai"]["source"] == "default"
    (row,) = await app.rows("SELECT state FROM deliveries")
    assert row["state"] == "draft", "the rule asked for a person's word"


async def test_a_forged_name_gets_nobodys_rules(app: Tended) -> None:
    """In an inbox that vouches for nobody, a mail in Acme's name is not shaped by Acme's rule."""
    await app.write("The export stops.", inbox=1)
    event = await loaded(app)
    assert {one["name"]: one["text"] for one in event["layers"]}["guidance"] == ""
    assert event["settings"]["approval"] == {"value": "auto", "source": "default"}


async def test_afterwards_a_rule_tags_the_thread_and_leaves_a_note(app: Tended) -> None:
    """Once a reply was sent and learned from, tag and note are there, once, and no further mail goes out."""
    thread_id = await app.write("The export stops.", sender="bob@other.example")
    await app.wait(minutes=1)
    whole = await app.thread(thread_id)
    assert whole.thread.tags == ["answered"]
    assert [(one.by, one.text) for one in whole.notes] == [("behaviour answered", "Look whether it helped.")]
    assert [one.role for one in whole.conversation] == ["customer", "agent"]


async def test_imported_mail_is_left_alone(app: Tended) -> None:
    """Rules neither escalate nor tag what is only learned from."""
    thread_id = await app.write("Please pay.", subject="Invoice 1", mode="history", sender="bob@other.example")
    whole = await app.thread(thread_id)
    assert (whole.thread.tags, whole.notes, whole.thread.state) == ([], (), "resolved")
