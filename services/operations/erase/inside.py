"""What a file says, as a search reads it: as it lies, and what is packed inside: gzip, zip and Office, mails, PDF.

Invariants: nothing raises, and no file can make it take more than `LARGEST` bytes of memory a level; what cannot be
looked into (encrypted, too large, packed too deep) is said with a None among the texts.
"""

from __future__ import annotations

import asyncio
import gzip
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO

from services.mail.attachments import ExtractionLimits, extracted
from services.mail.content_types import detect
from services.mail.mime import read_mail

LARGEST = 100 * 1024 * 1024  # bytes of one file, unpacked
DEEPEST = 4  # files in files
_GZIP = "application/gzip"
_ENCRYPTED = 1  # the flag of a zip's member (APPNOTE 4.4.4)
_IN_CHILD = ("application/pdf", "application/msword")

Texts = Iterator[str | None]


async def unpacked(content: bytes, *, mail: bool = False) -> list[str | None]:
    """`texts_in`, in a thread."""
    return await asyncio.to_thread(lambda: list(texts_in(content, mail=mail)))


def texts_in(content: bytes, *, mail: bool = False, depth: int = 0) -> Texts:
    """Every text of a file, from the outside in; `mail` says that it is one."""
    yield content.decode("utf-8", "replace")
    kind = "message/rfc822" if mail else detect(content, "")
    if depth == DEEPEST and kind in (_GZIP, "message/rfc822"):
        yield None
    elif mail:
        yield from _of_mail(content, depth)
    elif content.startswith(b"\x1f\x8b"):
        yield from _of_gzip(content, depth)
    elif content.startswith(b"PK\x03\x04"):
        yield from _of_zip(content, depth)
    elif kind in _IN_CHILD:
        found = extracted(kind, content, ExtractionLimits(all=True))
        yield found.text or None


def _of_mail(content: bytes, depth: int) -> Texts:
    found = read_mail(content)
    said = [f"{name}: {value}" for name, value in found.headers]
    yield "\n".join([*said, found.text, found.html, found.hidden_text])
    if found.parked:
        yield None
    for one in found.attachments:
        yield from texts_in(one.content, mail=one.content_type == "message/rfc822", depth=depth + 1)


def _of_gzip(content: bytes, depth: int) -> Texts:
    try:
        with gzip.open(BytesIO(content)) as packed:
            inner = packed.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error):
        yield None
        return
    yield from _inner(inner, depth)


def _of_zip(content: bytes, depth: int) -> Texts:
    try:
        with zipfile.ZipFile(BytesIO(content)) as packed:
            for one in packed.infolist():
                yield one.filename
                if one.flag_bits & _ENCRYPTED:
                    yield None
                    continue
                with packed.open(one) as member:
                    inner = member.read(LARGEST + 1)
                yield from _inner(inner, depth)
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError, zlib.error):
        yield None


def _inner(content: bytes, depth: int) -> Texts:
    if len(content) > LARGEST or depth == DEEPEST:
        yield None
    else:
        yield from texts_in(content, depth=depth + 1)
