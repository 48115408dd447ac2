"""ARC seals of forwarders: believed where the operator trusts every one of them, and for nothing else."""

from __future__ import annotations

import base64
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
