"""The offline model over generated worlds: what it promises for any of them."""

from __future__ import annotations

import re

import pytest

from services.demo.world import World, make_world
from tests.unit.model.offline_run import Turn, act_of, walk

SEEDS = tuple(range(12))
_OUTCOMES = {"reply": "replied", "no_reply_needed": "no_reply", "escalate": "escalated"}
_DIGITS = re.compile(r"\d+")


_WALKED: dict[int, tuple[World, list[Turn]]] = {}


async def walked(seed: int) -> tuple[World, list[Turn]]:
    """A world and its turns; each world is walked once."""
    if seed not in _WALKED:
        world = make_world(seed)
        _WALKED[seed] = world, await walk(world)
    return _WALKED[seed]


def _shown(turn: Turn) -> str:
    return "\n".join(f"{layer.text}\n{layer.items}" for layer in turn.request.layers)


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_mail_meets_the_act_its_world_expects(seed: int) -> None:
    """Questions are answered, thanks are left alone, the demand for a manager is escalated."""
    _, turns = await walked(seed)
    assert {turn.mail.key: _OUTCOMES[turn.act.name] for turn in turns} == {
        turn.mail.key: turn.mail.expected.outcome for turn in turns
    }


@pytest.mark.parametrize("seed", SEEDS)
async def test_replies_say_what_they_must_and_nothing_of_others(seed: int) -> None:
    """Names, plans and prices that the world expects stand in the reply; names of other customers never do."""
    world, turns = await walked(seed)
    for turn in turns:
        said = turn.said.lower()
        assert [word for word in turn.mail.expected.must_mention if word.lower() not in said] == [], turn.mail.key
        others = [one for one in world.people if one.address != turn.mail.envelope_from]
        names = {word for one in others for word in (one.first, one.last, one.company)}
        mine = turn.mail.message.sender + turn.mail.message.text
        strangers = {name for name in names if name not in mine}
        assert not [name for name in strangers if re.search(rf"\b{re.escape(name)}\b", turn.said)], turn.mail.key
        assert not [word for word in turn.mail.expected.must_not_mention if word.lower() in said]


@pytest.mark.parametrize("seed", SEEDS)
async def test_no_number_is_invented(seed: int) -> None:
    """Every group of digits in a reply stands in the request that it answers."""
    _, turns = await walked(seed)
    for turn in turns:
        assert set(_DIGITS.findall(turn.said)) <= set(_DIGITS.findall(_shown(turn))), turn.mail.key


@pytest.mark.parametrize("seed", SEEDS)
async def test_quotes_are_verbatim_spans_of_the_customers_text(seed: int) -> None:
    """Each fact and relation cites words that really stand in the mail it was read from."""
    _, turns = await walked(seed)
    for turn in turns:
        for cited in (*turn.learned.facts, *turn.learned.relations):
            assert cited.quote in turn.mail.message.text, turn.mail.key


@pytest.mark.parametrize("seed", SEEDS)
async def test_memory_ends_as_the_world_expects(seed: int) -> None:
    """After each mail the lifecycle state and the learned facts are those that the story implies."""
    _, turns = await walked(seed)
    last = {turn.mail.envelope_from: turn for turn in turns}
    for turn in last.values():
        expected = [one.mail.expected for one in turns if one.mail.envelope_from == turn.mail.envelope_from]
        states = [one.participant_state for one in expected if one.participant_state]
        assert not states or turn.memory.state == states[-1], turn.mail.key
        values = " ".join(str(fact["value"]) for fact in turn.memory.facts.values())
        learned = expected[-1].learned
        assert not [word for word in learned if word not in values], turn.mail.key


@pytest.mark.parametrize("seed", SEEDS)
async def test_same_trouble_gets_the_same_key_from_three_people(seed: int) -> None:
    """Three wordings of one bug share one issue key, which holds no name and no company."""
    world, turns = await walked(seed)
    keys = {turn.learned.signals.issue_key for turn in turns if turn.mail.key.startswith("reporter-")}
    assert len(keys) == 1
    key = keys.pop()
    assert len(key.split()) >= 2
    assert not [one for one in world.people if one.company.lower() in key or one.last.lower() in key]


@pytest.mark.parametrize("seed", SEEDS)
async def test_three_angry_mails_are_heard_as_such(seed: int) -> None:
    """Every mail of the angry customer is frustrated and below zero; nobody else's is frustrated."""
    _, turns = await walked(seed)
    for turn in turns:
        angry = turn.mail.key.startswith("angry-")
        signals = turn.learned.signals
        assert signals.frustrated == angry or (angry and turn.act.name == "escalate"), turn.mail.key
        assert not signals.frustrated or signals.sentiment < 0


@pytest.mark.parametrize("seed", SEEDS)
async def test_an_absence_ends_by_itself(seed: int) -> None:
    """ "On vacation until 24 May" is stored with that day as its last."""
    _, turns = await walked(seed)
    [turn] = [turn for turn in turns if turn.mail.key == "reporter-3"]
    [absence] = [fact for fact in turn.learned.facts if fact.key == "absence"]
    assert absence.valid_to is not None
    assert f"{absence.valid_to.day} May" in turn.mail.message.text
    assert absence.valid_to > turn.mail.received_at.date()


@pytest.mark.parametrize("seed", SEEDS[:4])
async def test_equal_requests_get_equal_answers(seed: int) -> None:
    """The model is a function of the request: asked again, it makes the same call with the same id."""
    _, turns = await walked(seed)
    for turn in turns:
        assert await act_of(turn.request) == turn.act
