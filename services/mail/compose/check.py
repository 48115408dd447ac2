"""The finished message, read again: it must hold exactly the headers and the recipient that were meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from email import message_from_bytes
from email.header import decode_header, make_header
from email.message import Message

from services.mail.addresses import parse_addresses
from services.mail.compose.outgoing import ComposeRefused

MAX_LINE_BYTES = 998
_MIME_HEADERS = ["mime-version", "content-type"]


def check(
    raw: bytes, meant: Sequence[tuple[str, str]], recipient: str, cc: Sequence[str] = (), *, files: int = 0
) -> None:
    """Raise ComposeRefused unless `raw` has the headers `meant`, in order, `recipient` and `cc` alone, and `files`.

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
    message = message_from_bytes(raw)
    _check_headers(message, meant, recipient, cc)
    _check_parts(message, files)


def _check_headers(message: Message, meant: Sequence[tuple[str, str]], recipient: str, cc: Sequence[str]) -> None:
    found = [(name.casefold(), _decoded(value)) for name, value in message.raw_items()]
    for name, value in meant:
        if [v for n, v in found if n == name.casefold()] != [_decoded(value)]:
            raise ComposeRefused(f"{name} does not read as it was meant")
    to = next(v for n, v in found if n == "to")
    if to.rpartition("<")[2].rstrip(">") != recipient:
        raise ComposeRefused("To is not the recipient that was meant")
    copies = parse_addresses(dict(message.raw_items()).get("Cc", ""))
    if [one.addr for one in copies.addresses] != list(cc) or copies.rejected:
        raise ComposeRefused("Cc is not the people that were meant")


def _check_parts(message: Message, files: int) -> None:
    """Plain text and HTML, and the files behind them."""
    parts = [one for one in message.walk() if not one.is_multipart()]
    types = [one.get_content_type() for one in parts[:2]]
    attached = [one.get_content_disposition() for one in parts[2:]]
    if any(one.defects for one in message.walk()) or types != ["text/plain", "text/html"]:
        raise ComposeRefused("the body is not the two parts that were meant")
    if attached != ["attachment"] * files:
        raise ComposeRefused("the files are not those that were meant")


def _decoded(value: str) -> str:
    """A header value as a reader sees it, white space aside."""
    text = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(str(make_header(decode_header(re.sub(r"\r\n[ \t]", " ", text)))).split())
