"""Personal data is taken out by rule, before a text is kept for everybody."""

from __future__ import annotations

import pytest

from services.mail.masking import Known, marks_in, without_personal

JOHN = Known(
    names=("John Miller", "Mia Stone"),
    addresses=("john.miller@northwind.example", "mia@ourcompany.example"),
    details=("Northwind Traders",),
    said=("Order A-1001 of 2,400 items, customer 77120. Port 8443 is closed at 10.0.0.7.",),
)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Hello John, it is done.", "Hello [name], it is done."),
        ("Mr MILLER said so; ask Mia.", "Mr [name] said so; ask [name]."),
        ("Write to john.miller@northwind.example or x+y@other.example!", "Write to [address] or [address]!"),
        ("Northwind has it, and Northwind  Traders too.", "[detail] has it, and [detail] too."),
        ("Your order A-1001, customer 77120.", "Your order [number], customer [number]."),
        ("Call +49 (30) 1234-5678 or 030/1234567.", "Call [number] or [number]."),
        ("Card 4111 1111 1111 1111, please.", "Card [card …1111], please."),
        ("See https://a.example/reset?token=abc#x for it.", "See https://a.example/reset for it."),
    ],
)
def test_what_tells_who_they_are_is_taken_out(text: str, left: str) -> None:
    """Names, addresses, firms, orders, telephones, cards and the tails of links give way to marks."""
    assert without_personal(text, JOHN) == left


@pytest.mark.parametrize(
    "text",
    [
        "Set the limit to 500 rows; version 2.14.3 does it since 2026-01-15.",
        "The johnson rod and the stones stay.",
        "Open http://localhost:9090/health on 192.168.10.10.",
        "It will work.",
    ],
)
def test_what_tells_nothing_stays(text: str) -> None:
    """Dates, versions, hosts and figures that no customer wrote are what an article is for."""
    assert without_personal(text, JOHN) == text


def test_taking_out_twice_takes_out_nothing_more() -> None:
    """A mark is no name; they can be counted."""
    once = without_personal("John, order A-1001, mia@ourcompany.example", JOHN)
    assert without_personal(once, JOHN) == once
    assert marks_in(once) == 3


def test_a_name_that_is_a_word_is_taken_out_where_it_is_written_as_one() -> None:
    """Will is a person; will is not."""
    will = Known(names=("Will Mark",))
    assert without_personal("Will, that will not mark it.", will) == "[name], that will not mark it."
