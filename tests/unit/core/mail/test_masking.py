"""mask: what is taken out of a text, and what must stay."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.mail.masking import iban_holds, luhn_holds, mask


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("card 4111 1111 1111 1111.", "card [card …1111]."),
        ("5500-0000-0000-0004", "[card …0004]"),
        ("amex 378282246310005", "amex [card …0005]"),
        ("IBAN DE89 3704 0044 0532 0130 00 please", "IBAN [iban …3000] please"),
        ("GB29NWBK60161331926819", "[iban …6819]"),
        ("fr: FR14 2004 1010 0505 0001 3M02 606", "fr: [iban …2606]"),
        ("my password is hunter2!", "my password is [secret]"),
        ("api_key=9f8e7d6c5b4a", "api_key=[secret]"),
        ("key sk-ant-api03-AAAABBBBCCCCDDDDEEEE", "key [secret]"),
        ("AKIAIOSFODNN7EXAMPLE", "[secret]"),
        ("ghp_" + "a1" * 18, "[secret]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "[secret]"),
    ],
)
def test_secrets_are_masked(text: str, masked: str) -> None:
    """Card numbers, IBANs and keys leave the text; the last four characters of a number stay."""
    assert mask(text).text == masked


@pytest.mark.parametrize(
    "text",
    [
        "order 4111 1111 1111 1112",
        "DE89 3704 0044 0532 0130 01",
        "call +49 170 1234567890",
        "tracking 1Z999AA10123456784",
        "I forgot my password, please reset it",
        "the password does not work",
        "2026-11-21 07:00:00 1234567890",
        "0000 0000 0000 0000",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    """Numbers whose check digits do not hold, and words about passwords, stay as they are."""
    assert mask(text).text == text
    assert mask(text).found == ()


def test_private_key_is_masked_whole() -> None:
    """A PEM private key goes from its first to its last line, also where the end is cut off."""
    pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----"
    assert mask(f"here: {pem} thanks").text == "here: [secret] thanks"
    assert mask(f"here: {pem[:45]}").text == "here: [secret]"


def test_found_names_each_kind() -> None:
    """What was taken out is told by kind, never by value."""
    found = mask("4111111111111111 and GB29NWBK60161331926819").found
    assert [(f.kind, f.shown) for f in found] == [("iban", "[iban …6819]"), ("card", "[card …1111]")]


@given(st.text(alphabet="0123456789 -", max_size=60))
def test_no_valid_card_survives(text: str) -> None:
    """After masking, no group of 16 digits on its own that begins like a card passes Luhn."""
    left = re.findall(r"(?<![\d -])[456]\d{15}(?![\d -])", mask(text).text)
    assert not any(luhn_holds(digits) and len(set(digits)) > 1 for digits in left)


@given(st.text())
def test_masking_twice_is_masking_once(text: str) -> None:
    """mask is idempotent on any text."""
    once = mask(text).text
    assert mask(once).text == once


def test_check_digits() -> None:
    """Luhn and mod 97 hold for the published examples and not for a changed digit."""
    assert luhn_holds("79927398713")
    assert not luhn_holds("79927398714")
    assert iban_holds("GB82WEST12345698765432")
    assert not iban_holds("GB83WEST12345698765432")
