"""Two people in one thread: each is answered, remembered and judged for themselves."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from services.core.ids import participant_id
from services.operations.idle import until_idle
from tests.flow.conftest import Town
from tests.flow.scenario import agent, fact, reflection, rows, verified
from tests.support.scripted_model import Seen
from tests.support.scripted_replies import Behaviour, reply_tool

ADA, BOB = "ada@pair.example", "bob@pair.example"
ADAS_SECRET, BOBS_SECRET = "zebraquartz", "walrusopal"

TURNS = """SELECT e.data_subject, array_agg(m.author_addr ORDER BY m.received_at) AS authors, u.outcome
           FROM turns u JOIN mails m ON m.mail_id = ANY(u.mail_ids)
           JOIN events e ON e.type = 'turn.closed.v1' AND e.data ->> 'turn_id' = u.turn_id::text
           WHERE u.thread_id = (SELECT thread_id FROM mails WHERE message_id = %(root)s) AND u.outcome <> 'superseded'
           GROUP BY u.turn_id, u.opened_at, e.data_subject, u.outcome ORDER BY u.opened_at"""


def letter_of(address: str, number: int, text: str, **parts: str) -> bytes:
    """A verified mail of one of the two."""
    name = address.partition("@")[0]
    return verified(text, sender=f"{name.title()} <{address}>", message_id=f"<{name}{number}@pair.example>", **parts)


def learning(seen: Seen) -> Behaviour:
    """Whoever wrote of their plan has that plan; whoever is angry is frustrated."""
    told = [
        fact("plan", secret, f"plan is {secret}")
        for secret in (ADAS_SECRET, BOBS_SECRET)
        if f"plan is {secret}" in seen.text
    ]
    if "seats are 12" in seen.text:
        told.append(fact("seats", "12", "seats are 12"))
    angry = "unacceptable" in seen.text
    return reflection(
        "They talked.", *told, brief="", signals={"sentiment": -0.9 if angry else 0.2, "frustrated": angry}
    )


@pytest.fixture(scope="module")
async def shared(town: Town) -> Town:
    """Ada and Bob are known, each with a fact of their own; then Ada begins a thread with Bob in Cc."""
    answer = {"text": "Here is what we can do.", "state": "awaiting_reply"}
    town.server.script(agent(lambda seen: reply_tool("reply", answer), learning))
    await town.post(letter_of(ADA, 1, f"Our plan is {ADAS_SECRET}."), letter_of(BOB, 1, f"Our plan is {BOBS_SECRET}."))
    await town.post(letter_of(ADA, 2, "The export fails. Bob can tell more.", Cc=BOB, subject="Export"))
    return town


def prompts(town: Town, text: str) -> list[str]:
    """What the model was given to answer the mail with this text."""
    return [seen.text for seen in town.server.requests if text in seen.text and "reflect" not in seen.tools]


async def person(town: Town, address: str) -> dict[str, Any]:
    """What is kept of one of them."""
    (row,) = await rows(town.app, "SELECT * FROM participants WHERE addr = %(addr)s", addr=address)
    return row


async def test_a_second_person_in_a_thread_is_met_with_their_own_memory(shared: Town) -> None:
    """Bob, who stood in Cc, answers: prompt, reply, facts and mood are his, and none of Ada's reaches him."""
    text = "It is unacceptable. Our seats are 12."
    answer = {"in_reply_to": "<ada2@pair.example>", "subject": "Re: Export", "to": f"support@{shared.domain}, {ADA}"}
    await shared.post(letter_of(BOB, 2, text, **answer))
    asked = prompts(shared, text)
    assert asked
    assert all(BOBS_SECRET in prompt and ADAS_SECRET not in prompt for prompt in asked)
    assert len(shared.replies(BOB)) == 2
    seats = await rows(shared.app, "SELECT participant_id FROM facts WHERE key = 'seats'")
    assert [row["participant_id"] for row in seats] == [participant_id(shared.app.settings.workspace, BOB)]
    assert (await person(shared, BOB))["frustrated_in_row"] == 1
    assert (await person(shared, ADA))["frustrated_in_row"] == 0


async def test_mails_of_two_people_are_two_turns_one_after_the_other(shared: Town) -> None:
    """Both write within one quiet period: each gets a reply of their own, and each turn is about its author alone."""
    before = len(shared.replies(ADA)), len(shared.replies(BOB))
    parts = {"in_reply_to": "<ada2@pair.example>", "subject": "Re: Export"}
    both = f"support@{shared.domain}, {ADA}, {BOB}"
    await shared.post(
        letter_of(ADA, 3, "Here is Ada again.", to=both, **parts),
        letter_of(BOB, 3, "And Bob again.", to=both, **parts),
        settled=False,
    )
    await asyncio.sleep(0)
    await until_idle(shared.app)
    workspace = shared.app.settings.workspace
    turns = await rows(shared.app, TURNS, root="ada2@pair.example")
    assert [(row["data_subject"], row["authors"], row["outcome"]) for row in turns][-2:] == [
        (participant_id(workspace, address), [address], "sent") for address in (ADA, BOB)
    ]
    assert (len(shared.replies(ADA)), len(shared.replies(BOB))) == (before[0] + 1, before[1] + 1)
