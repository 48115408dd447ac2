"""Whether a quote really stands in a text: what a model retypes is folded, everything else has to match."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.settings.memory import LONGEST_QUOTE
from services.memory.quotes import find_quote

TEXT = "Hello,\n\nwe are on the\r\n   Enterprise plan (40 seats).\nAda"


@pytest.mark.parametrize(
    "quote",
    ["we are on the Enterprise plan", "the\nEnterprise\tplan", "  (40 seats). ", "Hello, we are", "\u00a0Ada"],
)
def test_white_space_is_folded(quote: str) -> None:
    """Line ends and indentation of a mail do not hide a quote."""
    found = find_quote(quote, TEXT)
    assert found is not None
    assert found.quote == TEXT[found.start : found.end]
    assert found.quote.split() == quote.split()


@pytest.mark.parametrize(
    "quote",
    ["", "  ", "we are on Enterprise", "Enterprise plan (41 seats)", ".*", "40 seats)!", "x" * 301],
)
def test_everything_else_has_to_match(quote: str) -> None:
    """A missing word, another number, a pattern or nothing at all stands nowhere."""
    assert find_quote(quote, TEXT) is None


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("We are on the Team plan.", "Well, we are on the Team plan now", "we are on the Team plan"),
        ("we’re on Team", "we're on Team", "we're on Team"),
        ("we're on Team", "we’re on Team", "we’re on Team"),
        ("Mo-Fr", "from Mo–Fr only", "Mo–Fr"),
        ("30 seats", "about 30\u00a0seats", "30\u00a0seats"),
        ("30\u00a0seats…", "about 30 seats and more", "30 seats"),
        ("we are ... Team plan", "we are on the Team plan", "we are on the Team plan"),
        ("we are […] Team", "we are on the Team plan", "we are on the Team"),
        ("café", "Cafe\u0301 Ada", "Cafe\u0301"),
        ("STRASSE", "Die Straße", "Straße"),
        ("'40 seats'", "for 40 seats", "40 seats"),
        ("a ... b", "b and a", None),
        ("...", "a b", None),
        ("40...", "1402", None),
    ],
)
def test_what_a_model_retypes_does_not_count(quote: str, text: str, found: str | None) -> None:
    """Apostrophes, dashes, capitals, a stop, a space that does not break, an ellipsis: the words are those of the mail."""
    span = find_quote(quote, text)
    assert (span and span.quote) == found
    assert span is None or text[span.start : span.end] == found


texts = st.text(st.sampled_from("ab .*\\(\n\t\u00a0é"), max_size=80)


@given(texts, st.integers(0, 20), st.integers(1, 10))
def test_what_was_copied_is_found_with_its_words(text: str, start: int, length: int) -> None:
    """Any words copied from a text are found in it, in the same words, never longer than a quote may be."""
    quote = " ".join(text.split()[start : start + length])
    found = find_quote(quote, text)
    assert (found is not None) == bool(quote.split())
    if found is not None:
        assert found.quote.split() == quote.split()
        assert found.quote == text[found.start : found.end][:LONGEST_QUOTE]


@given(texts, texts)
def test_what_is_found_does_stand_there(quote: str, text: str) -> None:
    """A quote is never found where its words do not follow each other."""
    found = find_quote(quote, text)
    if found is not None:
        parts = [part for one in quote.split("...") for part in one.replace(".", " ").split()]
        assert all(part in text for part in parts)


@pytest.mark.parametrize(
    ("quote", "text", "stands"),
    [
        ("40", "we paid 1402 dollars", False),
        ("40", "we are 40 people", True),
        ("Team", "the Teams plan", False),
        ("$50", "US$50 were credited", True),
        ("北京", "我住在北京市", True),
    ],
)
def test_a_quote_ends_where_words_end(quote: str, text: str, stands: bool) -> None:
    """Half a word or half a number is no quote; scripts without spaces have no such edges."""
    assert (find_quote(quote, text) is not None) is stands
