"""The rounds with the model: until it decides, within a bound, each answer asked for once."""

from __future__ import annotations

from uuid import UUID

import pytest

from schemas.model_output import SearchKnowledgeInput
from services.core.errors import Permanent
from services.generate_reply.conversation import ModelDeclined, NoDecision, converse
from services.generate_reply.desk import Desk
from services.generate_reply.handler import _draft
from services.generate_reply.prompt import opening
from services.generate_reply.tools import TOOLS
from tests.unit.generate_reply.desks import FACT, REPLY, Told, answer, call, desk, loaded, work

SECRET = b"secret"


async def test_the_model_may_act_and_decide_in_one_answer() -> None:
    """Facts before the reply are noted, and the turn ends in one round."""
    model, at = Told(answer(call("remember_fact", FACT, id="a"), call("reply", REPLY, id="b"))), desk()
    answers = await converse(work(model), opening(loaded(), "event", SECRET), at, rounds=6)
    assert (len(answers), len(at.facts), len(model.asked)) == (1, 1, 1)
    assert at.decision is not None


async def test_refusals_go_back_to_the_model() -> None:
    """A refused call is answered with its reason, in the history of the next question."""
    model, at = Told(answer(call("send_mail")), answer(call("reply", REPLY))), desk()
    await converse(work(model), opening(loaded(), "event", SECRET), at, rounds=6)
    (exchange,) = model.asked[1].history
    assert [(one.error, one.content) for one in exchange.results] == [(True, "there is no tool named 'send_mail'")]
    assert model.asked[1].must_call == ""


async def test_a_model_that_only_talks_is_told_to_call() -> None:
    """Text without a call ends no turn: the next question demands a reply."""
    model = Told(answer(text="Sure!", stop="end_turn"), answer(call("reply", REPLY)))
    await converse(work(model), opening(loaded(), "event", SECRET), desk(), rounds=6)
    assert [one.must_call for one in model.asked] == ["", "reply"]


async def test_the_rounds_are_bounded() -> None:
    """A model that never decides gives up the turn after its rounds."""
    model = Told(*(answer(call("send_mail")) for _ in range(9)))
    with pytest.raises(NoDecision, match="within 3 rounds"):
        await converse(work(model), opening(loaded(), "event", SECRET), desk(), rounds=3)
    assert len(model.asked) == 3


async def test_a_model_that_declines_fails_the_turn() -> None:
    """A refusal of the model is permanent, and its words are kept."""
    with pytest.raises(ModelDeclined, match="I cannot"):
        await converse(
            work(Told(answer(stop="refusal", text="I cannot"))), opening(loaded(), "event", SECRET), desk(), rounds=3
        )
    assert issubclass(ModelDeclined, Permanent)
    assert issubclass(NoDecision, Permanent)


async def test_a_second_attempt_asks_nothing_again() -> None:
    """After a crash the same answers are read from the checkpoints, and the same decision comes out."""
    kept: dict[str, object] = {}
    first, second = desk(), desk()
    request = opening(loaded(), "event", SECRET)
    await converse(work(Told(answer(call("send_mail")), answer(call("reply", REPLY))), kept), request, first, rounds=6)
    model = Told()
    await converse(work(model, kept), request, second, rounds=6)
    assert model.asked == []
    assert (first.decision, first.refused) == (second.decision, second.refused)


async def test_the_draft_carries_what_was_decided_and_what_it_cost() -> None:
    """The event names turn, mails and model, the refused calls too, and adds up the tokens of all rounds."""
    at = desk()
    model = Told(answer(call("send_mail")), answer(call("remember_fact", FACT, id="f"), call("reply", REPLY, id="r")))
    answers = await converse(work(model), opening(loaded(), "event", SECRET), at, rounds=6)
    draft = _draft(loaded(), at, answers, UUID(int=99))
    assert (draft.reply_id, draft.turn_id, draft.mail_ids) == (UUID(int=99), UUID(int=1), loaded().mail_ids)
    assert (draft.decision, draft.text, draft.model) == ("reply", "Hello Ada.", "told")
    assert (draft.usage.calls, draft.usage.input) == (2, 2)
    assert len(draft.facts) == len(draft.refused_calls) == 1


def test_two_events_have_two_fences_and_one_event_has_one() -> None:
    """The delimiter of untrusted text cannot be guessed from another mail, and is the same on every attempt."""
    one, again = opening(loaded(), "event", SECRET), opening(loaded(), "event", SECRET)
    other, elsewhere = opening(loaded(), "another", SECRET), opening(loaded(), "event", b"other")
    assert one == again
    assert len({one.fence, other.fence, elsewhere.fence}) == 3
    assert (one.system, one.tools) == (other.system, other.tools)


async def test_one_answer_made_any_number_of_calls() -> None:
    """A mail orders a thousand: sixteen are run, the rest are refused without a note each."""
    many = [call("remember_fact", FACT, id=f"c{number}") for number in range(1000)]
    model, at = Told(answer(*many), answer(call("reply", REPLY, id="end"))), desk()
    await converse(work(model), opening(loaded(), "event", SECRET), at, rounds=6)
    (exchange,) = model.asked[1].history
    assert (len(at.facts), len(exchange.results), sum(one.error for one in exchange.results)) == (16, 1000, 984)
    assert at.refused == ["984 calls more than 16 in one answer"]


async def test_one_mail_proposed_any_number_of_facts() -> None:
    """Over all rounds of a turn there are as many as a reflection may have."""
    rounds = [[call("remember_fact", FACT, id=f"r{turn}c{number}") for number in range(16)] for turn in range(4)]
    model, at = Told(*(answer(*calls) for calls in rounds), answer(call("reply", REPLY, id="end"))), desk()
    await converse(work(model), opening(loaded(), "event", SECRET), at, rounds=6)
    assert len(at.facts) == 30


async def test_searches_showed_any_amount_of_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is paid for again in every later round: after a hundred thousand characters a turn has to decide."""
    asked: list[str] = []

    async def long(given: SearchKnowledgeInput, at: Desk) -> str:
        asked.append(given.query)
        return "x " * 20_000

    monkeypatch.setattr(
        "services.generate_reply.conversation.TOOLS", {"search_knowledge": long, "reply": TOOLS["reply"]}
    )
    rounds = [
        [call("search_knowledge", {"query": f"{turn} {n}"}, id=f"r{turn}c{n}") for n in range(4)] for turn in "ab"
    ]
    model, at = Told(*(answer(*calls) for calls in rounds), answer(call("reply", REPLY, id="end"))), desk()
    await converse(work(model), opening(loaded(), "event", SECRET), at, rounds=6)
    assert asked == ["a 0", "a 1", "a 2"]
    assert len(at.refused) == 5
