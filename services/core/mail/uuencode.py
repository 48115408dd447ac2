"""uuencoded files inside a text body, as mail carried them before MIME."""

from __future__ import annotations

import binascii
import re

_FILE = re.compile(
    r"^begin(?:-base64)? [0-7]{3,4} ([^\r\n]{1,255})\n((?:[^\r\n]{0,100}\n)*?)end[ \t]*(?:\n|\Z)", re.MULTILINE
)


def take_files(text: str) -> tuple[str, tuple[tuple[str, bytes], ...]]:
    """The text without its uuencoded files, and the files as (name, content)."""
    if "begin " not in text:
        return text, ()
    files: list[tuple[str, bytes]] = []

    def taken(match: re.Match[str]) -> str:
        files.append((match[1].strip(), _decode(match[2])))
        return ""

    return _FILE.sub(taken, text), tuple(files)


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
