"""uuencoded files inside a text body, as mail carried them before MIME."""

from __future__ import annotations

import binascii
import re
from itertools import islice

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
