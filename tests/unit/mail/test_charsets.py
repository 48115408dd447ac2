"""Bytes to text, whatever the mail says about them."""

from __future__ import annotations

import pytest

from services.mail.charsets import codec_name, decode, decode_checked


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        ("Grüße".encode(), "utf-8", "Grüße"),
        ("Grüße".encode("latin-1"), "iso-8859-1", "Grüße"),
        ("“x” €".encode("cp1252"), "iso-8859-1", "“x” €"),
        ("“x” €".encode("cp1252"), "us-ascii", "“x” €"),
        ("Grüße".encode(), "us-ascii", "Grüße"),
        ("Grüße".encode(), "x-nobody-knows", "Grüße"),
        ("日本".encode("iso2022_jp"), "ISO-2022-JP", "日本"),
        ("日本".encode("shift_jis"), "x-sjis", "日本"),
        ("한국".encode("cp949"), "ks_c_5601-1987", "한국"),
        ("中文".encode("gb18030"), "GB2312", "中文"),
        ("x".encode("utf-16"), "utf-16", "x"),
        (b"\xef\xbb\xbfx", "utf-8", "x"),
        (b"plain", "base64", "plain"),
        (b"\\ud800", "unicode_escape", "\\ud800"),
        (b"caf\xe9", "", "café"),
        ("Grüße aus Köln".encode("latin-1"), "utf-8", "Grüße aus Köln"),
        ("Où est ma commande, s'il vous plaît ?".encode("latin-1"), "utf-8", "Où est ma commande, s'il vous plaît ?"),
        ("Верните, пожалуйста, деньги за заказ".encode("cp1251"), "utf-8", "Верните, пожалуйста, деньги за заказ"),
        ("お願いします".encode("iso2022_jp"), "utf-8", "お願いします"),
        ("주문".encode("iso2022_kr"), "", "주문"),
        ("Grüße".encode("utf-16"), "utf-8", "Grüße"),
        ("schöne Grüße".encode() + b"\xc3", "utf-8", "schöne Grüße\ufffd"),
        (b"log: \x1b[31mred and \x1b$ done", "", "log: \x1b[31mred and \x1b$ done"),
    ],
)
def test_decoding(data: bytes, charset: str, text: str) -> None:
    """The claim is believed as the web believes it, and where it is impossible the bytes are."""
    assert decode(data, charset) == text


def test_wrong_claims_are_defects() -> None:
    """An unknown charset and bytes outside the known one are reported, a right claim is not."""
    assert decode_checked(b"x", "x-foo") == ("x", "unknown charset 'x-foo'")
    assert decode_checked(b"caf\xe9", "utf-8")[1] == "bytes outside 'utf-8'"
    assert decode_checked(b"caf\xc3\xa9", "utf-8") == ("café", "")


def test_utf7_spells_no_half_characters() -> None:
    """What UTF-7 decodes to can be stored."""
    assert decode(b"+2AA-x", "utf-7").encode("utf-8")


def test_codecs_that_are_no_charsets() -> None:
    """Python's codecs that turn bytes into bytes, or run escapes, are no charsets of mail."""
    assert [codec_name(name) for name in ("zlib", "hex", "rot13", "idna", "undefined", "", "a" * 5_000)] == [""] * 7
