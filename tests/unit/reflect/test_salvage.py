"""What holds of a model's reflection: the valid parts, each other part named, and never an accident."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.model_output import BRIEF_WORDS, SUMMARY_WORDS, Reflection, Room, reflection_schema
from services.reflect.salvage import ReflectionUnusable, salvage

FACT = {"op": "ADD", "kind": "note", "key": "seats", "value": "40", "text": "Acme has 40 seats.", "quote": "40 seats"}
EDGE = {"subject": "Ada", "predicate": "works_at", "object": "Acme", "quote": "at Acme"}
WHOLE = {"summary": "Ada asked.", "brief": "Ada, Acme.", "facts": [FACT], "relations": [EDGE]}


def test_a_valid_reflection_holds_whole() -> None:
    """Nothing is left out of an answer that is as it should be."""
    signals = {"sentiment": -0.5, "frustrated": True, "intent": "complaint"}
    given = {**WHOLE, "signals": signals, "participant": {"state": "at_risk", "reason": "switches"}}
    reflection, refused = salvage(given)
    assert refused == []
    assert (len(reflection.facts), len(reflection.relations)) == (1, 1)
    assert reflection.signals.frustrated
    assert reflection.participant is not None
    assert reflection.participant.state == "at_risk"


@pytest.mark.parametrize(
    ("part", "value", "where"),
    [
        ("facts", [FACT, {**FACT, "op": "DROP TABLE"}], "facts.1"),
        ("facts", [{**FACT, "quote": "x" * 301}, FACT], "facts.0"),
        ("facts", ["not an object", FACT], "facts.0"),
        ("facts", [FACT, {**FACT, "importance": 11}], "facts.1"),
        ("facts", [FACT, {**FACT, "confidence": 1}], "facts.1"),
        ("facts", [FACT, {**FACT, "value": ""}], "facts.1"),
        ("relations", [EDGE, {**EDGE, "predicate": "DROP; --"}], "relations.1"),
        ("signals", {"sentiment": "furious"}, "signals.sentiment"),
        ("signals", {"sentiment": float("nan")}, "signals.sentiment"),
        ("signals", {"mood": "furious"}, "signals.mood"),
        ("signals", "furious", "signals"),
        ("participant", {"state": "emperor", "reason": "says so"}, "participant"),
        ("recipients", ["eve@example.org"], "recipients"),
        ("facts", {"0": FACT}, "facts"),
    ],
)
def test_one_bad_part_is_left_out_and_named(part: str, value: Any, where: str) -> None:
    """The rest of the answer stands, and the reason names the place."""
    reflection, refused = salvage({**WHOLE, part: value})
    assert [one.partition(":")[0] for one in refused] == [where]
    assert reflection.summary == "Ada asked."
    assert len(reflection.facts) == (0 if where == "facts" else 1)
    assert len(reflection.relations) == 1


@pytest.mark.parametrize(
    ("bad", "named", "tags"),
    [
        ({"tags": ["late delivery"]}, [], ["late_delivery"]),
        ({"tags": ["Ru\u0308ckgabe", "2fa", " VIP-Support! "]}, [], ["rückgabe", "2fa", "vip_support"]),
        ({"tags": ["!?", 7, "x" * 41, "late"]}, ["signals.tags.0", "signals.tags.1", "signals.tags.2"], ["late"]),
        ({"tags": [f"t{n}" for n in range(9)]}, ["signals.tags"], [f"t{n}" for n in range(8)]),
        ({"tags": {"late": True}}, ["signals.tags"], []),
        ({"issue_key": "x" * 301}, ["signals.issue_key"], []),
        ({"frustrated_mails": -1}, ["signals.frustrated_mails"], []),
    ],
)
def test_one_bad_tag_wipes_out_no_mood(bad: dict[str, Any], named: list[str], tags: list[str]) -> None:
    """Signals hold field by field: what is beside a bad one stands, and only the bad one is left out and named."""
    reflection, refused = salvage(
        {**WHOLE, "signals": {"sentiment": -0.9, "frustrated": True, "intent": "competitor", **bad}}
    )
    told = reflection.signals
    assert (told.sentiment, told.frustrated, told.intent, told.tags) == (-0.9, True, "competitor", tags)
    assert [one.partition(":")[0] for one in refused] == named


def test_an_intent_that_nobody_knows_is_another_one() -> None:
    """A made-up intent is `other`; a sentiment beyond the scale is at its end; the frustration stands."""
    signals = {"sentiment": -9, "frustrated": True, "intent": "refund_request"}
    reflection, refused = salvage({**WHOLE, "signals": signals})
    told = reflection.signals
    assert (told.sentiment, told.frustrated, told.intent) == (-1, True, "other")
    assert [one.partition(":")[0] for one in refused] == ["signals.sentiment", "signals.intent"]


@pytest.mark.parametrize("signals", [None, "furious", ["furious"], {"sentiment": "bad", "frustrated": "very"}])
def test_a_mood_that_is_not_told_is_not_known_instead_of_calm(signals: Any) -> None:
    """Without usable signals nobody can tell whether the mail was frustrated."""
    reflection, _ = salvage({**WHOLE, **({} if signals is None else {"signals": signals})})
    assert (reflection.signals.sentiment, reflection.signals.frustrated) == (None, None)


def test_more_entries_than_a_list_may_hold_lose_the_last_ones() -> None:
    """A model that says too much is heard as far as the limit goes."""
    reflection, refused = salvage({**WHOLE, "facts": [{**FACT, "key": f"key {n}"} for n in range(33)]})
    assert [one.key for one in reflection.facts] == [f"key {n}" for n in range(30)]
    assert refused == ["facts: 3 entries are over the limit of 30"]


@pytest.mark.parametrize("brief", [None, 7, "x" * 20_000])
def test_a_bad_brief_does_not_take_the_summary_with_it(brief: Any) -> None:
    """Without a usable brief the summary and the facts still hold; the brief that stands stays."""
    reflection, refused = salvage({**WHOLE, "brief": brief})
    assert (reflection.summary, reflection.brief) == ("Ada asked.", "")
    assert [one.partition(":")[0] for one in refused] == ["brief"]


@pytest.mark.parametrize("given", [{}, {"brief": "b"}, {"summary": None, "brief": "b"}, {"summary": 7, "brief": "b"}])
def test_without_a_summary_nothing_holds(given: dict[str, Any]) -> None:
    """A reflection that does not say what happened is none."""
    with pytest.raises(ReflectionUnusable, match="summary"):
        salvage(given)


def test_summary_and_brief_are_cut_by_code() -> None:
    """At most 200 and 500 words, held by code and not by hope."""
    reflection, _ = salvage({"summary": "Word. " * 900, "brief": "word " * 900})
    assert len(reflection.summary.split()) <= SUMMARY_WORDS
    assert len(reflection.brief.split()) <= BRIEF_WORDS


names = st.sampled_from(
    [*Reflection.model_fields, *FACT, *EDGE, "sentiment", "tags", "state", "__class__", ""]
) | st.text(max_size=5)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=20)
    | st.sampled_from(["ADD", "DELETE", "note", "\ud800", "2026-02-30", "x" * 9000, 10**400])
)
hostile = st.recursive(
    leaves, lambda one: st.lists(one, max_size=4) | st.dictionaries(names, one, max_size=5), max_leaves=12
)


@given(st.dictionaries(names, hostile, max_size=8), st.booleans())
def test_no_answer_whatever_raises_anything_else(given: dict[str, Any], with_summary: bool) -> None:
    """Hostile JSON gives a reflection within its limits or ReflectionUnusable, nothing else."""
    try:
        reflection, refused = salvage({**given, **({"summary": "It happened."} if with_summary else {})})
    except ReflectionUnusable as error:
        assert not with_summary, error  # noqa: PT017 - either outcome is right
        return
    assert Reflection.model_validate(reflection.model_dump()) == reflection
    assert all(isinstance(one, str) for one in refused)


@pytest.mark.parametrize("room", [Room(100, 60), Room(300, 900)])
def test_texts_have_the_room_that_a_deployment_gives_them(room: Room) -> None:
    """Whatever the model makes of the wish, code holds it, the numbers of a summary stay, and the model is told of it."""
    said = {"summary": "It took a while. " * 90 + "The order is 99120.", "brief": "word " * 1000}
    reflection, _ = salvage(said, room)
    assert room.summary - 4 <= len(reflection.summary.split()) <= room.summary
    assert reflection.summary.endswith("Also: 99120.")
    assert len(reflection.brief.split()) == room.brief
    told = reflection_schema(room)["properties"]
    assert f"at most {room.summary} words" in told["summary"]["description"]
    assert f"at most {room.brief} words" in told["brief"]["description"]
