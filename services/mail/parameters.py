"""Content-Type and Content-Disposition: the value and its parameters (RFC 2045, RFC 2231), read leniently."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from services.mail import charsets, headers

_PARAMETER = re.compile(r';\s*([^\s=;"]+)\s*=\s*("(?:[^"\\]|\\.)*"?|[^;]*)', re.DOTALL)
_CONTINUED = re.compile(r"([^*]+)(?:\*(\d{1,4}))?(\*)?\Z")


def parse(value: str) -> tuple[str, dict[str, str]]:
    """The first word before the first `;`, in lower case, and the decoded parameters by lower-case name."""
    head = next(iter(headers.clean(value.split(";", 1)[0]).lower().split()), "")
    plain: dict[str, str] = {}
    pieces: dict[str, dict[int, tuple[str, bool]]] = {}
    for match in _PARAMETER.finditer(value):
        name, text = match[1].lower(), _unquoted(match[2].strip())
        split = _CONTINUED.match(name)
        if split is None or (split[2] is None and split[3] is None):
            plain.setdefault(name, headers.decode_words(text))
        else:
            pieces.setdefault(split[1], {}).setdefault(int(split[2] or 0), (text, bool(split[3])))
    return head, plain | {name: _extended(parts) for name, parts in pieces.items()}


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text.split()[0] if text.split() and "=?" not in text and "*" not in text and " " in text else text
    return re.sub(r"\\(.)", r"\1", text.strip('"'))


def _extended(parts: dict[int, tuple[str, bool]]) -> str:
    """RFC 2231 pieces joined in their order; the first one may name the charset."""
    charset, data = "", b""
    for index, (_, (text, encoded)) in enumerate(sorted(parts.items())):
        if encoded and index == 0 and text.count("'") >= 2:
            charset, _, text = text.split("'", 2)
        data += unquote_to_bytes(text) if encoded else text.encode("utf-8", "replace")
    return headers.clean(charsets.decode(data, charset))
