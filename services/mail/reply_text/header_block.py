"""The head of a mail copied under a reply: "From: / Sent: / To: / Subject:", and the lines that announce it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from services.mail.reply_text import shapes

MAX_BLOCK_LINES = 14
MAX_SEPARATOR = 200
MAX_ANNOUNCEMENT = 120
MAX_WRAPPED_LINES = 2
OUTLOOK_RULE = 20
LEAST_ROLES = 3
MAX_WRITER_LINES, MAX_WRITER_WORDS = 3, 5
_ONCE = ("from", "sent", "to", "subject")


_ROLE = {label: role for role, labels in reversed(shapes.HEADER_LABELS.items()) for label in labels}
_LONGEST_LABEL = max(map(len, _ROLE))
_COLON = re.compile(r"[:：](?!//)")
_DASHES = "-_=—–~"
_DECORATION = _DASHES + "#<>*:： \t\u00a0\u200b"
_FENCES = frozenset(_DASHES)
_FORWARDS = frozenset(shapes.FORWARDS)
_ANNOUNCEMENTS = (*shapes.SEPARATORS, *shapes.FORWARDS)
_BETWEEN_DASHES = re.compile(r"[ \t>*]*[-_=—–]{3,} ?[^\W\d_][^-_=\d]{2,50} ?[-_=—–]{3,}[ \t>*]*\Z")
_DETAILS = re.compile(r"[^\n]{1,120}?---(?P<moment>\d[^\n]{7,40}?)---")
_REPLY_ABOVE = re.compile(r"(?:please )?(?:reply|write|type) (?:your reply )?above this line\b.{0,60}\Z")


def role(line: str) -> str:
    """What a header line says (`from`, `sent`, `to`, `cc`, `subject`, `reply`), or ""."""
    if ":" not in line and "：" not in line:
        return ""
    start = line.lstrip(" \t>*_|")[: _LONGEST_LABEL + 8]
    colon = _COLON.search(start)
    return _ROLE.get(start[: colon.start()].strip(" \t\u3000\u00a0*_").lower(), "") if colon else ""


def is_separator(line: str) -> bool:
    """Whether a line announces an older mail: `-----Original Message-----`, `Begin forwarded message:`."""
    if len(line) > MAX_SEPARATOR:
        return False
    fenced = line.lstrip(" \t>*")[:1] in _FENCES
    if not fenced and len(line) > MAX_ANNOUNCEMENT:
        return False
    said = line.strip(_DECORATION).lower()
    return said in _FORWARDS or (fenced and said.startswith(_ANNOUNCEMENTS)) or bool(_REPLY_ABOVE.match(said))


def is_between_quote_signs(line: str) -> bool:
    """Whether a line is GroupWise's own above an older mail: `>>> Ann <ann@example.org> 04.03.24 09:15 >>>`."""
    if not (line.startswith(">>>") and len(line) <= MAX_SEPARATOR and line.rstrip().endswith(">>>")):
        return False
    return shapes.has_date(shapes.plain(line.strip("> \t")))


def is_outlook_rule(line: str) -> bool:
    """Whether a line is the long one that Outlook draws above the head of an older mail."""
    return line.strip(" \t*") == "_" * len(line.strip(" \t*")) and len(line.strip(" \t*")) >= OUTLOOK_RULE


def announces(lines: Sequence[str], index: int) -> bool:
    """Whether a line is words between dashes, or Notes' `Ann---03/04/2024 09:15 AM---`, above the head of a mail."""
    if not (_BETWEEN_DASHES.match(lines[index]) or _is_details(lines[index])):
        return False
    below = [line for line in lines[index + 1 : index + 4] if line.strip()]
    return bool(below) and role(below[0]) in ("from", "sent", "subject", "to")


def _is_details(line: str) -> bool:
    found = _DETAILS.match(line) if "---" in line else None
    return found is not None and _is_moment(shapes.plain(found["moment"]))


def _is_moment(text: str) -> bool:
    return shapes.has_date(text) and shapes.has_time(text)


def columns(lines: Sequence[str], subject: int) -> tuple[int, int] | None:
    """Start and end of a head whose labels stand apart from their values, without colons, as Lotus Notes prints it.

    `subject` is the line that may be its label of the subject, which comes last. Above stands the one of the recipient,
    and above that, in a short paragraph of their own, the writer and the moment.
    """
    if _apart(lines[subject]) != "subject":
        return None
    above = range(subject - 1, max(subject - MAX_BLOCK_LINES, -1), -1)
    to = next((index for index in above if _apart(lines[index]) == "to"), None)
    value = next((index for index in range(subject + 1, min(subject + 4, len(lines))) if lines[index].strip()), None)
    if to is None or value is None:
        return None
    last = next((index for index in range(to - 1, max(to - 4, -1), -1) if lines[index].strip()), -1)
    start = max(last - MAX_WRITER_LINES, 0)
    start = next((index + 1 for index in range(last, start - 1, -1) if not lines[index].strip()), start)
    said = shapes.plain(" ".join(" ".join(lines[start:subject])[: MAX_BLOCK_LINES * MAX_SEPARATOR].split()))
    short = all(len(line[:MAX_SEPARATOR].split()) <= MAX_WRITER_WORDS for line in lines[start : last + 1])
    whole = 0 <= last - start < MAX_WRITER_LINES and short and shapes.has_mailbox(said) and _is_moment(said)
    return (start, value + 1) if whole else None


def _apart(line: str) -> str:
    """The role of a label that stands alone on its line, or alone at its end."""
    word = line.strip() if len(line) <= MAX_SEPARATOR else ""
    return _ROLE.get(word.rpartition("  ")[2].lower(), "") if word else ""


def block_end(lines: Sequence[str], start: int, announced: bool = False) -> int:
    """The index behind the header block that begins at `start`; `start` itself where none does.

    A block names three roles, the sender or the date among them, each once, in lines that may be wrapped; and it holds
    a mailbox and a date with a time, as no list of a person's does, or all four of sender, date, recipient and subject.
    `announced` says that a line of Outlook's stands above, which is proof enough. All its lines are quoted, or none;
    empty lines stand between all of them or between none, so that a line of the writer's above it is no part of it.
    """
    rows = _rows(lines, start)
    if not rows:
        return start
    at = [index for index, _ in rows]
    apart = {any(not line.strip() for line in lines[one:other]) for one, other in pairwise(at)}
    values = {name: " ".join(lines[index:end]) for (index, name), end in zip(rows, [*at[1:], at[-1] + 2], strict=True)}
    return at[-1] + 1 if len(apart) <= 1 and _is_block(values, announced) else start


def _rows(lines: Sequence[str], start: int) -> list[tuple[int, str]]:
    """Index and role of the labelled lines from `start` on that can belong to one block; none where the first cannot.

    A role that comes twice belongs to the next block, which an empty line keeps apart; else the first is not of it.
    """
    rows: list[tuple[int, str]] = []
    strange = 0
    for index in range(start, min(start + MAX_BLOCK_LINES, len(lines))):
        line = lines[index]
        if line.strip() and _is_quoted(line) != _is_quoted(lines[start]):
            break
        if found := role(line):
            if found in _ONCE and any(found == name for _, name in rows):
                return rows if not lines[index - 1].strip() and found == rows[0][1] else []
            rows.append((index, found))
            strange = 0
        elif line.strip():
            strange += 1
            if strange > MAX_WRAPPED_LINES:
                break
    return rows


def _is_quoted(line: str) -> bool:
    return line.lstrip().startswith((">", "|"))


def _is_block(values: dict[str, str], announced: bool) -> bool:
    if len(values) < LEAST_ROLES or not values.keys() & {"from", "sent"}:
        return False
    if announced:
        return True
    sent = shapes.plain(values.get("sent", ""))
    if values.keys() >= {"from", "sent", "to", "subject"}:
        return shapes.has_date(sent) or shapes.has_time(sent)
    boxed = any(shapes.has_mailbox(shapes.plain(values.get(key, ""))) for key in ("from", "to", "reply"))
    return boxed and _is_moment(sent)
