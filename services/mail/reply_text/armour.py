"""The armour of a clear-signed text (RFC 9580, 7): what a program put around what the author wrote."""

from __future__ import annotations

import re

_BEGIN = "-----BEGIN PGP SIGNED MESSAGE-----"
_SIGNATURE, _END = "-----BEGIN PGP SIGNATURE-----", "-----END PGP SIGNATURE-----"
_HEADER = re.compile(r"[A-Za-z-]{1,30}: .{0,300}")
_CODED = re.compile(r"[A-Za-z0-9+/=]{0,100}")
_ESCAPE = "- "


def without_armour(text: str) -> str:
    """`text` with no armour, no signature and no escapes of dashes. What is not one whole armour stays as it is, since
    it may be what the author writes about.
    """
    if _BEGIN not in text:
        return text
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    marks = [line.rstrip() for line in lines]
    try:
        begin = marks.index(_BEGIN)
        body = marks.index("", begin) + 1
        signature = marks.index(_SIGNATURE, body)
        end = marks.index(_END, signature)
    except ValueError:
        return text
    coded = all(_CODED.fullmatch(line) or _HEADER.fullmatch(line) for line in marks[signature + 1 : end])
    if not coded or not all(_HEADER.fullmatch(line) for line in marks[begin + 1 : body - 1]):
        return text
    written = [line.removeprefix(_ESCAPE) for line in lines[body:signature]]
    return "\n".join([*lines[:begin], *written, *lines[end + 1 :]])
