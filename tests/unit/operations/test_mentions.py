"""Whom a note names."""

from __future__ import annotations

import pytest

from services.operations.users.names import mentioned

NAMES = ("Grace Hopper", "Ada", "Ann Lee", "Ann Li", "Ülkü")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@grace, look", ["Grace Hopper"]),
        ("Look, @Grace  Hopper!", ["Grace Hopper"]),
        ("@ADA and (@grace): @ada", ["Ada", "Grace Hopper"]),
        ("@ann lee, not the other", ["Ann Lee"]),
        ("@ann: which of the two?", []),
        ("@ann lison is nobody", []),
        ("@ülkü.", ["Ülkü"]),
        ("＠ａｄａ in wide letters", ["Ada"]),
        ("write to grace@ada.example or to x@ada", []),
        ("@ada.example is a host, @adam nobody, @ada_b nobody, @ada-lin nobody", []),
        ("@ada-", ["Ada"]),
        ("@@ada", ["Ada"]),
        ("ada, @ ada, @unknown @", []),
        ("", []),
    ],
)
def test_a_name_after_an_at_sign_is_a_mention(text: str, names: list[str]) -> None:
    """The whole name, or a first word that is one user's alone; addresses, hosts and other words stay text."""
    assert list(mentioned(text, NAMES)) == names


def test_nobody_asks_themselves_and_a_note_names_at_most_twenty() -> None:
    """What one writes to oneself is no alert; a note to everybody is none to hundreds."""
    assert mentioned("@ada @grace", NAMES, but="Ada") == ("Grace Hopper",)
    many = [f"u{number}" for number in range(50)]
    assert mentioned(" ".join(f"@{one}" for one in many), many) == tuple(many[:20])
