"""A reply rests on passages that its model was shown, or on none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

from schemas.events.replies import ContextLayer, MemoryLoaded
from services.generate_reply.citations import cited, shown_facts, shown_passages
from services.generate_reply.desk import Desk

ONE, TWO, OTHER, FACT = (str(UUID(int=number)) for number in (1, 2, 3, 4))


def desk() -> Any:
    return cast(Desk, SimpleNamespace(passages={ONE, TWO}, known={FACT}, refused=[]))


def test_what_was_not_shown_is_not_cited_and_is_noted() -> None:
    """An invented id, one of another turn and plain nonsense are left out; the draft says so."""
    on = desk()
    assert cited("Text.", [TWO, OTHER, "the price list", ONE], on) == ("Text.", (TWO, ONE), ())
    assert [OTHER in on.refused[0], "the price list" in on.refused[1], len(on.refused)] == [True, True, 2]


def test_a_citation_may_come_with_brackets_and_twice() -> None:
    """Models write ids as they were shown them."""
    assert cited("Text.", [f"[{ONE.upper()}] Refunds", ONE], desk()) == ("Text.", (ONE,), ())


def test_marks_in_the_text_do_not_reach_the_customer() -> None:
    """A mark counts as a citation, and is taken out with the blank before it; other brackets stay."""
    text = f"Within 30 days [{ONE}] (or not) [{TWO}, {OTHER}]."
    on = desk()
    assert cited(text, [], on) == ("Within 30 days (or not).", (ONE, TWO), ())
    assert len(on.refused) == 1


def test_a_fact_of_the_context_was_refused_as_not_shown() -> None:
    """It stands apart from passages, and its mark does not reach the customer either."""
    on = desk()
    assert cited(f"You are on Team [{FACT}].", [ONE], on) == ("You are on Team.", (ONE,), (UUID(FACT),))
    assert on.refused == []


def test_each_layer_shows_its_own_sort() -> None:
    """Ids of facts are no passages, nor the reverse."""
    layers = (
        ContextLayer(name="knowledge", text="", items=({"id": ONE},)),
        ContextLayer(name="participant", text="", items=({"id": TWO},)),
    )
    event = SimpleNamespace(layers=layers)
    assert shown_passages(cast(MemoryLoaded, event)) == {ONE}
    assert shown_facts(cast(MemoryLoaded, event)) == {TWO}
