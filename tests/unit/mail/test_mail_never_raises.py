"""Whatever arrives, reading it raises nothing and ends."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.mail import mime
from services.mail.message import ParsedMail
from tests.benchmarks.mail_fuzz import mutate


def read_mail(raw: bytes) -> ParsedMail:
    """The mail, read without the last resort."""
    mail = mime.read_mail(raw)
    assert not mail.parked.startswith(mime.UNREADABLE)
    return mail


def unstorable(value: object) -> Iterator[str]:
    """The texts, however deep within, that Postgres does not store: with a null character or a lone surrogate."""
    if isinstance(value, str):
        if "\x00" in value or value.encode("utf-8", "replace").decode() != value:
            yield value
    elif is_dataclass(value):
        yield from unstorable([getattr(value, one.name) for one in fields(value)])
    elif isinstance(value, list | tuple | frozenset):
        for one in value:
            yield from unstorable(one)


MIXED = b"""From: =?utf-8?q?J=C3=B6rg?= <joerg@example.org>
To: Team: a@b.example, "x, y" <c@d.example>;
Subject: =?iso-8859-1?b?/A==?= test
Message-ID: <1@example.org>
References: <0@example.org> <00@example.org>
Date: Mon, 4 Mar 2024 09:15:00 +0100
Content-Type: multipart/mixed; boundary="out"

--out
Content-Type: multipart/alternative; boundary=in

--in
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

Gr=C3=BC=C3=9Fe=20
On 4 Mar 2024 at 9:00, Ann <a@b.example> wrote:
> Hello
--in
Content-Type: text/html; charset=iso-8859-1

<p>Gr\xfc\xdfe<div style="display:none">x</div><blockquote type=cite>Hello</blockquote>
--in--
--out
Content-Type: application/pdf; name*=utf-8''a%20b.pdf
Content-Disposition: attachment
Content-Transfer-Encoding: base64

JVBERi0xLjQK
--out
Content-Type: message/rfc822

Subject: inner

begin 644 a.txt
#86)C
`
end
--out--
"""

NESTED = b"From: a@b.example\n" + b"".join(
    b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (level, level) for level in range(40)
)

HOSTILE = {
    "line feeds in many levels": NESTED + b"\n" * 300_000,
    "unclosed quotes": b"From: " + b'"\\' * 60_000 + b"\n\nx",
    "unclosed comments": b"From: " + b"(" * 120_000 + b"\n\nx",
    "addresses without end": b"To: " + b"a@b.example," * 15_000 + b"\n\nx",
    "encoded words": b"Subject: " + b"=?utf-8?q?a?= " * 15_000 + b"\n\nx",
    "parameters": b"Content-Type: text/plain" + b';a*0="' * 30_000 + b"\n\nx",
    "begin lines": b"Subject: x\n\n" + b"begin 644 x\n" * 40_000,
    "begin and end lines": b"Subject: x\n\n" + b"begin 644 x\nend\n" * 40_000,
    "signature marks": b"Subject: x\n\nx\n" + b"--\n----\nx\n" * 15_000,
    "header lines": b"Subject: x\n\nx\n" + b"From: x\nTo: y\n\n> a\nb\n" * 10_000,
    "attributions": b"Subject: x\n\n" + b"On 1 Jan 2020 at 10:00 x <a@b.example> wrote:\n" * 5_000,
    "trailing spaces": b"Content-Transfer-Encoding: quoted-printable\n\n" + b" \t" * 500_000 + b"x",
    "open elements": b"Content-Type: text/html\n\n" + b"<blockquote><ul><a href=http://a.example>x" * 20_000,
    "inline elements": b"Content-Type: text/html\n\n" + b"<b>x</b>" * 60_000,
    "style rules": b"Content-Type: text/html\n\n<style>" + b"@{.a" * 100_000 + b"</style>",
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
def test_hostile_mail_is_read(raw: bytes) -> None:
    """Mails made to take quadratic time are read within the time that a test may take."""
    assert isinstance(read_mail(raw), ParsedMail)


@given(st.integers(0, len(MIXED)))
def test_truncated_mail(length: int) -> None:
    """A mail cut off anywhere is read."""
    assert isinstance(read_mail(MIXED[:length]), ParsedMail)


@given(st.integers())
def test_injured_mail(seed: int) -> None:
    """A mail injured at random is read, its addresses hold no control character, and its text is not lost."""
    mail = read_mail(mutate(MIXED, MIXED, random.Random(seed)))
    assert all(address.addr.isprintable() for address in (*mail.from_, *mail.to, *mail.cc))
    assert all(value.isprintable() or "\u00ad" in value or not value.isascii() for _, value in mail.headers)
    assert bool(mail.reply.new) == bool(mail.text.strip())
    assert not list(unstorable(mail))


@given(st.binary(max_size=2_000))
def test_bytes_that_are_no_mail(raw: bytes) -> None:
    """Any bytes are read, and what they give can be stored as UTF-8."""
    mail = read_mail(raw)
    for text in (mail.text, mail.subject, mail.html, *(value for _, value in mail.headers)):
        assert text.encode("utf-8").decode("utf-8") == text
        assert "\x00" not in text


def test_last_resort(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the reader parks the mail and raises nothing."""

    def fault(text: str) -> str:
        if text:
            raise RecursionError
        return ""

    monkeypatch.setattr(mime, "detect_language", fault)
    mail = mime.read_mail(MIXED)
    assert (mail.parked, mail.text) == ("our reader failed (RecursionError)", "")


def test_the_mixed_mail() -> None:
    """The mail that is injured above is read whole where it is not."""
    mail = read_mail(MIXED)
    assert mail.reply.new == "Grüße"
    assert [a.filename for a in mail.attachments] == ["a b.pdf", ""]
    assert [a.content_type for a in mail.attachments] == ["application/pdf", "message/rfc822"]
    assert (mail.subject, mail.hidden_text) == ("ü test", "x")


@pytest.mark.parametrize("name", [b"Content-Type: text/pl\0ain", b"Content-Disposition: attachment; filename=a\0b"])
def test_a_null_byte_in_a_parts_header_can_be_stored(name: bytes) -> None:
    """It once stood in an attachment's type, and the mail could not be stored at all."""
    raw = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + name + b"; x=y\n\n\0\1binary\n--b--\n"
    assert not list(unstorable(read_mail(raw)))
