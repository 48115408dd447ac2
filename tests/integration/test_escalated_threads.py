"""While a person has a thread: no turn opens, mail is attached, they are told, and the agent suggests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.operations.threads import requests
from tests.support.tending import Tended, tending


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """Every mail about a contract goes to a person, and news are told in a way of their own."""
    rule = {"name": "contracts", "when": {"subject_contains": ["contract"]}, "then": {"escalate": "Grace has those."}}
    told = {"name": "news", "when": {"text_contains": ["news"]}, "then": {"say": "Promise no date."}}
    async with tending(stack, database, topic_prefix, tmp_path, behaviours=[rule, told]) as one:
        yield one


async def test_a_new_mail_is_attached_told_and_answered_in_a_note_alone(app: Tended) -> None:
    """No turn opens and nothing is sent; the log says that a mail waits, and a note says what the agent would answer."""
    thread_id = await app.write("We want to change it.", subject="Our contract")
    await app.write("Any news?", subject="Re: Our contract", after="<m1@acme.example>")
    whole = await app.thread(thread_id)
    assert whole.thread.state == "escalated"
    assert [one.role for one in whole.conversation] == ["customer", "customer"]
    assert whole.conversation[-1].pending
    assert whole.open_turn is None
    assert len(await app.rows("SELECT 1 FROM turns")) == 1
    (told,) = [one for one in whole.actions if one.action == "a mail waits for the person who has the thread"]
    assert told.detail == "Re: Our contract"
    (note,) = whole.notes
    assert (note.by, note.trigger) == ("agent", "ai")
    assert note.text.startswith("What the agent would answer:\n\n")
    assert await app.rows("SELECT 1 FROM events WHERE type IN ('reply.drafted.v1', 'reply.sent.v1')") == []


async def test_a_suggestion_was_made_without_the_operators_rules(app: Tended) -> None:
    """What the agent would answer is bound by the same rules as what it answers: those that hold for that mail."""
    await app.write("We want to change it.", subject="Our contract")
    await app.write("Any news?", subject="Re: Our contract", after="<m1@acme.example>")
    await app.write("Thank you.", subject="Re: Our contract", after="<m1@acme.example>")
    rows = await app.rows("SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq")
    guidance = [{one["name"]: one["text"] for one in row["data"]["layers"]}["guidance"] for row in rows]
    assert guidance == ["- Promise no date.", ""]


async def test_handed_back_the_waiting_mail_gets_its_turn(app: Tended) -> None:
    """A person hands the thread back: what came meanwhile gets its turn at once, with the rules that hold for it."""
    thread_id = await app.write("We want to change it.", subject="Our contract")
    await app.write("How do I export as CSV?", subject="Re: Our contract", after="<m1@acme.example>")
    async with app.at_work():
        await requests.move(app.app, thread_id, "in_progress", "the agent can do it", "grace", timeout_s=120)
    await app.settle()
    turns = await app.rows("SELECT outcome, reason FROM turns ORDER BY opened_at")
    assert turns[0]["outcome"] == "escalated"
    assert len(turns) == 2, "the contract rule holds for the subject again, so a person gets it again, with the reason"
    assert turns[1]["reason"] == "behaviour contracts: Grace has those."


async def test_the_whole_life_of_a_thread_is_on_its_log(app: Tended) -> None:
    """Answered, 7 days of silence, 14 more, and a mail weeks later: each step with its trigger and reason."""
    thread_id = await app.write("Just so that you know: we are on the Team plan.", subject="Export")
    assert (await app.thread(thread_id)).thread.state == "awaiting_reply"
    await app.wait(days=6, hours=23)
    assert (await app.thread(thread_id)).thread.state == "awaiting_reply"
    await app.wait(hours=2)
    assert (await app.thread(thread_id)).thread.state == "resolved"
    await app.wait(days=13, hours=20)
    assert (await app.thread(thread_id)).thread.state == "resolved"
    await app.wait(hours=6)
    assert (await app.thread(thread_id)).thread.state == "closed"
    await app.wait(days=21)
    await app.write("It stops again.", subject="Re: Export", after="<m1@acme.example>")
    whole = await app.thread(thread_id)
    steps = [(one.from_state, one.to_state, one.trigger) for one in whole.log if not one.refused]
    assert steps[:6] == [
        ("new", "in_progress", "system"),
        ("in_progress", "awaiting_reply", "ai"),
        ("awaiting_reply", "resolved", "system"),
        ("resolved", "closed", "system"),
        ("closed", "new", "system"),
        ("new", "in_progress", "system"),
    ]
    assert all(one.reason and one.cause for one in whole.log)


async def test_a_mail_for_a_person_is_learned_of_and_waits(app: Tended) -> None:
    """Who asks for a person gets one, who finds a summary and what was learned; handed back, the agent answers it."""
    thread_id = await app.write("human\n\nWe are on the Team plan, and the export of report 4471 fails.")
    whole = await app.thread(thread_id)
    assert whole.thread.state == "escalated"
    assert "4471" in whole.summary
    assert whole.conversation[0].pending
    assert await app.current() == ["Team"]
    assert await app.rows("SELECT 1 FROM events WHERE type = 'reply.drafted.v1'") == []
    async with app.at_work():
        await requests.move(app.app, thread_id, "in_progress", "the agent can do it", "grace", timeout_s=120)
    await app.settle()
    turns = await app.rows("SELECT outcome FROM turns ORDER BY opened_at, version")
    assert [one["outcome"] for one in turns] == ["escalated", "sent"]
    assert not (await app.thread(thread_id)).conversation[0].pending


async def test_a_mail_that_a_rule_had_handed_over_was_never_answered_once_handed_back(app: Tended) -> None:
    """A rule hands a mail to a person once: it waits for them, and handed back, the agent answers it."""
    thread_id = await app.write("How do I change it?", subject="Our contract")
    assert (await app.thread(thread_id)).conversation[0].pending
    async with app.at_work():
        await requests.move(app.app, thread_id, "in_progress", "the agent can do it", "grace", timeout_s=120)
    await app.settle()
    turns = await app.rows("SELECT outcome FROM turns ORDER BY opened_at, version")
    assert [one["outcome"] for one in turns] == ["escalated", "sent"]
    whole = await app.thread(thread_id)
    assert [(one.role, one.pending) for one in whole.conversation] == [("customer", False), ("agent", False)]
