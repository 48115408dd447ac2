"""Turns: bursts, second mails, escalation, thanks, models that fail. One reply a turn, in its order."""

from __future__ import annotations

import asyncio

import pytest

from services.operations.dead_letters import Choice, redrive
from services.operations.dead_letters.failed_turns import failed_turns, reopen
from services.operations.idle import until_idle
from tests.flow.conftest import PATIENT, Town
from tests.flow.scenario import agent, reflection, rows, verified
from tests.support.bus import until, until_true
from tests.support.dead_letters import all_dead_letters
from tests.support.scripted_model import Behaviour, Seen
from tests.support.scripted_replies import (
    malformed_tool_input,
    overloaded,
    rate_limited,
    refusal,
    reply_tool,
)

OVER_A_BROKER = True  # dead letters lie on a topic
OUTCOMES = """SELECT u.outcome, u.reason, t.state FROM turns u JOIN threads t USING (thread_id)
              JOIN mails m ON m.mail_id = ANY(u.mail_ids) WHERE m.author_addr = %(addr)s ORDER BY u.opened_at"""

ATTACHED = "SELECT 1 FROM conversation JOIN mails USING (mail_id) WHERE author_addr = %(addr)s"


def answering(town: Town, *behaviours: object) -> None:
    """Give these answers to reply conversations, in order, and the last one for ever."""
    left = list(behaviours)
    town.server.script(
        agent(lambda seen: left.pop(0) if len(left) > 1 else left[0], lambda seen: reflection("A summary."))  # type: ignore[arg-type, return-value]
    )


def reply(text: str = "An answer.", state: str = "awaiting_reply") -> Behaviour:
    """A reply of the model."""
    return reply_tool("reply", {"text": text, "state": state})


def mail_of(name: str, text: str, number: int = 1, **parts: str) -> bytes:
    """A verified mail of one invented person."""
    sender = f"{name.title()} <{name}@turns.example>"
    return verified(text, sender=sender, message_id=f"<{name}{number}@turns.example>", **parts)


async def test_a_burst_gets_one_reply_that_covers_all_its_mails(town: Town) -> None:
    """Mails within the quiet period are one turn."""
    answering(town, reply())
    more = {"in_reply_to": "<ann1@turns.example>", "subject": "Re: A question"}
    await town.post(
        mail_of("ann", "First."),
        mail_of("ann", "Second.", 2, **more),
        mail_of("ann", "Third.", 3, **more),
        inbox=PATIENT,
    )
    turns = await rows(town.app, OUTCOMES, addr="ann@turns.example")
    assert {row["outcome"] for row in turns} == {"sent"}
    assert len(town.replies("ann@turns.example")) == 1
    asked = [seen for seen in town.server.requests if "Third." in seen.text and "reflect" not in seen.tools]
    assert "First." in asked[0].text
    assert "Second." in asked[0].text


async def test_a_newer_mail_supersedes_the_draft_of_an_older_one(town: Town) -> None:
    """While the model thinks, the customer writes again: the old draft is discarded, one reply covers both."""
    attached = asyncio.Event()

    async def thinking(seen: Seen) -> Behaviour:
        if "reflect" in seen.tools:
            return reflection("A summary.")
        if "cancel it" in seen.text:
            return reply("About both.")
        await attached.wait()
        return reply("About the first mail only.")

    async def both_are_in_the_thread() -> bool:
        return len(await rows(town.app, ATTACHED, addr="bob@turns.example")) == 2

    town.server.script(thinking)
    await town.post(mail_of("bob", "Where is my order?"), settled=False)
    await until(lambda: any("Where is my order?" in seen.text for seen in town.server.requests))
    late = mail_of(
        "bob", "Never mind the order, cancel it.", 2, in_reply_to="<bob1@turns.example>", subject="Re: A question"
    )
    await town.post(late, settled=False)
    await until_true(both_are_in_the_thread)
    attached.set()
    await until_idle(town.app)
    outcomes = [row["outcome"] for row in await rows(town.app, OUTCOMES, addr="bob@turns.example")]
    assert outcomes[0] == "superseded"
    assert outcomes[-1] == "sent"
    assert len(town.replies("bob@turns.example")) == 1


async def test_thanks_needs_no_reply_and_resolves(town: Town) -> None:
    """`no_reply_needed` ends the turn without a mail."""
    answering(town, reply_tool("no_reply_needed", {"reason": "only thanks", "settled": True}))
    await town.post(mail_of("cid", "Thanks, solved!"))
    (turn,) = await rows(town.app, OUTCOMES, addr="cid@turns.example")
    assert (turn["outcome"], turn["state"]) == ("no_reply", "resolved")
    assert town.replies("cid@turns.example") == []


async def test_an_escalation_tells_the_customer_and_then_no_turn_opens(town: Town) -> None:
    """While a human has the thread, new mail is attached and not answered."""
    told = {"reason": "wants a person", "message_to_customer": "A colleague takes over."}
    answering(town, reply_tool("escalate", told))
    await town.post(mail_of("dan", "Give me a person!"))
    await town.post(mail_of("dan", "Hello?", 2, in_reply_to="<dan1@turns.example>", subject="Re: A question"))
    (turn,) = await rows(town.app, OUTCOMES, addr="dan@turns.example")
    assert (turn["outcome"], turn["state"]) == ("escalated", "escalated")
    assert len(town.replies("dan@turns.example")) == 1
    attached = await rows(town.app, "SELECT text FROM conversation WHERE text LIKE 'Hello?%%' AND pending")
    assert len(attached) == 1


async def test_429_and_529_are_waited_out_and_the_mail_is_answered_once(town: Town) -> None:
    """The provider's own temporary errors cost time, not mails."""
    answering(town, rate_limited(), overloaded(), reply())
    await town.post(mail_of("eva", "Are you there?"))
    assert [row["outcome"] for row in await rows(town.app, OUTCOMES, addr="eva@turns.example")] == ["sent"]
    assert len(town.replies("eva@turns.example")) == 1


async def test_a_malformed_tool_call_is_refused_and_asked_again(town: Town) -> None:
    """Input that is no JSON object has no effect; the model is told and may do better."""
    answering(town, malformed_tool_input("reply"), reply("Better."))
    await town.post(mail_of("fay", "A question."))
    assert ["Better." in text for text in town.replies("fay@turns.example")] == [True]


async def test_a_model_that_declines_calls_a_human(town: Town) -> None:
    """A turn that cannot be answered fails, the thread is escalated, and the customer's mail is not lost."""
    answering(town, refusal("no"))
    await town.post(mail_of("gus", "Something odd."))
    (turn,) = await rows(town.app, OUTCOMES, addr="gus@turns.example")
    assert (turn["outcome"], turn["state"]) == ("failed", "escalated")
    assert town.replies("gus@turns.example") == []


async def test_a_failed_turn_that_is_opened_again_is_answered(town: Town) -> None:
    """`dlq turns` lists it with its error until it is opened again; then its mail is answered once, in a new turn."""
    answering(town, refusal("no"))
    await town.post(mail_of("ivy", "A strange question."))
    wanted = Choice(error="gave up")
    (failed,) = [one for one in await failed_turns(town.app, wanted) if one.subject == "A question"][-1:]
    answering(town, reply("Here you are."))
    assert await reopen(town.app, failed, "operator") == ""
    await until_idle(town.app)
    turns = await rows(town.app, OUTCOMES, addr="ivy@turns.example")
    assert [turn["outcome"] for turn in turns] == ["failed", "sent"]
    assert len(town.replies("ivy@turns.example")) == 1
    assert failed.thread_id not in {one.thread_id for one in await failed_turns(town.app, wanted)}


async def test_a_turn_whose_end_cannot_be_recorded_fails_and_is_answered_when_opened_again(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What goes wrong where a thread is told that it needs no reply leaves no turn open: a person is called."""
    answering(town, reply_tool("no_reply_needed", {"reason": "only thanks", "settled": True}))
    with monkeypatch.context() as broken:
        broken.setattr("services.track_threads.turns.no_reply", _poison)
        await town.post(mail_of("jo", "Thanks!"))
    (turn,) = await rows(town.app, OUTCOMES, addr="jo@turns.example")
    assert (turn["outcome"], turn["state"]) == ("failed", "escalated")
    assert turn["reason"] == "track_threads gave up: ZeroDivisionError: a fault"
    answering(town, reply("You are welcome."))
    (failed,) = await failed_turns(town.app, Choice(error="ZeroDivisionError"))
    assert await reopen(town.app, failed, "operator") == ""
    await until_idle(town.app)
    turns = await rows(town.app, OUTCOMES, addr="jo@turns.example")
    assert [turn["outcome"] for turn in turns] == ["failed", "sent"]
    assert len(town.replies("jo@turns.example")) == 1


async def test_a_sent_reply_that_cannot_be_recorded_is_a_dead_letter_and_no_failed_turn(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opened again, its turn would be answered twice; redriven, the turn ends as sent."""
    answering(town, reply("Once."))
    with monkeypatch.context() as broken:
        broken.setattr("services.track_threads.turns.sent", _poison)
        await town.post(mail_of("kim", "What does it cost?"), settled=False)
        await until_true(lambda: _has_dead_letters(town))
    assert await failed_turns(town.app, Choice(error="ZeroDivisionError")) == []
    (dead_letter,) = await all_dead_letters(town.app)
    assert (dead_letter.group, dead_letter.error) == ("track_threads", "ZeroDivisionError: a fault")
    await redrive(town.app, dead_letter)
    await until_idle(town.app)
    assert [turn["outcome"] for turn in await rows(town.app, OUTCOMES, addr="kim@turns.example")] == ["sent"]
    assert len(town.replies("kim@turns.example")) == 1


def _poison(*_: object) -> None:
    raise ZeroDivisionError("a fault")


async def _has_dead_letters(town: Town) -> bool:
    return bool(await all_dead_letters(town.app))
