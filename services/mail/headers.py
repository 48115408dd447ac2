"""Header fields: splitting, unfolding, RFC 2047 words, RFC 2045/2231 parameters, message ids, dates.

Invariants: nothing here raises, everything is linear in the input, and a decoded value holds no control
character, so that no encoded line feed can become a header of a reply (CVE-2024-6923, seen from the reading side).
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_tz
from urllib.parse import unquote_to_bytes

from services.mail import charsets

Fields = tuple[tuple[str, bytes], ...]

_BLOCK_END = re.compile(rb"(?:\A|\n)\r?\n")
_FIELD = re.compile(rb"([!-9;-~]+)[ \t]*:(.*)", re.DOTALL)
_ENCODED_WORD = re.compile(r"=\?([\w.:+\-]{1,60})(?:\*[\w\-]{0,40})?\?([bBqQ])\?([^?]*)\?=")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
MAX_JOINED = 20  # base64 texts behind each other
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n"
_PADDING = re.compile(rb"=[=\r\n]*")
_UNSEEN = re.compile(r"[\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_FOLD = re.compile(rb"\r?\n[ \t]*|\r")
_BRACKETED_ID = re.compile(r"<([^<>]*)>")
YEARS = range(1900, 3000)
LONGEST_ID = 998  # bytes: a line of a message (RFC 5322, 2.1.1); an index of Postgres takes no more than 2,704


def split_block(raw: bytes, limit: int) -> tuple[Fields, int, tuple[str, ...]]:
    """Fields (name, folded raw value), where the body begins, and what was wrong, of a message or a part.

    The block ends at the first empty line, or at a line that cannot be a field with none after it. A mbox `From `
    line is skipped. Not more than `limit` bytes are read.
    """
    end = _BLOCK_END.search(raw, 0, limit + 2)
    block, body_at = (raw[: end.start()], end.end()) if end else (raw[:limit], min(len(raw), limit))
    fields: list[tuple[str, list[bytes]]] = []
    defects: list[str] = []
    lines = block.split(b"\n") if block else []
    position = 0
    for index, line in enumerate(lines):
        if line[:1] in (b" ", b"\t"):
            if fields:
                fields[-1][1].append(line)
        elif match := _FIELD.match(line):
            fields.append((match[1].decode("ascii"), [match[2]]))
        elif index or not line.startswith((b"From ", b">From ")):
            defects.append("a line among the headers is not a header")
            if line.startswith(b"--") or index + 1 >= len(lines) or not _FIELD.match(lines[index + 1]):
                return _joined(fields), position, tuple(defects)
        position += len(line) + 1
    return _joined(fields), body_at, tuple(defects)


def block_size(raw: bytes, limit: int) -> int:
    """Bytes before the first empty line, or the length of what was looked at where there is none within `limit`."""
    end = _BLOCK_END.search(raw, 0, limit + 2)
    return end.start() if end else min(len(raw), limit + 2)


def _joined(fields: list[tuple[str, list[bytes]]]) -> Fields:
    return tuple((name, b"\n".join(lines)) for name, lines in fields)


def unfold(value: bytes, defects: list[str] | None = None) -> str:
    """A raw field value on one line, 8-bit text decoded, RFC 2047 words left as they are."""
    text, defect = charsets.decode_checked(_FOLD.sub(b" ", value).strip())
    if defect and defects is not None:
        defects.append("8-bit text in a header")
    return text


def decode_words(value: str) -> str:
    """A header value with its RFC 2047 words decoded, white space collapsed to what the RFC means, no controls."""
    return clean("".join(_words(value)) if "=?" in value else value)


def clean(text: str) -> str:
    """`text` without control characters, line separators, lone surrogates, direction overrides and tag characters."""
    if text.isascii() and text.isprintable():
        return text.strip()
    return _UNSEEN.sub("", _CONTROLS.sub(" ", text)).strip()


def _words(value: str) -> Iterator[str]:
    """Plain stretches and decoded words; neighbouring words of one charset are decoded together (split characters)."""
    end, charset, pending = 0, "", b""
    for match in _ENCODED_WORD.finditer(value):
        between = value[end : match.start()]
        adjacent = not between.strip() and bool(pending)
        if pending and not (adjacent and match[1].lower() == charset):
            yield charsets.decode(pending, charset)
            pending = b""
        if not adjacent:
            yield between
        charset, end = match[1].lower(), match.end()
        pending += _word_bytes(match[2], match[3])
    if pending:
        yield charsets.decode(pending, charset)
    yield value[end:]


def _word_bytes(encoding: str, text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    if encoding in "qQ":
        return binascii.a2b_qp(data, header=True)
    return lenient_base64(data)


def lenient_base64(data: bytes) -> bytes:
    """The bytes of a base64 text; strange characters are skipped, a broken end is dropped.

    Texts that were encoded one by one and put behind each other are read to the last: gateways add a notice like that.
    """
    padding = data.find(b"=")
    behind = data[padding:].lstrip(b"=\r\n") if padding >= 0 else b""
    if not behind or behind.translate(None, _BASE64):
        return _one_base64(data)
    return b"".join(map(_one_base64, _PADDING.split(data, MAX_JOINED)))


def _one_base64(data: bytes) -> bytes:
    try:
        return binascii.a2b_base64(data + b"==")
    except binascii.Error:
        kept = re.sub(rb"[^A-Za-z0-9+/]", b"", data)
        usable = kept[: len(kept) - 1] if len(kept) % 4 == 1 else kept
        return binascii.a2b_base64(usable + b"=" * (-len(usable) % 4))


def message_ids(value: str, limit: int | None = None) -> tuple[str, ...]:
    """The msg-ids of a Message-ID, In-Reply-To or References value (RFC 5322, 3.6.4), in order, each once.

    Without angle brackets and inner white space. A value with no brackets gives its words that hold an `@`.
    Over `limit` the first and the newest are kept, as a mail program trims References. Ids in RFC 2047 words, which
    the RFC forbids and Python's own library makes of long ones, are decoded. What is longer than a line is no id.
    """
    value = decode_words(value) if "=?" in value else value
    found = [re.sub(r"\s+", "", clean(text)) for text in _BRACKETED_ID.findall(value)]
    if not found:
        found = [word.strip("<>;,\"'") for word in clean(value).split() if "@" in word]
    ids = tuple(dict.fromkeys(text for text in found if 0 < len(text.encode()) <= LONGEST_ID))
    if limit is not None and len(ids) > limit:
        return ids[:1] + ids[len(ids) - limit + 1 :]
    return ids


# Content-Type and Content-Disposition: the value and its parameters (RFC 2045, RFC 2231), read leniently.
_PARAMETER = re.compile(r';\s*([^\s=;"]+)\s*=\s*("(?:[^"\\]|\\.)*"?|[^;]*)', re.DOTALL)
_CONTINUED = re.compile(r"([^*]+)(?:\*(\d{1,4}))?(\*)?\Z")


def parse_parameters(value: str) -> tuple[str, dict[str, str]]:
    """The first word before the first `;`, in lower case, and the decoded parameters by lower-case name."""
    head = next(iter(clean(value.split(";", 1)[0]).lower().split()), "")
    plain: dict[str, str] = {}
    pieces: dict[str, dict[int, tuple[str, bool]]] = {}
    for match in _PARAMETER.finditer(value):
        name, text = match[1].lower(), _unquoted(match[2].strip())
        split = _CONTINUED.match(name)
        if split is None or (split[2] is None and split[3] is None):
            plain.setdefault(name, decode_words(text))
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
    return clean(charsets.decode(data, charset))


# The Date header, read tolerantly (RFC 5322, 3.3 and 4.3); always aware, or None where no date can be meant.
_COMMENT = re.compile(r"\([^()]*\)")
_MOST_NESTED_COMMENTS = 4
_ISO = re.compile(r"\s*(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?")
MAX_LENGTH = 256
SECONDS_PER_DAY = 86_400


def parse_date(value: str) -> datetime | None:
    """The moment a Date or Received value names, with the sender's own offset; without a zone it is UTC.

    None where it names none, or a year in which no mail is written: what is counted from the last day of the year 9999
    is no moment any more, neither for Postgres nor for Python.
    """
    moment = _moment_in(value)
    return moment if moment is not None and moment.year in YEARS else None


def _moment_in(value: str) -> datetime | None:
    text = value.rpartition(";")[2][:MAX_LENGTH]
    for _ in range(_MOST_NESTED_COMMENTS):
        text = _COMMENT.sub(" ", text)
    if iso := _ISO.match(text):
        return _from_iso(*iso.groups(default=""))
    try:
        fields = parsedate_tz(text)
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    return _from_fields(fields) if fields else None


def _from_iso(day: str, clock: str, zone: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{zone}")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _from_fields(fields: tuple[int, int, int, int, int, int, int, int, int, int | None]) -> datetime | None:
    year, month, day, hour, minute, second = fields[:6]
    offset = fields[9] or 0
    zone = timezone(timedelta(seconds=offset)) if abs(offset) < SECONDS_PER_DAY else UTC
    try:
        return datetime(year, month, day, hour, minute, min(second, 59), tzinfo=zone)
    except (ValueError, OverflowError):
        return None
