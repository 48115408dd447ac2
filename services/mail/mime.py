"""Raw bytes to `ParsedMail`.

Invariants: `read_mail` never raises and takes time linear in its input; what could not be read stands in `defects`,
and a mail over a limit is parked with the reason, its headers still read as far as the limits allow.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from services.mail import addresses, charsets, content_types, headers, parts, written
from services.mail.headers import parse_date
from services.mail.html_hidden import without_invisible_characters
from services.mail.html_text import MAX_HIDDEN_CHARACTERS
from services.mail.language import detect_language
from services.mail.message import Address, Attachment, Limits, ParsedMail
from services.mail.written import Stretch

UNREADABLE = "our reader failed"
MAX_TEXT_BYTES = 8_000_010
MAX_TEXT_CHARACTERS = 2_000_000  # of plain text; what is behind stands in the raw mail alone


def read_mail(raw: bytes, limits: Limits = Limits()) -> ParsedMail:  # noqa: B008
    """The message in `raw`, as far as it can be read (RFC 5322, RFC 2045 to 2049, RFC 6532).

    Should a fault of ours raise after all, the mail is parked as `UNREADABLE`, so that it cannot stop its folder.
    """
    try:
        return _read(raw, limits)
    except Exception as error:
        return replace(_read(b"", limits), parked=f"{UNREADABLE} ({type(error).__name__})")


def _read(raw: bytes, limits: Limits) -> ParsedMail:
    parked = _over_size(raw, limits)
    raw = raw[: limits.header_bytes] if parked else raw
    if b"\n" not in raw[:65_536]:
        raw = raw.replace(b"\r", b"\n")
    tree = parts.split(raw, limits)
    defects = list(tree.defects)
    body = _Body(defects)
    if not parked and not tree.parked:
        body.read(tree.root)
    return _mail(tree.root, body, defects, parked or tree.parked, limits)


def _over_size(raw: bytes, limits: Limits) -> str:
    """The limit that the bytes alone pass, in words, or ""."""
    if len(raw) > limits.total_bytes:
        return f"larger than {limits.total_bytes} bytes"
    if headers.block_size(raw, limits.header_bytes) > limits.header_bytes:
        return f"more than {limits.header_bytes} bytes of headers"
    return ""


def _mail(root: parts.Part, body: _Body, defects: list[str], parked: str, limits: Limits) -> ParsedMail:
    unfolded = [(name, headers.unfold(raw, defects)) for name, raw in root.fields]
    named: dict[str, list[str]] = {}
    for name, value in unfolded:
        named.setdefault(name.lower(), []).append(value)

    def undecoded(name: str) -> list[str]:
        return named.get(name, [])

    def mailboxes(name: str) -> tuple[Address, ...]:
        found = addresses.parse_addresses(", ".join(undecoded(name)))
        defects.extend(f"{name}: no mailbox in {piece!r}" for piece in found.rejected)
        return found.addresses

    def ids(name: str) -> tuple[str, ...]:
        return headers.message_ids(" ".join(undecoded(name)), limits.references)

    said = written.read(body.stretches)
    return ParsedMail(
        headers=tuple((name, headers.decode_words(value)) for name, value in unfolded),
        message_id=next(iter(ids("message-id")), ""),
        in_reply_to=ids("in-reply-to"),
        references=ids("references"),
        date=next((parse_date(value) for value in undecoded("date")), None),
        subject=next((headers.decode_words(value) for value in undecoded("subject")), ""),
        author=addresses.single_author(undecoded("from")),
        from_=mailboxes("from"),
        sender=mailboxes("sender"),
        reply_to=mailboxes("reply-to"),
        to=mailboxes("to"),
        cc=mailboxes("cc"),
        text=said.text,
        html=said.html,
        reply=said.reply,
        language=detect_language(said.reply.new),
        attachments=tuple(body.attachments),
        hidden_text=" ".join(filter(None, (said.seen.hidden, "".join(body.spelled))))[:MAX_HIDDEN_CHARACTERS],
        defects=tuple(dict.fromkeys(defects)),
        parked=parked or said.seen.over or _too_many_references(undecoded("references"), limits),
    )


def _too_many_references(values: list[str], limits: Limits) -> str:
    over = len(headers.message_ids(" ".join(values))) > limits.references
    return f"more than {limits.references} References" if over else ""


class _Body:
    """What the parts of a tree amount to: stretches of text, and attachments."""

    def __init__(self, defects: list[str]) -> None:
        self.stretches: list[Stretch] = []
        self.attachments: list[Attachment] = []
        self.spelled: list[str] = []  # what characters that nobody sees say in plain text
        self._defects = defects
        self._characters = 0

    def read(self, root: parts.Part) -> None:
        """Sort every leaf below `root`, in document order."""
        alternatives: dict[int, Stretch] = {}
        for part, alternative in _leaves(root):
            if part.disposition == "attachment" or not _is_body(part):
                self._attach(part)
                continue
            stretch = alternatives.get(alternative) if alternative else None
            if stretch is None:
                stretch = Stretch()
                self.stretches.append(stretch)
                alternatives[alternative] = stretch
            self._text(part, stretch)

    def _text(self, part: parts.Part, stretch: Stretch) -> None:
        content = part.content()
        if part.content_type != "text/html" and len(content) > MAX_TEXT_BYTES and b"begin " not in content:
            content = content[:MAX_TEXT_BYTES]  # more than the characters that are kept, in any charset
        text, defect = charsets.decode_checked(content, part.parameters.get("charset", ""))
        if defect:
            self._defects.append(defect)
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
        if part.content_type == "text/html":
            stretch.html.append(text)
            return
        if part.parameters.get("format", "").casefold() == "flowed" and len(text) <= MAX_TEXT_CHARACTERS:
            text = unflow(text, del_sp=part.parameters.get("delsp", "").casefold() == "yes")
        text, files = take_files(text)
        room = MAX_TEXT_CHARACTERS - self._characters
        if len(text) > room:
            self._defects.append(f"text of more than {MAX_TEXT_CHARACTERS} characters")
        text, spelled = without_invisible_characters(text[: max(room, 0)])
        self.spelled.append(spelled)
        stretch.plain.append(text)
        self._characters += len(stretch.plain[-1])
        self.attachments.extend(_attachment(name, "application/octet-stream", "", False, data) for name, data in files)

    def _attach(self, part: parts.Part) -> None:
        content = part.content()
        content_id = next(iter(headers.message_ids(part.value("content-id"))), "")
        inline = part.disposition == "inline" or (bool(content_id) and part.disposition != "attachment")
        self.attachments.append(_attachment(part.filename, part.content_type, content_id, inline, content))


def _is_body(part: parts.Part) -> bool:
    """Text to be read as the mail's own; a multipart that could not be split is shown rather than lost."""
    return part.content_type in ("text/plain", "text/html", "text") or part.content_type.startswith("multipart/")


def _attachment(name: str, claimed: str, content_id: str, inline: bool, content: bytes) -> Attachment:
    name = name.replace("\\", "/").rpartition("/")[2]
    detected = content_types.detect(content, claimed, name)
    return Attachment(name, detected, claimed, content_id, inline, hashlib.sha256(content).hexdigest(), content)


def _leaves(root: parts.Part) -> Iterator[tuple[parts.Part, int]]:
    """Leaf parts in document order, each with a number of the multipart/alternative that it stands in, 0 for none.

    An embedded message is one leaf, because its text is not the sender's.
    """
    waiting, alternatives = [(root, 0)], 0
    while waiting:
        part, alternative = waiting.pop()
        if part.children and part.content_type.startswith("multipart/"):
            if part.content_type == "multipart/alternative" and not alternative:
                alternatives += 1
                alternative = alternatives
            waiting.extend((child, alternative) for child in reversed(part.children))
        else:
            yield part, alternative


# Text in `format=flowed` (RFC 3676): paragraphs that were broken to fit a line are put together again.
_QUOTE = re.compile(r"^(>*) ?")  # quote marks, and the one space that a sender stuffs in front of a line
SIGNATURE = "-- "


def unflow(text: str, *, del_sp: bool = False) -> str:
    """Each paragraph on one line; quote marks are kept, with a space behind them.

    `del_sp` is the parameter DelSp: the space that marks a soft break is no part of the text, as in Chinese. A line is
    joined only to one of the same quote depth (section 4.5), and the signature's mark to none (section 4.3).
    """
    lines: list[list[str]] = []  # of pieces: adding to a text for each line would be quadratic
    open_depth = -1  # of the last line, where that is soft
    for line in text.split("\n"):
        marks = _QUOTE.match(line)
        assert marks is not None
        depth, said = len(marks[1]), line[marks.end() :]
        soft = said.endswith(" ") and said != SIGNATURE
        kept = said[:-1] if soft and del_sp else said
        if depth == open_depth and said != SIGNATURE:
            lines[-1].append(kept)
        else:
            lines.append([f"{marks[1]} {kept}" if depth else kept])
        open_depth = depth if soft else -1
    return "\n".join(map("".join, lines))


# uuencoded files inside a text body, as mail carried them before MIME.
MAX_FILES = 1_000

_BEGIN = re.compile(r"^begin(?:-base64)? [0-7]{3,4} ([^\n]{1,255})\n", re.MULTILINE)
_END = re.compile(r"^end[ \t]*(?:\n|\Z)", re.MULTILINE)


def take_files(text: str) -> tuple[str, tuple[tuple[str, bytes], ...]]:
    """The text without its uuencoded files, and the files as (name, content)."""
    if "begin " not in text:
        return text, ()
    kept: list[str] = []
    files: list[tuple[str, bytes]] = []
    taken = searched = 0
    for end in islice(_END.finditer(text), MAX_FILES):
        at = text.rfind("\nbegin", searched, end.start()) + 1 or searched
        searched = end.end()
        if begin := _BEGIN.match(text, at, end.start()):
            kept.append(text[taken : begin.start()])
            files.append((begin[1].strip(), _decode(text[begin.end() : end.start()])))
            taken = end.end()
    return "".join([*kept, text[taken:]]), tuple(files)


def _decode(lines: str) -> bytes:
    return b"".join(_line(line.encode("latin-1", "replace")) for line in lines.splitlines())


def _line(line: bytes) -> bytes:
    try:
        return binascii.a2b_uu(line)
    except binascii.Error:
        length = (((line[0] - 32) & 63) * 4 + 5) // 3 if line else 0
        try:
            return binascii.a2b_uu(line[:length])
        except binascii.Error:
            return b""
