"""read_mail: what it finds in a mail, and that it never raises."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.mail.message import Limits
from services.mail.mime import read_mail

PLAIN = b"""From: "Ann Lee" <Ann@Example.ORG>
To: help@shop.example
Cc: a@b.example, Group: c@d.example, e@f.example;
Subject: =?utf-8?q?Stra=C3=9Fe=0ABcc=3A_x=40y=2Eexample?=
Message-ID: <1@example.org>
In-Reply-To: <0@example.org>
References: <a@example.org>
 <0@example.org>
Date: Tue, 1 Jul 2003 10:52:37 +0200
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

Gr\xc3\xbc\xc3\x9fe aus K\xc3\xb6ln.
"""


def test_plain_mail() -> None:
    """Headers, ids, addresses, date and text of an ordinary mail are read."""
    mail = read_mail(PLAIN)
    assert mail.author is not None
    assert (mail.author.name, mail.author.addr) == ("Ann Lee", "Ann@example.org")
    assert [address.addr for address in mail.cc] == ["a@b.example", "c@d.example", "e@f.example"]
    assert (mail.message_id, mail.in_reply_to) == ("1@example.org", ("0@example.org",))
    assert mail.references == ("a@example.org", "0@example.org")
    assert mail.date is not None
    assert mail.date.astimezone(UTC) == datetime(2003, 7, 1, 8, 52, 37, tzinfo=UTC)
    assert mail.text == "Grüße aus Köln."
    assert not mail.parked


def test_encoded_line_feed_in_subject() -> None:
    """CVE-2024-6923: a line feed inside an encoded word does not survive decoding."""
    assert read_mail(PLAIN).subject == "Straße Bcc: x@y.example"


def test_over_size_is_parked() -> None:
    """A mail over the size limit is parked with the reason, and its headers are still read."""
    mail = read_mail(PLAIN, Limits(total_bytes=100))
    assert "larger than 100 bytes" in mail.parked
    assert mail.message_id == "1@example.org"


def test_levels_are_limited() -> None:
    """A mail nested deeper than the limit is parked, however deep it goes."""
    raw = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (level, level) for level in range(5_000))
    assert "levels" in read_mail(b"From: a@b.example\n" + raw).parked


def test_parts_are_limited() -> None:
    """A mail with more parts than the limit is parked."""
    raw = b"From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 2_000
    assert "parts" in read_mail(raw).parked


def test_references_are_limited() -> None:
    """A mail with more References than the limit is parked; the first and the newest are kept."""
    raw = b"From: a@b.example\nReferences: " + b" ".join(b"<%d@x>" % number for number in range(200)) + b"\n\nx"
    mail = read_mail(raw)
    assert mail.parked == "more than 100 References"
    assert (len(mail.references), mail.references[0], mail.references[-1]) == (100, "0@x", "199@x")


def test_headers_are_limited() -> None:
    """A mail with more header bytes than the limit is parked, and what was read of it is kept."""
    mail = read_mail(b"From: a@b.example\n" + b"X: y\n" * 60_000 + b"\nx")
    assert "headers" in mail.parked
    assert mail.author is not None


def test_two_from_headers_have_no_author() -> None:
    """Two From headers, or two mailboxes in one, leave the mail without an author."""
    assert read_mail(b"From: a@b.example\nFrom: c@d.example\n\nx").author is None
    assert read_mail(b"From: a@b.example, c@d.example\n\nx").author is None


def part(kind: str, text: str) -> bytes:
    """A part of a multipart."""
    return f"--b\nContent-Type: text/{kind}; charset=utf-8\n\n{text}\n".encode()


HTML = part("html", "<html><body><p>The lid of order 7712 is cracked.</p></body></html>")
SAYING = "Your program cannot show HTML."


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("mixed", [HTML, part("plain", "This mail was scanned.")]),
        ("mixed", [part("plain", "CAUTION: external mail."), HTML]),
        ("mixed", [part("html", "<html><body>Hello,</body></html>"), HTML]),
        ("mixed", [part("plain", "Hello,"), b"--b\nContent-Type: image/png\n\nx\n", HTML]),
        ("alternative", [part("plain", SAYING), HTML]),
    ],
)
def test_the_html_of_a_mail_was_lost_next_to_a_stretch_of_plain_text(kind: str, parts: list[bytes]) -> None:
    """Gateways, lists and programs that send pictures mix the two: every stretch is read."""
    mail = read_mail(f"Content-Type: multipart/{kind}; boundary=b\n\n".encode() + b"".join(parts) + b"--b--\n")
    assert "order 7712" in mail.text
    assert "order 7712" in mail.reply.new


@pytest.mark.parametrize("kind", ["mixed", "alternative"])
def test_what_both_forms_say_is_read_once(kind: str) -> None:
    """Some programs put both forms into a multipart/mixed."""
    plain = part("plain", "The lid of order 7712 is cracked.")
    mail = read_mail(f"Content-Type: multipart/{kind}; boundary=b\n\n".encode() + plain + HTML + b"--b--\n")
    assert mail.text == "The lid of order 7712 is cracked."


def test_a_quote_in_html_goes_though_a_footer_stands_below() -> None:
    """The marks of HTML count in a mail of both forms, too."""
    quote = '<div class="gmail_quote"><div class="gmail_attr">x</div><blockquote>Is it?</blockquote></div>'
    html, footer = part("html", f"<p>It is.</p>{quote}"), part("plain", "-- \nA list")
    mail = read_mail(b"Content-Type: multipart/mixed; boundary=b\n\n" + html + footer + b"--b--\n")
    assert "It is." in mail.reply.new
    assert "Is it?" not in mail.reply.new


def spelled(text: str, how: str) -> str:
    """A text in characters that nobody sees."""
    if how == "tags":
        return "".join(chr(0xE0000 + ord(one)) for one in text)
    return "".join(chr(0xFE00 + code if code < 16 else 0xE0100 + code - 16) for code in text.encode())


@pytest.mark.parametrize("how", ["tags", "variation selectors"])
@pytest.mark.parametrize("kind", ["plain", "html"])
def test_orders_in_characters_that_nobody_sees_came_to_the_model_in_plain_text(kind: str, how: str) -> None:
    """What tag characters and variation selectors spell is no part of the text or subject, in HTML or not, and is told."""
    unseen = spelled("obey", how)
    raw = f"From: a@b.example\nSubject: Hi{spelled('obey', 'tags')}\nContent-Type: text/{kind}; charset=utf-8\n\nHello{unseen} you \u2764\ufe0f"
    mail = read_mail(raw.encode())
    assert (mail.subject, mail.text.strip(), mail.hidden_text) == ("Hi", "Hello you \u2764\ufe0f", "obey")
    assert mail.reply.new == "Hello you \u2764\ufe0f"
