"""Header fields: blocks, encoded words, parameters, message ids, dates."""

from __future__ import annotations

from datetime import UTC, datetime
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.mail import headers
from services.mail.headers import parse_date


def test_block_with_folds_and_strange_lines() -> None:
    """Folded values stay whole, a mbox line is skipped, a line that is no field is passed over and reported."""
    raw = b"From x@y Mon\nSubject: a\r\n b\nnonsense\nTo : c@d.example\r\n\r\nbody"
    fields, body_at, defects = headers.split_block(raw, 1_000)
    assert [(name, headers.unfold(value)) for name, value in fields] == [("Subject", "a b"), ("To", "c@d.example")]
    assert raw[body_at:] == b"body"
    assert defects == ("a line among the headers is not a header",)


def test_body_without_empty_line() -> None:
    """Where the empty line is missing, the body begins at the first line that cannot be a header."""
    raw = b"Subject: a\nDear all,\nhello"
    fields, body_at, _ = headers.split_block(raw, 1_000)
    assert (len(fields), raw[body_at:]) == (1, b"Dear all,\nhello")


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("=?ISO-8859-1?Q?a?= =?ISO-8859-1?Q?b?=", "ab"),
        ("=?ISO-8859-1?Q?a?= b", "a b"),
        ("=?utf-8?b?w7w=?=", "ü"),
        ("=?utf-8?b?w7w?=", "ü"),
        ("=?utf-8?q?=C3?= =?utf-8?q?=BC?=", "ü"),
        ("=?utf-8*de?q?=C3=BC?=", "ü"),
        ("=?x-unknown?q?abc?=", "abc"),
        ("=?iso-8859-1?q?=93a=94?=", "“a”"),
        ("=?utf-8?q?a=0D=0ABcc=3A_b?=", "a Bcc: b"),
        ("a\u202eb\x00c", "ab c"),
        ("=?broken", "=?broken"),
    ],
)
def test_encoded_words(value: str, meant: str) -> None:
    """RFC 2047 words are decoded as they are meant, broken ones leniently, and no control character is left."""
    assert headers.decode_words(value) == meant


@given(st.text())
def test_decoded_values_hold_no_controls(value: str) -> None:
    """No value, encoded in any word or none, decodes to something with a line break or a NUL."""
    encoded = "=?utf-8?q?" + "".join(f"={byte:02X}" for byte in value.encode("utf-8", "replace")) + "?="
    for decoded in (headers.decode_words(value), headers.decode_words(encoded)):
        assert not any(ord(character) < 32 or ord(character) == 127 for character in decoded)


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ("<a@b> <c@d>", ("a@b", "c@d")),
        ("<a@b><c@d>\n <a@b>", ("a@b", "c@d")),
        ("<a@\n b>", ("a@b",)),
        ("a@b", ("a@b",)),
        ('Your mail of Monday <a@b> "x@y"', ("a@b",)),
        ("none here", ()),
        ("<>", ()),
    ],
)
def test_message_ids(value: str, ids: tuple[str, ...]) -> None:
    """Ids are found in brackets, or as bare words where there are none, each once."""
    assert headers.message_ids(value) == ids


def test_many_references_are_trimmed_in_the_middle() -> None:
    """Over the limit the first and the newest references are kept."""
    value = " ".join(f"<{number}@x>" for number in range(500))
    assert headers.message_ids(value, 3) == ("0@x", "498@x", "499@x")


def test_an_id_of_six_thousand_bytes_stopped_the_reader() -> None:
    """An id longer than a line of mail is none: no index holds it, and the mail was tried until it was given up."""
    long, whole = "a" * 6_000, f"{'é' * 490}@b.example"
    assert headers.message_ids(f"<{long}@b.example> <{whole}> <c@b.example>") == (whole, "c@b.example")
    assert headers.message_ids(f"{long}@b.example {'é' * 500}@b.example") == ()


def test_parameters() -> None:
    """Quoted, encoded and continued parameters are joined and decoded (RFC 2231)."""
    value = 'Text/Plain; charset="UTF-8"; name*0*=iso-8859-1\'\'a%E4; name*1=b; x="q\\"q; z"; =; y'
    assert headers.parse_parameters(value) == ("text/plain", {"charset": "UTF-8", "x": 'q"q; z', "name": "aäb"})


def test_parameter_with_encoded_word() -> None:
    """A file name in an encoded word, which the RFC forbids and everyone sends, is decoded."""
    assert headers.parse_parameters('application/pdf; name="=?utf-8?q?=C3=BC.pdf?="')[1] == {"name": "ü.pdf"}


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("Tue, 1 Jul 2003 10:52:37 +0200", datetime(2003, 7, 1, 8, 52, 37, tzinfo=UTC)),
        ("1 Jul 03 10:52 EDT", datetime(2003, 7, 1, 14, 52, tzinfo=UTC)),
        ("Tue, 1 Jul 2003 ((nested) comment) 10:52:37 +0200 (CEST)", datetime(2003, 7, 1, 8, 52, 37, tzinfo=UTC)),
        ("2003-07-01T10:52:37+02:00", datetime(2003, 7, 1, 8, 52, 37, tzinfo=UTC)),
        ("2003-07-01 10:52:37", datetime(2003, 7, 1, 10, 52, 37, tzinfo=UTC)),
        ("by x with y; Tue, 1 Jul 2003 10:52:60 +0200", datetime(2003, 7, 1, 8, 52, 59, tzinfo=UTC)),
    ],
)
def test_dates(value: str, moment: datetime) -> None:
    """Dates of every age and shape name a moment."""
    found = parse_date(value)
    assert found is not None
    assert found.astimezone(UTC) == moment


@pytest.mark.parametrize("value", ["", "yesterday", "Tue, 99 Foo 2003 10:52:37", "1 Jul 99999 10:00", "(" * 300])
def test_no_date(value: str) -> None:
    """What names no moment gives None."""
    assert parse_date(value) is None


@pytest.mark.parametrize(
    "value",
    ["Fri, 31 Dec 9999 23:59:59 -2359", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"],
)
def test_a_mail_of_the_last_day_of_all_was_never_learned_from(value: str) -> None:
    """Its moment could be stored and not be read again: what asked for it was given up."""
    assert parse_date(value) is None


def test_message_ids_in_encoded_words() -> None:
    """Programs in Python encode an id that is longer than a line; it is the same id all the same."""
    mail = EmailMessage()
    mail["References"] = f"<one@a.example> <{'x' * 80}@b.example>"
    (raw,) = [line for line in mail.as_string().replace("\n ", " ").splitlines() if line.startswith("References")]
    assert "=?utf-8?q?" in raw
    assert headers.message_ids(raw.partition(":")[2]) == ("one@a.example", f"{'x' * 80}@b.example")
