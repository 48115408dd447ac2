"""A CA of one's own, as a company has it: certificates that no system trusts unless it is told to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cached_property
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


class PrivateCa:
    """Signs certificates for IP addresses; `pem` is its own."""

    def __init__(self, name: str = "Shop CA") -> None:
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())

    @cached_property
    def pem(self) -> bytes:
        """The CA's certificate, to be trusted."""
        builder = _builder(self._name, self._name, self._key.public_key(), 30 * DAY)
        made = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        made = made.add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
        return made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def server_pem(self, address: str = "127.0.0.1", *, valid_for: timedelta = 30 * DAY) -> bytes:
        """Key and certificate of a server at this address; one that has run out where `valid_for` is negative."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "mail.shop.example")])
        names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))])
        builder = _builder(subject, self._name, key.public_key(), valid_for).add_extension(names, critical=False)
        signed = builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        form = serialization.PrivateFormat.PKCS8
        return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()) + signed


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, valid_for: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 60 * DAY)
        .not_valid_after(now + valid_for)
    )
