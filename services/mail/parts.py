"""The MIME tree of a message, split without copying more than once and without recursion.

Why not `email.parser`: it recurses for each level and tries every open boundary on every line, so 25 MB of line feeds
inside fifty multiparts take minutes; and its limits come after the work. Here each level is one search for its own
delimiter lines, and levels and parts are counted while splitting. Nothing raises.
"""

from __future__ import annotations

import binascii
import re
from collections import deque
from dataclasses import dataclass, field

from services.mail import headers
from services.mail.message import Limits

_CONTENT_FIELDS = {"content-type", "content-disposition", "content-transfer-encoding"}
_TYPE = re.compile(r"[\w!#$%&'*+.^`{|}~-]{1,127}/[\w!#$%&'*+.^`{|}~-]{1,127}", re.ASCII)  # RFC 2045, 5.1; RFC 6838
_ENCODINGS = re.compile(r"[\w-]+")
LINE_FEED = 0x0A
PROSE_BYTES = 500
_PROSE = re.compile(rb"[A-Za-z\x80-\xff]{2} [A-Za-z\x80-\xff]{2,40} [A-Za-z\x80-\xff]{2}")  # words, and no base64
_CONTROLS = re.compile(rb"[\x00-\x08\x11-\x1a\x1c-\x1f\x7f]")
_BAD_QP_END = re.compile(rb"(?<![ \t])[ \t]++(?=\r?\n)")


@dataclass(slots=True)
class Part:
    """One node of the tree. An embedded message is a leaf: its text is not its forwarder's, nor are its files.

    A multipart that could be split keeps no body of its own, so that nesting does not multiply a mail in memory.
    """

    fields: headers.Fields
    raw_body: bytes = field(repr=False)
    level: int
    content_type: str
    parameters: dict[str, str]
    disposition: str
    disposition_parameters: dict[str, str]
    encoding: str
    children: list[Part] = field(default_factory=list)

    def value(self, name: str) -> str:
        """The first value of a header, unfolded, its RFC 2047 words not decoded; "" where there is none."""
        lower = name.lower()
        return next((headers.unfold(raw) for key, raw in self.fields if key.lower() == lower), "")

    @property
    def filename(self) -> str:
        """The file name the sender gave, from either header that may hold it."""
        return self.disposition_parameters.get("filename") or self.parameters.get("name", "")

    def content(self) -> bytes:
        """The body with its transfer encoding undone, as far as it can be."""
        return decode_transfer(self.raw_body, self.encoding)


@dataclass(frozen=True, slots=True)
class Tree:
    """A split message: the root, what was wrong, and the limit that was passed, if any."""

    root: Part
    defects: tuple[str, ...]
    parked: str


def split(raw: bytes, limits: Limits) -> Tree:
    """The tree of a whole message. Over a limit, what was split so far is kept and `parked` says why."""
    defects: list[str] = []
    root = _part(raw, 0, "text/plain", limits, defects)
    waiting = deque([root])
    count = 1
    parked = ""
    while waiting and not parked:
        part = waiting.popleft()
        blocks = _blocks(part, limits.parts - count + 1, defects)
        count += len(blocks)
        parked = _over(part.level + 1 if blocks else 0, count, limits)
        if blocks and not parked:
            part.children = [_part(block, part.level + 1, default, limits, defects) for block, default in blocks]
            part.raw_body = b""
            waiting.extend(part.children)
    return Tree(root, tuple(dict.fromkeys(defects)), parked)


def _over(level: int, count: int, limits: Limits) -> str:
    """The limit that is passed, in words, or ""."""
    if count > limits.parts:
        return f"more than {limits.parts} parts"
    return f"more than {limits.levels} levels" if level > limits.levels else ""


def _part(raw: bytes, level: int, default_type: str, limits: Limits, defects: list[str]) -> Part:
    fields, body_at, wrong = headers.split_block(raw, limits.header_bytes)
    defects.extend(wrong)
    named = {name.lower(): headers.unfold(value) for name, value in reversed(fields) if name.lower() in _CONTENT_FIELDS}
    content_type, given = headers.parse_parameters(named.get("content-type", default_type))
    disposition, disposition_given = headers.parse_parameters(named.get("content-disposition", ""))
    encoding = _ENCODINGS.search(named.get("content-transfer-encoding", "").lower())
    if not _TYPE.fullmatch(content_type):
        defects.append("unreadable content type")
        content_type = default_type
    return Part(fields, raw[body_at:], level, content_type, given, disposition, disposition_given, _word(encoding))


def _word(match: re.Match[str] | None) -> str:
    return match[0] if match else ""


def _blocks(part: Part, most: int, defects: list[str]) -> list[tuple[bytes, str]]:
    """The raw children of a part, each with its default type; at most `most` of them."""
    if not part.content_type.startswith("multipart/"):
        return []
    boundary = part.parameters.get("boundary", "").encode("utf-8", "replace").rstrip()
    if not boundary:
        defects.append("multipart without a boundary")
        return []
    default = "message/rfc822" if part.content_type == "multipart/digest" else "text/plain"
    return [(block, default) for block in _between(part.raw_body, boundary, most, defects)]


def _between(body: bytes, boundary: bytes, most: int, defects: list[str]) -> list[bytes]:
    """The stretches between delimiter lines (RFC 2046, 5.1.1); an unclosed last one runs to the end."""
    blocks: list[bytes] = []
    start = -1
    for match in re.finditer(b"--" + re.escape(boundary) + rb"(--)?[ \t]*(?=\r?\n|\Z)", body):
        at = match.start()
        if at > 0 and body[at - 1] != LINE_FEED:
            continue
        if start >= 0:
            blocks.append(body[start : _before_line_break(body, at, start)])
        start = -1 if match[1] else body.find(b"\n", match.end()) + 1 or len(body)
        if match[1] or len(blocks) >= most:
            break
    if start >= 0 and len(blocks) < most:
        defects.append("multipart without its closing boundary")
        blocks.append(body[start:])
    if not blocks:
        defects.append("multipart in which no boundary occurs")
    return blocks


def _before_line_break(body: bytes, at: int, start: int) -> int:
    """The end of what stands before a delimiter line: the line break before it belongs to the delimiter."""
    end = at - 2 if body[at - 2 : at] == b"\r\n" else at - 1
    return max(end, start)


def decode_transfer(body: bytes, encoding: str) -> bytes:
    """Undo a Content-Transfer-Encoding (RFC 2045, 6); an unknown one is left as it is. Never raises."""
    if encoding == "base64":
        decoded = headers.lenient_base64(body)
        return body if _PROSE.search(body, 0, PROSE_BYTES) and _CONTROLS.search(decoded) else decoded
    if encoding in ("quoted-printable", "quotedprintable"):
        return binascii.a2b_qp(_BAD_QP_END.sub(b"", body))
    return body
