"""Which of several prices a question means that names none of them."""

from __future__ import annotations

import pytest

from services.demo.world import make_world
from services.model.offline.answers import extreme
from services.model.offline.view import Passage
from services.model.offline.writing import first_name
from services.model.port import Layer
from tests.unit.model.test_offline import ask, request

PRICES = Passage(
    "p",
    "Plans",
    "",
    "# The top plan costs $1\nThe Solo plan costs $12 per month.\nThe Studio plan costs $29.50 per month.\n"
    "The Corporate plan costs 1059 dollars per month.\nEach plan costs $5 less than in 2020, from $9.\n"
    "A shirt costs $2000.\nPaying yearly costs 10% less.",
)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What does the top plan cost?", "Corporate"),
        ("How much is your most expensive plan?", "Corporate"),
        ("What is the price of the largest plan", "Corporate"),
        ("What does the cheapest plan cost?", "Solo"),
        ("Which is the least expensive plan, and how much is it?", "Solo"),
    ],
)
def test_the_dearest_and_the_cheapest_are_found_among_the_prices_of_one_thing(question: str, named: str) -> None:
    """Sentences about something else, with two prices, or in a heading are not compared."""
    found = extreme(question, [PRICES])
    assert found is not None
    [sentence] = found.sentences
    assert sentence in PRICES.text
    assert named in sentence


@pytest.mark.parametrize(
    "question",
    [
        "What does the Studio plan cost?",
        "What does the top plan include?",
        "What do the cheapest and the largest plan cost?",
        "What does your top shirt cost?",
        "What does the top cost?",
        "How much is the largest rocket?",
    ],
)
def test_nothing_is_chosen_where_nothing_can_be_compared(question: str) -> None:
    """No extreme, no price, both ends, one price only, or no thing: the question goes the usual way."""
    assert extreme(question, [PRICES]) is None


def test_two_equal_prices_have_no_top() -> None:
    """Of two plans with the highest price neither is the top one."""
    text = "The A plan costs $5.\nThe B plan costs $9.\nThe C plan costs $9."
    assert extreme("What does the top plan cost?", [Passage("p", "", "", text)]) is None
    assert extreme("What does the cheapest plan cost?", [Passage("p", "", "", text)]) is not None


@pytest.mark.parametrize("seed", range(12))
async def test_the_demos_own_question_is_answered_in_every_world(seed: int) -> None:
    """What the demo suggests to ask names the price of that world's top plan, and no other price."""
    world = make_world(seed)
    items = tuple({"id": one.slug, "title": one.title, "text": one.text} for one in world.documents)
    rule = "Close with this sentence, in these words: I am an AI assistant. Answer 'human' and a person takes over."
    layers = (Layer("knowledge", "", items), Layer("behaviours", rule, ({"rule": rule},)))
    asked = request("What does the top plan cost?", *layers)
    text = (await ask(asked)).input["text"]
    _, middle, top = world.product.plans
    assert f"The {top.name} plan costs ${top.price} per user per month" in text
    assert f"${middle.price}" not in text
    assert "I find no answer" not in text


async def test_who_has_no_answer_says_once_that_it_is_a_machine() -> None:
    """Where the settings ask for a sentence of disclosure, that sentence is all that is said of it."""
    rule = "Close with this sentence, in these words: I am an AI assistant, says Ann."
    question = "Do you sell submarines?"
    with_rule = (await ask(request(question, Layer("behaviours", rule, ({"rule": rule},))))).input["text"]
    assert "I find no answer" in with_rule
    assert "automatic assistant" not in with_rule
    assert with_rule.count("AI assistant") == 1
    assert "automatic assistant" in (await ask(request(question))).input["text"]


@pytest.mark.parametrize("name", ["You", "Me Myself", "user 7", "Customer"])
def test_a_word_for_anybody_is_no_first_name(name: str) -> None:
    """Nobody is greeted with "Hi You"."""
    assert first_name(name) == ""
