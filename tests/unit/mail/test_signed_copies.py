"""Copies of a signed mail, told by what was signed; and signatures that are written beside one that holds."""

from __future__ import annotations

import base64
import re

import pytest

from services.mail.authentication import Authentication, authenticate
from services.mail.mime import read_mail
from tests.unit.mail.test_arc import FORWARDER, PASSED, key, sealed
from tests.unit.mail.test_authentication import Zone, zone
from tests.unit.mail.test_dkim_replay import ALL, NOW, OWN, judged, mail, signed

WITHOUT_ID = [one for one in ALL if one not in ("message-id", "in-reply-to", "references")]
TOLD = b"Authentication-Results: mx.ours.example; dmarc=pass header.from=my-shop.example; dkim=pass header.d=%s\r\n"


def told(raw: bytes, domain: str = "my-shop.example", arrived: object = NOW) -> Authentication:
    """What is made of it where our own server says that the signature of a domain holds."""
    raw = TOLD % domain.encode() + raw
    return authenticate(raw, read_mail(raw), None, zone(), ["mx.ours.example"], own_addresses=OWN, arrived=NOW)


def test_every_copy_of_a_signed_mail_has_its_digest() -> None:
    """What a signature leaves open may be changed and is no other mail: an uncovered Message-ID, headers on top, `b=`."""
    raw = signed(mail(), WITHOUT_ID)
    (digest,) = judged(raw).signatures
    copies = [
        raw.replace(b"<first@my-shop.example>", b"<second@evil.example>"),
        b"Received: from mx.evil.example by mx.ours.example; Mon, 02 Mar 2026 09:00:00 +0000\r\n" + raw,
        b"Auto-Submitted: auto-replied\r\n" + raw,
        re.sub(rb"\bb=([A-Za-z0-9+/]{8})", rb"b=\1\r\n  ", raw),
    ]
    for copy in copies:
        assert judged(copy).level == "verified"
        assert judged(copy).signatures == (digest,)
        assert told(copy).signatures == (digest,)


def test_two_mails_have_two_digests() -> None:
    """Another Date, text or Subject is another mail, however much else is the same."""
    raws = [
        signed(mail()),
        signed(mail(subject="Another")),
        signed(mail("Hello!\r\n")),
        signed(mail(date="Mon, 02 Mar 2026 12:00:01 +0000")),
    ]
    assert len({judged(raw).signatures for raw in raws}) == len(raws)


def test_who_is_not_proven_has_no_digest() -> None:
    """A signature that does not hold, or leaves a doubt, names no mail: it could take the place of the real one."""
    assert judged(signed(mail()).replace(b"Hello", b"Hallo")).signatures == ()
    assert judged(signed(mail(), [one for one in ALL if one != "subject"])).signatures == ()


def test_a_made_up_signature_of_the_authors_own_domain_covers_nothing() -> None:
    """Where our server says that the organization's signature held, one that it does not speak of lifts no doubt."""
    raw = signed(mail(**{"from": "Ann <ann@mail.my-shop.example>"}), ["from", "to", "date"])
    made_up = b"DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed; d=mail.my-shop.example; s=s; t=%d; " % int(
        NOW.timestamp()
    )
    made_up += b"h=" + ":".join(ALL).encode() + b"; bh=" + base64.b64encode(b"x" * 32) + b"; b=AAAA\r\n"
    for one in (raw, made_up + raw):
        top = TOLD.replace(b"header.from=my-shop.example", b"header.from=mail.my-shop.example") % b"my-shop.example"
        found = authenticate(
            top + one, read_mail(top + one), None, zone(), ["mx.ours.example"], own_addresses=OWN, arrived=NOW
        )
        assert found.level == "unverified"
        assert found.signatures == ()


@pytest.mark.parametrize("broken", [b"DKIM-Signature: v=1; d\r\n", b"DKIM-Signature: no tags at all\r\n"])
def test_a_signature_that_cannot_be_read_is_no_reason_to_ask_nothing(broken: bytes) -> None:
    """Our server may have found that it holds, and what it covers is not known here."""
    assert told(mail()).level == "verified"
    assert told(broken + mail()).level == "unverified"


@pytest.mark.parametrize(("what", "days", "level"), [("today's", 0, "verified"), ("last month's", 31, "failed")])
def test_an_old_seal_is_a_replay_like_an_old_signature(what: str, days: int, level: str) -> None:
    """Whoever has a mail that a trusted forwarder sealed can send it on: it is new for as long as a signature is."""
    del what
    dns = Zone().put("_dmarc.my-shop.example", "v=DMARC1; p=reject").put(f"s._domainkey.{FORWARDER}", key()[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dkim.time.time", lambda: NOW.timestamp() - days * 86_400)
        raw = sealed(mail(date="", to="help@old.example"), FORWARDER, PASSED)
    found = authenticate(raw, read_mail(raw), None, dns, (), [FORWARDER], own_addresses=OWN, arrived=NOW)
    assert found.level == level
    assert bool(found.signatures) == (level == "verified")
