"""A layer within its budget: whole entries, the most valuable first; what other people wrote is masked."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.events.replies import ContextLayer
from services.core.settings import ContextSettings
from services.load_memory.layers import behaviours, guidance, persona
from services.load_memory.section import Section, entry, fit, section
from services.model.usage import estimate_tokens

CARD = "4111 1111 1111 1111"


def fitted(found: Section, budget: int = 100, *, trusted: bool = False) -> ContextLayer:
    return fit("recent", found, budget, shared=False, trusted=trusted)


def lines(*words: str, **given: bool) -> Section:
    return section([entry(word, word=word) for word in words], **given)


def test_what_fits_is_shown_whole() -> None:
    """Entries stand one a line, and their data next to them."""
    found = section([entry("one", n=1), entry("two", n=2)])
    layer = fitted(found)
    assert (layer.name, layer.text, layer.items, layer.left_out) == (
        "recent",
        "one\ntwo",
        ({"n": 1}, {"n": 2}),
        0,
    )
    assert layer.tokens == estimate_tokens(layer.text)


def test_nothing_found_is_an_empty_layer() -> None:
    """A layer without entries has no text, and the prompt leaves it out."""
    layer = fitted(section([]))
    assert (layer.text, layer.items, layer.tokens, layer.left_out) == ("", (), 0, 0)


def test_the_first_entries_are_kept_and_the_rest_is_counted() -> None:
    """Entries come in the order of their worth; the first one that does not fit ends the layer."""
    layer = fitted(lines("a" * 20, "b" * 20, "c" * 20, "d"), 13)
    assert layer.text == "a" * 20 + "\n" + "b" * 20
    assert layer.left_out == 2


def test_newest_first_is_shown_oldest_first() -> None:
    """The newest messages are kept, and read in the order in which they were written."""
    layer = fitted(lines("newest", "older", "oldest" * 20, newest_first=True), 8)
    assert layer.text == "older\nnewest"
    assert [one["word"] for one in layer.items] == ["older", "newest"]


def test_an_entry_that_is_too_large_alone_is_cut() -> None:
    """A mail longer than the whole budget is shown as far as it goes, never left out."""
    layer = fitted(lines("x" * 5000, "next"), 100)
    assert set(layer.text) == {"x"}
    assert 80 <= layer.tokens <= 100
    assert layer.left_out == 1


texts = st.text(st.sampled_from("a é日🙂\n"), max_size=300)


@given(st.lists(texts, max_size=12), st.integers(1, 200), st.booleans())
def test_no_text_in_any_script_exceeds_the_budget(words: list[str], budget: int, newest_first: bool) -> None:
    """However long, in whatever script, the layer's text is within the budget."""
    layer = fitted(section([entry(word) for word in words], newest_first=newest_first), budget, trusted=True)
    assert layer.tokens == estimate_tokens(layer.text) <= budget
    assert len(layer.items) + layer.left_out == len(words)


def test_what_other_people_wrote_is_masked() -> None:
    """Card numbers reach the model neither as text nor as data, however deep they stand in it."""
    found = section([entry(f"my card is {CARD}", text=CARD, goals=[f"charge {CARD}"], more={"note": (CARD,)}, n=7)])
    layer = fitted(found)
    assert CARD not in str(layer)
    assert "[card …1111]" in layer.text
    assert layer.items[0]["n"] == 7
    assert layer.items[0]["goals"] == ["charge [card …1111]"]


def test_our_own_words_are_not_masked() -> None:
    """The persona and the knowledge base are shown as they were written."""
    assert fitted(lines(f"test cards: {CARD}"), trusted=True).text == f"test cards: {CARD}"


@pytest.mark.parametrize("budget", [0, -5])
def test_no_budget_shows_nothing(budget: int) -> None:
    """A layer without room is empty, not an error."""
    layer = fitted(lines("one"), budget)
    assert (layer.text, layer.left_out) == ("", 1)


def test_what_our_own_people_say_to_the_model_is_never_shortened() -> None:
    """A layer without a budget is kept whole, however long."""
    found = section([entry("x" * 50_000), entry("y" * 50_000)])
    layer = fit("persona", found, None, shared=True, trusted=True)
    assert (len(layer.text), layer.left_out) == (100_001, 0)


@pytest.mark.parametrize("layer", [persona, behaviours, guidance])
def test_the_system_part_has_no_budget(layer: ModuleType) -> None:
    """Persona, deployment rules and the rules of the turn are in every prompt as they were written."""
    assert layer.budget(SimpleNamespace(settings=ContextSettings(layer_tokens=1))) is None


def test_what_we_publish_is_not_masked() -> None:
    """A passage of ours is fenced like what others wrote, and keeps the account that it tells customers to pay to."""
    found = section([entry(f"test cards: {CARD}")], published=True)
    assert fitted(found).text == f"test cards: {CARD}"


def test_entries_are_shown_by_group_in_one_order() -> None:
    """Those of no group first, then the groups in their order, then others, whatever their worth."""
    found = section(
        [entry(word, kind=kind) for word, kind in (("x", "other"), ("b", "late"), ("a", "early"), ("n", ""))],
        by="kind",
        groups=("early", "late"),
    )
    assert fitted(found).text == "n\na\nb\nx"
