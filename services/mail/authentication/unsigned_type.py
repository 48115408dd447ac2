"""A Content-Type that no signature covers: anybody may have written it, and so chosen how the signed body is read.

Gmail signs none. So it is believed where the body itself says the same: a multipart body begins with its delimiter, a
text body with none, and the charset is one in which ASCII is ASCII.
"""

from __future__ import annotations

import re

from services.mail import parameters
from services.mail.message import ParsedMail

LOOKED_AT = 65_536  # bytes of the body
_BODY = re.compile(rb"\r?\n\r?\n")
_NOT_ASCII = re.compile(r"utf-?(?:7|16|32)|ucs|hz|ebcdic|cp0?(?:37|500|875|1026|1140)\b", re.IGNORECASE)
_TEXTS = ("text/plain", "text/html")


def unsigned_type_doubt(mail: ParsedMail, raw: bytes) -> str:
    """Why the uncovered Content-Type may not be the author's; "" where it is what the body shows."""
    kind, given = parameters.parse(mail.header("Content-Type") or "text/plain")
    delimiter = _first_delimiter(raw)
    if kind.startswith("multipart/"):
        said = given.get("boundary", "").encode("utf-8", "replace")
        return (
            ""
            if said and delimiter == b"--" + said
            else "its unsigned Content-Type names another boundary than its body"
        )
    if kind not in _TEXTS:
        return f"no signature covers its Content-Type, {kind[:60]}"
    if _NOT_ASCII.search(given.get("charset", "")):
        return "no signature covers its charset"
    return (
        "its unsigned Content-Type hides the parts of its body" if delimiter and _is_multipart(raw, delimiter) else ""
    )


def _first_delimiter(raw: bytes) -> bytes:
    """The first line of the body that could be a delimiter (RFC 2046, 5.1.1), or b""."""
    start = _BODY.search(raw)
    lines = raw[start.end() : start.end() + LOOKED_AT].splitlines() if start else []
    return next((line.rstrip() for line in lines if line.startswith(b"--") and len(line.rstrip()) > 2), b"")


def _is_multipart(raw: bytes, delimiter: bytes) -> bool:
    """Whether the body ends its last part, as a body of parts does, with a header below the first delimiter."""
    begins = raw.find(b"\n" + delimiter)
    after = raw[begins + len(delimiter) + 1 : begins + len(delimiter) + 200].lstrip(b" \t")
    closed = b"\n" + delimiter + b"--" in raw
    return closed and bool(re.match(rb"\r?\n(?:content-|\r?\n)", after, re.IGNORECASE))
