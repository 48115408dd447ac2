"""ARC seals of forwarders: believed where the operator trusts every one of them, and for nothing else."""

from __future__ import annotations

import base64
import re
from functools import cache

import dkim
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from services.mail.authentication import Authentication, authenticate
from services.mail.mime import read_mail
from tests.unit.mail.test_authentication import Zone

MESSAGE = (
    b"From: Ann <ann@my-shop.example>\r\nTo: support@shop.example\r\nSubject: Hi\r\n\r\nHello.\r\n\r\n-- \r\nA list\r\n"
)
FORWARDER, SECOND = "forward.example", "relay.example"


@cache
def key() -> tuple[bytes, str]:
    """One private key as PEM, and its record in the DNS."""
    private = rsa.generate_private_key(65537, 2048)
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = private.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return pem, "v=DKIM1; k=rsa; p=" + base64.b64encode(public).decode()


def sealed(raw: bytes, by: str, found: str) -> bytes:
    """The mail as a forwarder passes it on, who found something out about it."""
    server = f"mx.{by}"
    told = f"Authentication-Results: {server}; {found}\r\n".encode() + raw
    lines = dkim.arc_sign(told, b"s", by.encode(), key()[0], server.encode())
    return b"".join(lines) + told


def judged(raw: bytes, *sealers: str) -> Authentication:
    """What is found of a mail whose own authentication broke on the way, with a strict DMARC policy."""
    dns = Zone().put("_dmarc.my-shop.example", "v=DMARC1; p=reject")
    for domain in (FORWARDER, SECOND):
        dns.put(f"s._domainkey.{domain}", key()[1])
    return authenticate(raw, read_mail(raw), None, dns, (), sealers)


PASSED = "dmarc=pass header.from=my-shop.example"


def test_a_trusted_forwarders_seal_verifies_a_mail_that_it_changed() -> None:
    """DMARC fails here, but passed at the first hop, and that hop's seal holds."""
    found = judged(sealed(MESSAGE, FORWARDER, PASSED), FORWARDER)
    assert (found.level, found.method) == ("verified", "arc")
    assert FORWARDER in found.reasons[0]


def test_without_trust_a_seal_says_nothing() -> None:
    """Anybody can seal anything: by default nobody's seal counts."""
    raw = sealed(MESSAGE, FORWARDER, PASSED)
    assert judged(raw).level == judged(raw, "other.example").level == "failed"


@pytest.mark.parametrize(
    "found",
    ["dmarc=fail header.from=my-shop.example", "dmarc=pass header.from=evil.example", "spf=pass smtp.mailfrom=my-shop.example"],
)  # fmt: skip
def test_only_a_dmarc_pass_for_the_author_counts(found: str) -> None:
    """A seal on another finding, or on one about another domain, verifies nobody."""
    assert judged(sealed(MESSAGE, FORWARDER, found), FORWARDER).level == "failed"


def test_a_mail_changed_after_its_last_seal_is_not_believed() -> None:
    """The seal binds the text: a line more, and the chain is broken."""
    raw = sealed(MESSAGE, FORWARDER, PASSED).replace(b"Hello.", b"Hello, send money.")
    assert judged(raw, FORWARDER).level == "failed"


def test_every_sealer_of_the_chain_has_to_be_trusted() -> None:
    """With one stranger among them the chain proves nothing; with both trusted the first one's finding counts."""
    raw = sealed(sealed(MESSAGE, FORWARDER, PASSED), SECOND, "arc=pass; dmarc=fail header.from=my-shop.example")
    assert judged(raw, FORWARDER).level == judged(raw, SECOND).level == "failed"
    assert judged(raw, FORWARDER, SECOND).method == "arc"


def test_a_garbled_chain_raises_nothing() -> None:
    """Seals that cannot be read are no seals."""
    raw = sealed(MESSAGE, FORWARDER, PASSED)
    for broken in (
        raw.replace(b"cv=none", b"cv=pass"),
        raw.replace(b"i=1", b"i=x"),
        b"ARC-Seal: \xff;;=\r\n" + MESSAGE,
    ):
        assert judged(broken, FORWARDER).level == "failed"


def seals(raw: bytes) -> bytes:
    """The three headers of a chain, as one who has the mail copies them."""
    fields = re.split(rb"\r\n(?![ \t])", raw.partition(b"\r\n\r\n")[0])
    return b"".join(one + b"\r\n" for one in fields if one.lower().startswith(b"arc-"))


GOOD, FAILED = sealed(MESSAGE, FORWARDER, PASSED), "dmarc=fail header.from=my-shop.example"
AAR = f"ARC-Authentication-Results: i=1; mx.{FORWARDER}; {PASSED}\r\n".encode()
FORGED = {
    "a chain on another text": seals(GOOD) + MESSAGE.replace(b"Hello.", b"Pay Eve."),
    "a chain on another subject": seals(GOOD) + MESSAGE.replace(b"Subject: Hi", b"Subject: Pay Eve"),
    "another mailbox of the author's domain": GOOD.replace(b"ann@my-shop", b"ceo@my-shop"),
    "a second From above": b"From: Ceo <ceo@my-shop.example>\r\n" + GOOD,
    "the same From again": b"From: Ann <ann@my-shop.example>\r\n" + GOOD,
    "a second Subject above": b"Subject: Pay Eve\r\n" + GOOD,
    "a second To above": b"To: bob@victim.example\r\n" + GOOD,
    "the chain twice": seals(GOOD) + GOOD,
    "the chain sixty times": seals(GOOD) * 60 + GOOD,
    "another finding in a chain that holds": sealed(MESSAGE, FORWARDER, FAILED).replace(b"dmarc=fail", b"dmarc=pass"),
    "another finding above": AAR + sealed(MESSAGE, FORWARDER, FAILED),
    "another finding below": sealed(MESSAGE, FORWARDER, FAILED).replace(b"From: Ann", AAR + b"From: Ann"),
    "a finding in a comment": sealed(MESSAGE, FORWARDER, f"dmarc=fail ({PASSED}) header.from=my-shop.example"),
    "a finding in quotes": sealed(MESSAGE, FORWARDER, f'x=y reason="; {PASSED}"'),
    "two findings": sealed(MESSAGE, FORWARDER, f"{FAILED}; {PASSED}"),
    "a chain that begins at two": GOOD.replace(b"i=1", b"i=2"),
    "a chain without the seal of the text": GOOD.replace(b"ARC-Message-Signature", b"X-Message-Signature"),
    "a seal under another trusted name": GOOD.replace(f"d={FORWARDER}".encode(), f"d={SECOND}".encode()),
    "a stranger's chain below a trusted seal": sealed(sealed(MESSAGE, "evil.example", PASSED), FORWARDER, FAILED),
    "lines behind the end": GOOD + b"Pay Eve.\r\n",
    "a header of 70,000 characters above": b"X-Pad: " + b"a" * 70_000 + b"\r\n" + GOOD,
}


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_chain_verifies_nobody(how: str) -> None:
    """Whatever is done to a chain of trusted sealers by one who has a mail with a good one, and none of their keys."""
    assert judged(GOOD, FORWARDER, SECOND).level == "verified"
    assert judged(FORGED[how], FORWARDER, SECOND).level != "verified"
