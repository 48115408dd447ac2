"""What a DKIM signature was made over, as one digest: two mails of one digest are copies of one signed mail.

Whoever passes a signed mail on may change what the signature leaves open (an uncovered Message-ID, the bytes of `b=`
that no decoder minds), and nothing that goes into this digest: it is what the verifier hashes (RFC 6376, 3.7), the body
by its `bh=`.
"""

from __future__ import annotations

import hashlib
import re

import dkim
from dkim.canonicalization import CanonicalizationPolicy

LENGTH = 32  # hex digits that are kept
_COLON = re.compile(rb"\s{0,99}:\s{0,99}")


def signed_digest(message: dkim.DKIM, field: tuple[bytes, bytes], tags: dict[str, str]) -> str:
    """The digest for one DKIM-Signature field of a message; "" where it cannot be told what it covers."""
    if not tags.get("bh") or not tags.get("h"):
        return ""
    covers = [one.strip().lower() for one in _COLON.split(tags["h"].encode())]
    try:
        policy = CanonicalizationPolicy.from_c_value((tags.get("c") or "simple/simple").encode())
        hasher = hashlib.sha256()
        headers = policy.canonicalize_headers(message.headers)
        dkim.hash_headers(hasher, policy, headers, [*covers, b"from"], field, {})
    except Exception:  # whatever the library makes of hostile bytes: then nothing is known of the signature
        return ""
    return hasher.hexdigest()[:LENGTH]
