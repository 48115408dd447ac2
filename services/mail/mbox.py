"""Mail in files: `.eml`, mbox and Maildir, one message after the other and never a whole mailbox in memory.

Invariants: an unreadable file, and what is no file, is skipped, every other file is a message or an mbox, and an origin
names the same message in every run: `path`, `path#number` in an mbox (from 0), `folder/file` without its flags in a
Maildir.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
MAX_LINE_BYTES = 1024 * 1024

_MAILDIR_PARTS = ("new", "cur")
_FLAGS = re.compile(r"[:;!]2,[A-Za-z,]*\Z")
_FROM = b"From "
_QUOTED_FROM = re.compile(rb">+From ")


def read_mailbox(path: Path) -> Iterator[tuple[str, bytes]]:
    """Every message at `path` as (origin, raw bytes): a file, an mbox, a Maildir with folders, or a folder of these."""
    for file in _files(path):
        if _is_mbox(file):
            yield from _mbox(file)
        elif (raw := _whole(file)) is not None:
            yield _origin(file), raw


def count_messages(path: Path) -> int:
    """How many messages `read_mailbox` will yield, for a progress bar; reads mboxes, but keeps nothing."""
    return sum(sum(start for start, _ in _lines(file)) if _is_mbox(file) else 1 for file in _files(path))


def _files(path: Path) -> Iterator[Path]:
    """The files that hold messages, in a stable order; of a Maildir only what is in `new` and `cur`."""
    if path.is_file():
        yield path
        return
    maildir = _is_maildir(path)
    for entry in sorted(path.iterdir()) if path.is_dir() else ():
        if entry.is_symlink():
            continue
        if entry.is_dir():
            own = maildir and entry.name in _MAILDIR_PARTS
            if own or _is_maildir(entry) or not (maildir or entry.name.startswith(".")):
                yield from _files(entry)
        elif entry.is_file() and not maildir and not entry.name.startswith("."):  # no pipe, which would never end
            yield entry


def _is_maildir(path: Path) -> bool:
    return any((path / part).is_dir() for part in _MAILDIR_PARTS)


def _is_mbox(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return stream.read(len(_FROM)) == _FROM and file.suffix.lower() != ".eml"
    except OSError:
        return False


def _whole(file: Path) -> bytes | None:
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_MESSAGE_BYTES)
    except OSError:
        return None


def _origin(file: Path) -> str:
    in_maildir = file.parent.name in _MAILDIR_PARTS
    return str(file.parent.parent / _FLAGS.sub("", file.name)) if in_maildir else str(file)


def _mbox(file: Path) -> Iterator[tuple[str, bytes]]:
    """Messages of an mbox, `>From ` unquoted (mboxrd); what is over the size limit is cut, never joined to the next."""
    lines: list[bytes] = []
    size, number = 0, -1
    for is_start, line in _lines(file):
        if not is_start:
            size += len(line)
            if size <= MAX_MESSAGE_BYTES:
                lines.append(line[1:] if _QUOTED_FROM.match(line) else line)
            continue
        if number >= 0:
            yield f"{file}#{number}", _message(lines)
        number, lines, size = number + 1, [], 0
    if number >= 0:
        yield f"{file}#{number}", _message(lines)


def _message(lines: list[bytes]) -> bytes:
    """The lines without the empty one that separates messages."""
    return b"".join(lines[:-1] if lines and not lines[-1].strip() else lines)


def _lines(file: Path) -> Iterator[tuple[bool, bytes]]:
    """Each line, or piece of an overlong line, and whether a message starts with it."""
    after_empty, whole = True, True
    try:
        with file.open("rb") as stream:
            while line := stream.readline(MAX_LINE_BYTES):
                yield after_empty and whole and line.startswith(_FROM), line
                after_empty = whole and not line.strip()
                whole = line.endswith(b"\n")
    except OSError:
        return
