"""When two deliveries are the same mail."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.receive_email.fingerprint import fingerprint, message_id_of
from tests.support.corpora import corpus

MAIL = b"Message-ID: <a@b>\r\nSubject: one\r\n\r\nHello\r\nthere\r\n"


def test_headers_added_on_the_way_do_not_count() -> None:
    """A trace header, other line endings and white space at the end leave a mail the same mail."""
    assert fingerprint(b"Received: from x\r\n" + MAIL) == fingerprint(MAIL)
    assert fingerprint(MAIL.replace(b"\r\n", b"\n")) == fingerprint(MAIL)
    assert fingerprint(MAIL + b"\r\n\r\n") == fingerprint(MAIL)


def test_another_id_or_body_is_another_mail() -> None:
    """Either of the two tells mails apart."""
    assert fingerprint(MAIL.replace(b"<a@b>", b"<a@c>")) != fingerprint(MAIL)
    assert fingerprint(MAIL.replace(b"Hello", b"Hallo")) != fingerprint(MAIL)


def test_without_a_message_id_date_author_and_subject_stand_in() -> None:
    """Two mails without Message-ID and with one body are two if they differ in subject, one if in a trace header."""
    bare = MAIL.replace(b"Message-ID: <a@b>\r\n", b"")
    assert fingerprint(bare.replace(b"one", b"two")) != fingerprint(bare)
    assert fingerprint(b"X-Trace: 1\r\n" + bare) == fingerprint(bare)


def test_a_mail_cannot_pose_as_another_by_its_headers() -> None:
    """What stands in for a Message-ID is kept apart from one."""
    posing = b"Date: a@b\r\n\r\nHello\r\nthere\r\n"
    assert fingerprint(posing) != fingerprint(b"Message-ID: <a@b>\r\n\r\nHello\r\nthere\r\n")


def test_the_first_message_id_counts() -> None:
    """Of two Message-ID headers the first is the mail's, as for every reader of mail."""
    assert message_id_of(b"Message-ID: <first@x>\r\nMessage-ID: <second@x>\r\n\r\n") == "first@x"
    assert message_id_of(b"Subject: none\r\n\r\n") == ""


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_no_bytes_make_it_raise(raw: bytes) -> None:
    """Anything has a fingerprint, and always the same one."""
    assert fingerprint(raw) == fingerprint(bytes(raw))
    assert len(fingerprint(raw)) == 64


@pytest.mark.parametrize("name", ["real-mail", "mime", "bounces"])
def test_real_mails_have_fingerprints_of_their_own(name: str) -> None:
    """Of other people's mails none raises, and two share a fingerprint only if they share Message-ID and body."""
    seen: dict[str, bytes] = {}
    for file in sorted(corpus(name).rglob("*")):
        if file.is_file() and file.suffix != ".json":
            raw = file.read_bytes()
            other = seen.setdefault(fingerprint(raw), raw)
            assert message_id_of(other) == message_id_of(raw)
            assert other.rstrip()[-200:].replace(b"\r", b"") == raw.rstrip()[-200:].replace(b"\r", b"")
    assert len(seen) > 50
