"""The finished message, read again: it must hold exactly the headers and the recipient that were meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from email import message_from_bytes
from email.header import decode_header, make_header

from services.core.mail.compose.nouns import ComposeRefused

MAX_LINE_BYTES = 998
_MIME_HEADERS = ["mime-version", "content-type"]


def check(raw: bytes, meant: Sequence[tuple[str, str]], recipient: str) -> None:
    """Raise ComposeRefused unless `raw` has the headers `meant`, in order, and `recipient` as its only one.

    The bytes are looked at twice, as a parser sees them and as lines: what only one of them sees is an injection.
    """
    head, separator, _ = raw.partition(b"\r\n\r\n")
    lines = re.sub(rb"\r\n[ \t]+", b" ", head).split(b"\r\n")
    names = [line.partition(b":")[0].decode("utf-8", "replace").casefold() for line in lines]
    expected = [name.casefold() for name, _ in meant]
    if not separator or sorted(names) != sorted([*expected, *_MIME_HEADERS]):
        raise ComposeRefused(f"headers {names} instead of {expected}")
    if b"\r" in head.replace(b"\r\n", b"") or b"\n" in head.replace(b"\r\n", b"") or b"\0" in raw:
        raise ComposeRefused("a bare line break or NUL in the headers")
    if any(len(line) > MAX_LINE_BYTES for line in raw.split(b"\r\n")):
        raise ComposeRefused("a line is longer than 998 bytes")
    _check_parsed(raw, meant, recipient)


def _check_parsed(raw: bytes, meant: Sequence[tuple[str, str]], recipient: str) -> None:
    message = message_from_bytes(raw)
    found = [(name.casefold(), _decoded(value)) for name, value in message.raw_items()]
    for name, value in meant:
        if [v for n, v in found if n == name.casefold()] != [_decoded(value)]:
            raise ComposeRefused(f"{name} does not read as it was meant")
    if message.defects or len(message.get_payload()) != 2:
        raise ComposeRefused("the body is not the two parts that were meant")
    to = next(v for n, v in found if n == "to")
    if to.rpartition("<")[2].rstrip(">") != recipient:
        raise ComposeRefused("To is not the recipient that was meant")


def _decoded(value: str) -> str:
    """A header value as a reader sees it, white space aside."""
    text = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(str(make_header(decode_header(re.sub(r"\r\n[ \t]", " ", text)))).split())
