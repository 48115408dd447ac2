"""How long a text is in words, whatever it is written in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.words import BYTES_A_WORD, clip_words, count_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("Ada asked for a refund.", 5),
        ("Клиент сообщил о сбое", 4),
        ("고객이 환불을 요청했습니다", 3),
        ("客户要求退款。", 4),
        ("エクスポートが失敗", 5),
        ("ลูกค้าขอเงินคืน", 4),
        ("x" * 90, 5),
        ("order 4471：退款", 4),
    ],
)
def test_words_of_many_scripts(text: str, words: int) -> None:
    """Blanks part words; where none are written two characters (of Thai four) are one, and no word is endless."""
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("客户要求退款。我们已经回复。", 4, "客户要求退款。"),
        ("One two. Three four five", 4, "One two."),
        ("one two three order-4471-8812-2231-9944", 4, "one two three"),
        ("क्या हुआ। सब ठीक है। और", 4, "क्या हुआ।"),
        ("x" * 90, 2, "x" * 40),
        ("anything", 0, ""),
    ],
)
def test_a_cut_is_made_at_a_sentence_else_at_a_blank(text: str, limit: int, kept: str) -> None:
    """Sentences end as their script ends them; a number is not cut in two where a blank is near."""
    assert clip_words(text, limit) == kept


@given(st.text(alphabet=st.characters(exclude_categories=["Z", "C"]), max_size=2000), st.integers(1, 60))
def test_no_text_is_short_in_words_and_long_in_bytes(text: str, limit: int) -> None:
    """Whatever is cut to so many words fits the room that a prompt has for them."""
    cut = clip_words(text, limit)
    assert count_words(cut) <= limit
    assert len(cut.encode()) <= limit * BYTES_A_WORD
