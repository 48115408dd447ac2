"""What an attachment is for, and how a mail is sealed."""

from __future__ import annotations

import pytest

from services.mail.attachments import attachment_text
from services.mail.filters import FilterContext, judge
from services.mail.message import Attachment
from services.mail.mime import read_mail
from services.mail.part_roles import role_of, seal_of

INVITATION = b"""BEGIN:VCALENDAR\r
VERSION:2.0\r
METHOD:REQUEST\r
BEGIN:VEVENT\r
UID:1\r
SUMMARY:Onboarding\\, part two\r
DTSTART;TZID=Europe/Berlin:20260503T100000\r
DTEND;TZID=Europe/Berlin:20260503T110000\r
RRULE:FREQ=WEEKLY;COUNT=3\r
LOCATION:Room 4\r
ORGANIZER;CN=Ann:mailto:ann@acme.example\r
END:VEVENT\r
END:VCALENDAR\r
"""


def part(content_type: str, content: bytes = b"x", *, inline: bool = False) -> Attachment:
    return Attachment("a", content_type, content_type, "", inline, "", content)


@pytest.mark.parametrize(
    ("one", "role"),
    [
        (part("image/png", inline=True), "picture"),
        (part("image/png"), "file"),
        (part("application/pdf", inline=True), "file"),
        (part("text/calendar"), "invitation"),
        (part("application/pgp-signature"), "signature"),
        (part("application/pkcs7-signature"), "signature"),
        (part("text/vcard"), "contact"),
    ],
)
def test_the_model_is_told_what_a_part_is_for(one: Attachment, role: str) -> None:
    """A picture in the text, an invitation or a signature is not a file that the customer chose to send."""
    assert role_of(one) == role


def test_an_invitation_is_told_in_lines_that_a_person_would_write() -> None:
    """What, when with its zone, how often, where and by whom; no calendar syntax."""
    found = attachment_text(part("text/calendar", INVITATION))
    assert found.verdict == "text"
    assert found.text.split("\n") == [
        "An invitation, to be answered",
        "what: Onboarding, part two",
        "begins: 2026-05-03 10:00 Europe/Berlin",
        "ends: 2026-05-03 11:00 Europe/Berlin",
        "repeats: FREQ=WEEKLY;COUNT=3",
        "where: Room 4",
        "by: ann@acme.example",
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"BEGIN:VCALENDAR",
        b"BEGIN:VEVENT\r\nDTSTART:99999999T999999\r\nEND:VEVENT",
        b"\x00" * 1000,
        b"BEGIN:" * 40_000,
    ],
)
def test_a_broken_calendar_is_for_a_person(content: bytes) -> None:
    """Nothing raises, whatever stands in it."""
    assert attachment_text(part("text/calendar", content)).verdict in ("human", "none")


HEAD = b"From: ann@acme.example\r\nTo: s@shop.example\r\nMessage-ID: <1@acme.example>\r\nSubject: Hi\r\n"
SEALED = [
    (b'Content-Type: application/pkcs7-mime; smime-type=enveloped-data\r\n\r\nMII', "encrypted_smime", "human"),
    (b'Content-Type: application/pkcs7-mime; smime-type="signed-data"\r\n\r\nMII', "opaque_smime", "human"),
    (b'Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b\r\n\r\n--b--', "encrypted_pgp", "human"),
    (b"\r\n-----BEGIN PGP MESSAGE-----\r\n\r\nhQ\r\n-----END PGP MESSAGE-----\r\n", "encrypted_pgp", "human"),
    (b"\r\n-----BEGIN PGP SIGNED MESSAGE-----\r\nHash: SHA256\r\n\r\nWhat does it cost?\r\n", "signed_pgp", "answer"),
    (b'Content-Type: multipart/signed; protocol="application/pgp-signature"; boundary=b\r\n\r\n--b\r\n\r\nHello?\r\n--b--',
     "signed_pgp", "answer"),
    (b'Content-Type: multipart/signed; protocol="application/pkcs7-signature"; boundary=b\r\n\r\n--b\r\n\r\nHi?\r\n--b--',
     "signed_smime", "answer"),
    (b"\r\nHow do I read > -----BEGIN PGP MESSAGE----- in a mail?\r\n", "", "answer"),
]  # fmt: skip


@pytest.mark.parametrize(("rest", "seal", "verdict"), SEALED)
def test_signed_mail_is_read_and_encrypted_mail_is_for_a_person(rest: bytes, seal: str, verdict: str) -> None:
    """What can be read is read; the reason names what closes the rest."""
    mail = read_mail(HEAD + rest)
    assert seal_of(mail) == seal
    judged = judge(mail, FilterContext(envelope_from="ann@acme.example"))
    assert judged.kind == verdict
