"""DKIM signatures that depend on nothing but the mail and the key (RFC 6376, ed25519 after RFC 8463).

dkimpy stamps the wall clock into `t=`; that tag is optional and left out here, so that a world's bytes never change.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

import dkim
from nacl.encoding import RawEncoder
from nacl.signing import SigningKey

_ALGORITHM = b"ed25519-sha256"
_SIGNED = (b"from", b"to", b"subject", b"date", b"message-id", b"in-reply-to", b"references")


@dataclass(frozen=True, slots=True)
class Seal:
    """The signing key of a domain. `seed` is 32 bytes."""

    domain: str
    selector: str
    seed: bytes

    @property
    def record(self) -> tuple[str, str]:
        """Name and value of the TXT record that publishes the key."""
        public = base64.b64encode(bytes(self._key().verify_key)).decode()
        return f"{self.selector}._domainkey.{self.domain}", f"v=DKIM1; k=ed25519; p={public}"

    def sealed(self, raw: bytes) -> bytes:
        """`raw` (CRLF lines) with a DKIM-Signature before its first header, relaxed/relaxed."""
        signer = dkim.DKIM(raw, signature_algorithm=_ALGORITHM)
        signer.hasher = dkim.HASH_ALGORITHMS[_ALGORITHM]
        canonical = dkim.CanonicalizationPolicy.from_c_value(b"relaxed/relaxed")
        body = hashlib.sha256(canonical.canonicalize_body(signer.body)).digest()
        present = {name.lower() for name, _ in signer.headers}
        headers = [name for name in _SIGNED if name in present]
        value: bytes = signer.gen_header(
            self._tags(headers, base64.b64encode(body)), headers, canonical, b"DKIM-Signature", self._key()
        )
        return b"DKIM-Signature: " + value + raw

    def _key(self) -> SigningKey:
        return SigningKey(self.seed, encoder=RawEncoder)

    def _tags(self, headers: list[bytes], body_hash: bytes) -> list[tuple[bytes, bytes]]:
        return [
            (b"v", b"1"),
            (b"a", _ALGORITHM),
            (b"c", b"relaxed/relaxed"),
            (b"d", self.domain.encode()),
            (b"s", self.selector.encode()),
            (b"h", b" : ".join(headers)),
            (b"bh", body_hash),
            (b"b", b"0" * 60),
        ]
