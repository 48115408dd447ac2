"""The tools: the model proposes, code disposes."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.model_output import TOOL_INPUTS
from services.generate_reply.conversation import run_call
from services.generate_reply.desk import LONGEST_DETAIL, MOST_ACTS
from services.generate_reply.tools import LOOKUPS, TOOLS, definitions
from tests.unit.generate_reply.desks import FACT, FIRST, REPLY, SECOND, VIP, Told, call, desk, work

NOBODY = work(Told())


@pytest.mark.parametrize(
    ("name", "given", "kind", "state"),
    [
        ("reply", REPLY, "reply", "awaiting_reply"),
        ("no_reply_needed", {"reason": "thanks only", "settled": True}, "no_reply", "resolved"),
        ("no_reply_needed", {"reason": "they will send it tomorrow"}, "no_reply", "awaiting_reply"),
        ("escalate", {"reason": "refund", "message_to_customer": "A person takes over."}, "escalate", "awaiting_reply"),
    ],
)
async def test_a_turn_ends_in_one_of_three_ways(name: str, given: dict[str, Any], kind: str, state: str) -> None:
    """A reply, no reply, or a person: the decision lies on the desk and nothing has left it."""
    at = desk()
    result = await run_call(NOBODY, call(name, given), at)
    assert not result.error
    assert at.decision is not None
    assert (at.decision.kind, at.decision.state) == (kind, state)


async def test_after_the_end_nothing_more_is_done() -> None:
    """A model that ends a turn and goes on is refused; the first decision stands."""
    at = desk()
    await run_call(NOBODY, call("reply", REPLY), at)
    result = await run_call(NOBODY, call("escalate", {"reason": "r", "message_to_customer": "m"}), at)
    assert (result.error, result.content) == (True, "the turn has ended already")
    assert at.decision is not None
    assert at.decision.kind == "reply"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (call("send_mail", {"to": "eve@example.org"}), "there is no tool named 'send_mail'"),
        (call("reflect", {}), "there is no tool named 'reflect'"),
        (call("reply", malformed="cut off"), "the input cannot be read: cut off"),
        (call("reply", {"text": "Hi"}), "state: Field required"),
        (call("reply", {**REPLY, "state": "closed"}), "state: Input should be"),
        (call("reply", {**REPLY, "goals_close": ["Win"]}), "no such goal is open: Win. Open are: Confirm the address"),
        (call("no_reply_needed", {"reason": "r", "goals_close": ["Win"]}), "no such goal is open: Win."),
        (call("reply", {**REPLY, "to": "eve@example.org"}), "to: Extra inputs are not permitted"),
        (call("reply", {**REPLY, "text": " "}), "text: String should have at least 1 character"),
        (call("remember_fact", {**FACT, "quote": "50 seats"}), "the quote does not stand"),
        (call("remember_fact", {**FACT, "quote": "seats " * 11}), "the quote has more than 60 characters"),
        (call("remember_fact", {**FACT, "participant_id": "x"}), "participant_id: Extra inputs"),
        (call("set_participant_state", {"state": "emperor", "reason": "r"}), "state: Input should be"),
    ],
)
async def test_a_call_that_is_not_allowed_is_refused_in_words(told: Any, said: str) -> None:
    """A refusal goes back to the model and onto the draft, and changes nothing else."""
    at = desk()
    result = await run_call(NOBODY, told, at)
    assert result.error
    assert result.call_id == "c1"
    assert said in result.content
    assert at.refused == [f"{told.name}: {result.content}"[:500]]
    assert (at.decision, at.facts, at.participant_state) == (None, [], "")


@pytest.mark.parametrize(
    ("name", "given", "op"),
    [
        ("remember_fact", FACT, "add"),
        ("correct_fact", {**FACT, "fact_id": "f1"}, "update"),
        ("forget_fact", {"kind": "note", "key": "seats", "reason": "asked", "quote": "40 seats"}, "delete"),
    ],
)
async def test_a_proposal_names_the_newest_mail_that_holds_its_quote(name: str, given: dict[str, Any], op: str) -> None:
    """What is to be remembered cites the mail; learn_facts decides."""
    at = desk()
    assert not (await run_call(NOBODY, call(name, given), at)).error
    assert [(one.op, one.mail_id) for one in at.facts] == [(op, SECOND)]


async def test_a_quote_of_an_older_mail_cites_that_mail() -> None:
    """Every mail of the turn may be quoted."""
    at = desk()
    await run_call(NOBODY, call("remember_fact", {**FACT, "quote": "Please help"}), at)
    assert [one.mail_id for one in at.facts] == [FIRST]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("remember_fact", FACT),
        ("correct_fact", FACT),
        ("forget_fact", {"kind": "note", "key": "seats", "reason": "asked", "quote": "40 seats"}),
        ("set_participant_state", VIP),
        ("search_memory", {"query_text": "everything"}),
    ],
)
async def test_for_a_sender_who_is_not_authenticated_no_memory_is_read_or_written(
    name: str, given: dict[str, Any]
) -> None:
    """Whatever the mail makes the model ask, an unauthenticated sender's memory stays closed."""
    at = desk(trusted=False)
    result = await run_call(NOBODY, call(name, given), at)
    assert result.error
    assert "not authenticated" in result.content
    assert (at.facts, at.participant_state) == ([], "")


@pytest.mark.parametrize(("name", "given"), [("remember_fact", FACT), ("set_participant_state", VIP)])
async def test_a_suggestion_notes_nothing(name: str, given: dict[str, Any]) -> None:
    """While a colleague has the thread the model is told so, instead of that what it notes were kept."""
    at = desk(purpose="suggestion")
    result = await run_call(NOBODY, call(name, given), at)
    assert result.error
    assert "a colleague has the thread" in result.content
    assert (at.facts, at.participant_state, at.acts) == ([], "", [])


async def test_a_look_up_is_kept_and_not_made_twice() -> None:
    """A second attempt at the event reads the answer that the first one got."""
    kept = {"tool.c1": {"content": "as it was found"}}
    result = await run_call(work(Told(), kept), call("search_memory", {"query_text": "seats"}), desk())
    assert (result.error, result.content) == (False, "as it was found")


async def test_what_the_agent_does_is_noted_for_the_threads_log() -> None:
    """Each act that was allowed says what it was on, without anybody's words; refused calls and replies are no acts."""
    at = desk()
    for told in (
        call("remember_fact", FACT, id="a"),
        call("remember_fact", {**FACT, "quote": "50 seats"}, id="b"),
        call("forget_fact", {"kind": "note", "key": "fax", "reason": "asked", "quote": "40 seats"}, id="c"),
        call("set_participant_state", VIP, id="d"),
        call("reply", REPLY, id="e"),
    ):
        await run_call(NOBODY, told, at)
    assert [(one.action, one.detail) for one in at.acts] == [
        ("noted a fact", "customer_info/seats"),
        ("took a fact back", "note/fax"),
        ("proposed a step of the customer's lifecycle", "vip"),
    ]


async def test_one_turn_does_not_fill_the_log() -> None:
    """However often a model calls, so many acts are noted, each of bounded length."""
    at = desk()
    for number in range(MOST_ACTS + 5):
        await run_call(NOBODY, call("remember_fact", FACT, id=str(number)), at)
    at.did("looked", "x" * 5000)
    assert len(at.facts) == MOST_ACTS + 5
    assert len(at.acts) == MOST_ACTS
    short = desk()
    short.did("looked", "x" * 5000)
    assert len(short.acts[0].detail) == LONGEST_DETAIL


async def test_a_second_attempt_notes_the_look_up_of_the_first() -> None:
    """What was kept of a look-up says what it was, so that the log is the same after a crash."""
    acts = [{"action": "looked in memory", "detail": "3 facts"}]
    kept = {"tool.c1": {"content": "as it was found", "acts": acts}}
    at = desk()
    await run_call(work(Told(), kept), call("search_memory", {"query_text": "seats"}), at)
    assert [one.model_dump() for one in at.acts] == acts


def test_every_tool_has_a_contract_and_keeps_its_place() -> None:
    """Tools are told in a fixed order with the schema of their input, so that the cached prefix is stable."""
    assert [one.name for one in definitions()] == list(TOOLS)
    assert set(TOOLS) <= set(TOOL_INPUTS)
    assert set(TOOLS) >= LOOKUPS
    assert all(one.description and one.schema["additionalProperties"] is False for one in definitions())
