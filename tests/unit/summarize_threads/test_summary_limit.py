"""The limit of a summary: so many words, whatever comes, and its numbers are not lost to the cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.summary_limit import MOST, MOST_NAMES, Names, limited, numbers
from schemas.words import count_words


def test_a_short_summary_stays_as_it_is() -> None:
    """What fits, with every number of before, is not touched."""
    text = "Ada asked about invoice 4471 ($120.50). We refunded it on 2026-03-02."
    assert limited(text, 200, "Ada wrote about invoice 4471.") == text


def test_numbers_behind_the_cut_are_named_at_the_end() -> None:
    """The cut leaves whole sentences, and the numbers it took away come back in one line, within the limit."""
    text = "Ada reported a fault. " + "It was long. " * 30 + "Her order is A-77812 and we owe her $45."
    short = limited(text, 40)
    assert short.startswith("Ada reported a fault.")
    assert short.endswith("Also: A-77812, $45.")
    assert count_words(short) <= 40


def test_a_number_that_the_model_left_out_is_kept() -> None:
    """A model that forgets the order number does not make us forget it."""
    before = "Ada Miller wrote about order 99120 and ticket #4411."
    assert (
        limited("Ada thanked us; all is settled.", 200, before) == "Ada thanked us; all is settled. Also: 99120, #4411."
    )


def test_it_does_not_grow_from_update_to_update() -> None:
    """Kept numbers are kept once, the latest ones, and the same summary again is the same."""
    text = "Start."
    for number in range(1000, 1060):
        text = limited(f"They wrote about case {number}.", 60, text)
    assert count_words(text) <= 60
    assert "1059" in text
    assert text.count("Also:") == 1
    assert limited(text, 60, text) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("order 4471, plan 3, 2 seats", ["4471"]),
        ("since 2024, on 2026-03-02 and 02.03.2026, 2026-W10", []),
        ("INV-2231 and #77, #7781; $5 or 20%", ["INV-2231", "#77", "#7781", "$5", "20%"]),
        ("call +49 30 901820", ["901820"]),
        ("nothing at all", []),
    ],
)
def test_which_numbers_name_a_thing(text: str, found: list[str]) -> None:
    """Order and invoice numbers, ids and amounts do; dates, years and small counts do not."""
    assert numbers(text) == found


ADA = Names("Ada Miller", ("Falcon X2", "Northwind GmbH"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The customer thanked us.", "The customer thanked us. Also: Ada Miller, Falcon X2."),
        ("Ms Miller thanked us for the falcon\nX2.", "Ms Miller thanked us for the falcon\nX2."),
        ("Ada thanked us; her Falcon X20 came.", "Ada thanked us; her Falcon X20 came. Also: Falcon X2."),
    ],
)
def test_a_name_that_the_model_left_out_is_kept(text: str, expected: str) -> None:
    """The customer's name, any part of it counting, and what is remembered as identity come back, as numbers do."""
    assert limited(text, 200, "Ada Miller wrote about her Falcon X2.", ADA) == expected


def test_a_name_that_was_never_said_is_not_put_in() -> None:
    """What is remembered does not come into a summary that never had it."""
    assert limited("They thanked us.", 200, "They wrote.", ADA) == "They thanked us."


def test_names_behind_the_cut_come_back() -> None:
    """The cut takes sentences, not who they are about; the limit holds."""
    short = limited("It was long. " * 60 + "Ada Miller owns Northwind GmbH.", 40, "", ADA)
    assert short.endswith("Also: Ada Miller, Northwind GmbH.")
    assert count_words(short) <= 40


def test_names_in_scripts_without_spaces_are_found() -> None:
    """A name that stands in the middle of a text without spaces is there."""
    names = Names("田中一郎")
    assert limited("田中一郎様はお礼を述べた。", 200, "田中一郎様から。", names) == "田中一郎様はお礼を述べた。"
    assert limited("お礼を述べた。", 200, "田中一郎様から。", names).endswith("Also: 田中一郎.")


@pytest.mark.parametrize(
    "sentence",
    [
        "客户报告导出失败，订单号4471，要求退款。",
        "お客様は注文番号4471について問い合わせました。",
        "ลูกค้าแจ้งว่าส่งออกรายงานเลขที่4471ไม่ได้ ",
    ],
)
def test_a_summary_without_spaces_was_of_any_length(sentence: str) -> None:
    """Where no blank stands between words the limit holds as well, at a sentence, and the numbers come back."""
    text = sentence * 200 + "最後は88123。"
    short = limited(text, 200)
    assert count_words(short) <= 200
    assert len(short) <= 4 * 200
    assert short.endswith("Also: 88123.")
    assert numbers(sentence) == ["4471"]


def test_hostile_names_break_nothing() -> None:
    """What somebody calls themselves is text, however it looks and however much of it there is."""
    names = Names("(.*)+ [a-z", tuple(f"Thing {number}" for number in range(50)))
    before = "(.*)+ [a-z has " + ", ".join(names.things)
    short = limited("Nothing.", 200, before, names)
    assert short.count("Thing ") == MOST_NAMES - 1
    assert limited("Nothing.", 200, "x" * 5000, Names("x" * 4000)) == "Nothing."


@given(text=st.text(max_size=3000), before=st.text(max_size=600), limit=st.integers(30, 200), name=st.text(max_size=80))
def test_the_limit_holds_whatever_comes(text: str, before: str, limit: int, name: str) -> None:
    """No text of a model, and no summary before it, makes one over the limit."""
    assert count_words(limited(text, limit, f"{before} {name}", Names(name, (name,)))) <= limit
    assert len(numbers(limited(text, limit, before))) <= len(numbers(text)) + len(numbers(before)) + MOST
