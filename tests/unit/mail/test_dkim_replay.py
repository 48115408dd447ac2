"""A mail that its author once signed, sent again by somebody else, with other headers, to others, or much later."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import dkim
import pytest

from services.core.mailbox import MailboxKey
from services.mail.authentication import Authentication, Peer, authenticate
from services.mail.authentication.trusted_results import arrived_at
from services.mail.mime import read_mail
from tests.unit.mail.test_authentication import SEED, with_results, zone

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
OWN = (MailboxKey("support@shop.example"),)
ALL = ["from", "to", "cc", "subject", "date", "message-id", "in-reply-to", "references", "content-type", "mime-version"]
HEADERS = {
    "From": "Ann <ann@my-shop.example>",
    "To": "support@shop.example",
    "Cc": "bob@my-shop.example",
    "Subject": "Where is my parcel?",
    "Date": format_datetime(NOW),
    "Message-ID": "<first@my-shop.example>",
    "In-Reply-To": "<c.1@shop.example>",
    "References": "<c.1@shop.example>",
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=utf-8",
}
BODY = "Hello.\r\n"


def mail(body: str = BODY, **changed: str) -> bytes:
    """A mail with its headers, some of them changed (`message_id`) or left out (empty)."""
    given = {name.replace("_", "-").lower(): value for name, value in changed.items()}
    fields = {name: given.get(name.lower(), value) for name, value in HEADERS.items()}
    return ("".join(f"{name}: {value}\r\n" for name, value in fields.items() if value) + f"\r\n{body}").encode()


def signed(
    raw: bytes, covers: list[str] = ALL, at: datetime = NOW, monkeypatch: pytest.MonkeyPatch | None = None
) -> bytes:
    """The mail with a signature over some of its headers, made at a moment."""
    present = {line.partition(b":")[0].lower() for line in raw.partition(b"\r\n\r\n")[0].split(b"\r\n")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dkim.time.time", at.timestamp)
        header: bytes = dkim.sign(
            raw, b"s", b"my-shop.example", SEED, signature_algorithm=b"ed25519-sha256",
            include_headers=[one.encode() for one in covers if one.encode() in present],
        )  # fmt: skip
    return header + raw


def judged(raw: bytes, arrived: datetime | None = NOW, peer: Peer | None = None, spf: str = "") -> Authentication:
    """What is made of it where only the signature speaks for it."""
    return authenticate(raw, read_mail(raw), peer, zone(spf=spf), own_addresses=OWN, arrived=arrived)


def test_a_mail_as_it_was_signed_is_verified() -> None:
    """Everything covered, to us, of today."""
    assert judged(signed(mail())).level == "verified"
    assert judged(signed(mail())).unsigned == ()


@pytest.mark.parametrize("name", ["Subject", "To", "Cc", "Date", "Message-ID", "In-Reply-To", "References", "Reply-To",
                                  "Sender", "Content-Type", "MIME-Version", "Content-Transfer-Encoding"])  # fmt: skip
@pytest.mark.parametrize("again", [True, False])
def test_a_header_that_may_stand_once_and_stands_twice_proves_nobody(name: str, again: bool) -> None:
    """A second Subject, To, Message-ID, ... above a signed mail, or below its first, is believed by nobody."""
    raw = signed(
        mail().replace(
            b"\r\n\r\n",
            b"\r\nReply-To: ann@my-shop.example\r\nSender: ann@my-shop.example\r\nContent-Transfer-Encoding: 8bit\r\n\r\n",
            1,
        )
    )
    assert judged(raw).level == "verified"
    for spelled in (name, name.upper(), f"{name} "):
        line = f"{spelled}: forged\r\n".encode()
        twice = line + raw if again else raw.replace(b"\r\n\r\n", b"\r\n" + line + b"\r\n", 1)
        assert judged(twice).level == "unverified"
    assert judged(with_results("Authentication-Results: x; none") + b"").level == "unverified"


def test_a_header_twice_is_not_believed_on_our_servers_word_either() -> None:
    """The rule holds for SPF and for what our own server found."""
    spf, peer = "v=spf1 ip4:192.0.2.1 -all", Peer("192.0.2.1", "mx", "ann@my-shop.example")
    assert judged(mail(), peer=peer, spf=spf).level == "verified"
    assert judged(b"Subject: other\r\n" + mail(), peer=peer, spf=spf).level == "unverified"
    told = b"Authentication-Results: mx.ours.example; dmarc=pass header.from=my-shop.example\r\n"
    for raw, level in ((told + mail(), "verified"), (told + b"Subject: other\r\n" + mail(), "unverified")):
        found = authenticate(raw, read_mail(raw), None, zone(), ["mx.ours.example"])
        assert found.level == level


@pytest.mark.parametrize(
    ("uncovered", "changed"),
    [
        ("subject", {"subject": "Give me all you know"}),
        ("to", {"to": "support@shop.example"}),
        ("content-type", {"content_type": 'multipart/mixed; boundary="x"'}),
        ("content-type", {"content_type": "text/plain; charset=utf-7"}),
        ("content-type", {"content_type": "message/rfc822"}),
    ],
)
def test_what_the_signature_leaves_open_proves_nothing(uncovered: str, changed: dict[str, str]) -> None:
    """A Subject, a To or a Content-Type that anybody may have written makes the mail unproven."""
    raw = signed(mail(cc="", **changed), [one for one in ALL if one != uncovered])
    found = judged(raw)
    assert found.level == "unverified"
    assert found.method == ""


def test_uncovered_references_name_no_mails() -> None:
    """The author is proven, the thread is not: what is uncovered is named, so that nothing is looked up by it."""
    raw = signed(mail(), [one for one in ALL if one not in ("in-reply-to", "references", "message-id")])
    assert judged(raw).level == "verified"
    assert judged(raw).unsigned == ("in-reply-to", "message-id", "references")


PARTS = "--real\r\nContent-Type: text/plain\r\n\r\nHello.\r\n--fake\r\nContent-Type: text/plain\r\n\r\nBye.\r\n--fake--\r\n--real--\r\n"


@pytest.mark.parametrize(
    ("kind", "level"),
    [
        ('multipart/alternative; boundary="real"', "verified"),
        ('multipart/alternative; boundary="fake"', "unverified"),
        ('multipart/alternative; boundary="rea"', "unverified"),
        ("multipart/alternative", "unverified"),
        ("text/plain", "unverified"),
        ("", "unverified"),
    ],
)
def test_an_unsigned_boundary_is_the_one_that_the_body_begins_with(kind: str, level: str) -> None:
    """Gmail signs no Content-Type: the signed body says itself how it is divided."""
    covers = [one for one in ALL if one != "content-type"]
    assert judged(signed(mail(PARTS, content_type=kind), covers)).level == level


def test_a_letter_with_dashes_in_it_is_a_letter() -> None:
    """Lines of dashes and a signature mark in an unsigned text body are no parts."""
    body = "Hello.\r\n\r\n----- my list -----\r\none\r\n\r\n-- \r\nAnn\r\n"
    covers = [one for one in ALL if one != "content-type"]
    assert judged(signed(mail(body), covers)).level == "verified"


@pytest.mark.parametrize(
    ("to", "cc", "level"),
    [
        ("Support <SUPPORT@shop.example>", "", "verified"),
        ("support+cabc@shop.example", "", "verified"),
        ("bob@my-shop.example", "support@shop.example", "verified"),
        ("list@lists.example", "", "unverified"),
        ("undisclosed-recipients:;", "", "unverified"),
        ("support@shop.example.evil.example", "", "unverified"),
        ('"support@shop.example" <eve@evil.example>', "", "unverified"),
        ("", "", "unverified"),
    ],
)
def test_a_signed_mail_to_others_proves_nothing_to_us(to: str, cc: str, level: str) -> None:
    """What the author sent to somebody else (a list, a Bcc, a friend who passes it on) writes no memory here."""
    assert judged(signed(mail(to=to, cc=cc))).level == level


@pytest.mark.parametrize("days", [8, 90, 1000, -8])
def test_an_old_signature_is_a_copy(days: int) -> None:
    """A mail that was signed, or dated, long before it came is not what its author says now."""
    then = NOW - timedelta(days=days)
    assert judged(signed(mail(date=format_datetime(then)), at=then)).level == "unverified"
    assert judged(signed(mail(date=format_datetime(then)), at=then), arrived=None).level == "verified"


def test_a_mail_that_waited_in_queues_for_days_is_the_authors() -> None:
    """Servers try for five days."""
    then = NOW - timedelta(days=5)
    assert judged(signed(mail(date=format_datetime(then)), at=then)).level == "verified"


def test_a_date_that_no_signature_covers_makes_no_old_mail_new() -> None:
    """A signature older than the mail that it stands in is another mail's."""
    covers = [one for one in ALL if one != "date"]
    assert judged(signed(mail(), covers, at=NOW - timedelta(days=3))).level == "unverified"
    assert judged(signed(mail(), covers, at=NOW - timedelta(days=30)), arrived=None).level == "unverified"
    assert judged(signed(mail(), covers)).level == "verified"


def test_what_its_own_server_hands_over_is_no_copy() -> None:
    """With SPF for the author's domain nobody played the mail again: a Bcc, or a list of theirs, is theirs."""
    spf, peer = "v=spf1 ip4:192.0.2.1 -all", Peer("192.0.2.1", "mx", "ann@my-shop.example")
    assert judged(signed(mail(to="list@lists.example")), peer=peer, spf=spf).level == "verified"


def test_our_servers_word_on_a_signature_goes_as_far_as_the_signature() -> None:
    """`dkim=pass` says that some signature held, not that it covers what stands in the mail."""
    told = b"Authentication-Results: mx.ours.example; dkim=pass header.d=my-shop.example\r\n"
    narrow = signed(mail(), ["from", "date"])
    broad = signed(mail(subject="Other")).partition(b"From:")[0]
    lengthy = signed(mail()).replace(b"v=1;", b"v=1; l=3;", 1)
    for raw, level in (
        (told + signed(mail()), "verified"),
        (told + narrow, "unverified"),
        (told + broad + narrow, "unverified"),
        (told + broad * 6 + narrow, "unverified"),
        (told + lengthy, "unverified"),
    ):
        found = authenticate(raw, read_mail(raw), None, zone(), ["mx.ours.example"], own_addresses=OWN, arrived=NOW)
        assert found.level == level


@pytest.mark.parametrize(
    ("received", "days"),
    [
        ("by mx.shop.example with ESMTP", 20),
        ("by mx2.shop.example with ESMTP", 20),
        ("by mx.evil.example with ESMTP", 0),
        ("by mx.evil.example by mx.shop.example", 0),
        ("", 0),
    ],
)
def test_the_arrival_is_our_own_servers_stamp(received: str, days: int) -> None:
    """A mail that waited for us is as old as our server says; what a sender stamps makes no old copy new."""
    then = NOW - timedelta(days=20)
    stamp = f"Received: from a.example {received}; {format_datetime(then)}\r\n".encode() if received else b""
    found = arrived_at(read_mail(stamp + mail()), ["mx.shop.example"], NOW)
    assert NOW - found == timedelta(days=days)
    assert arrived_at(read_mail(stamp + mail()), [], NOW) == NOW
