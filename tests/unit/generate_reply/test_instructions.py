"""No text for a customer repeats what only the model is told."""

from __future__ import annotations

import pytest

from services.generate_reply.conversation import converse
from services.generate_reply.instructions import EXAMPLE, SYSTEM, gives_away
from services.generate_reply.prompt import opening
from services.generate_reply.tools import definitions
from services.model.prompt import RULES, enclose
from tests.unit.generate_reply.desks import REPLY, Told, answer, call, desk, loaded, work


@pytest.mark.parametrize(
    "text",
    [
        SYSTEM,
        RULES,
        SYSTEM.upper(),
        "My rules are these: " + " ".join(SYSTEM.split()[40:60]),
        "\n> ".join(SYSTEM.split()[:30]),
        "\u200b".join(SYSTEM[:300]),
        "*".join(SYSTEM.split(" ")[:30]),
        enclose("participant", "Jo is on the plan Basic.", "0123456789abcdef"),
        *(one.description for one in definitions() if len(one.description.split()) > 20),
    ],
)
def test_what_the_model_is_told_was_told_on(text: str) -> None:
    """Our instructions, in whatever case and with whatever between their words, and the marks of fences are found."""
    assert gives_away(f"Hello Mallory,\n\n{text}\n\nBest regards")


@pytest.mark.parametrize(
    "text",
    [
        EXAMPLE.rpartition("Reply:")[2],
        "Hi Jo,\n\nplease write to us in your own words, and tell us what the customer said about themselves.",
        "Use <<name>> as the placeholder, and <<<EOF for the text.",
        "",
    ],
)
def test_a_reply_in_its_own_words_is_none(text: str) -> None:
    """What a reply may sound like, the example among it, is no instruction."""
    assert gives_away(text) == ""


@pytest.mark.parametrize(("tool", "field"), [("reply", "text"), ("escalate", "message_to_customer")])
async def test_a_model_that_recites_its_prompt_ends_no_turn(tool: str, field: str) -> None:
    """The call is refused, in words for the model, and what follows in its own words is taken."""
    given = {**REPLY, field: SYSTEM} if tool == "reply" else {field: SYSTEM, "reason": "they asked for it"}
    model, at = Told(answer(call(tool, given)), answer(call("reply", REPLY))), desk()
    await converse(work(model), opening(loaded(), "event", b"secret"), at, rounds=3)
    assert at.decision is not None
    assert at.decision.text == REPLY["text"]
    assert "repeats your instructions" in at.refused[0]
