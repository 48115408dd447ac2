"""From the bytes that were handed in to Markdown, by what they are and not by what they are called.

Invariants: nothing raises; PDF and DOCX are opened in the limited child process that opens attachments of mail; what
HTML hides from its reader is left out; what cannot be read is said in words that tell a person what to do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from services.learn_documents.chunks import Chunk, chunk, title_of
from services.mail import charsets
from services.mail.attachments import AttachmentText, ExtractionLimits, extracted
from services.mail.content_types import detect
from services.mail.html_text import page_to_markdown

LIMITS = ExtractionLimits(
    cpu_seconds=30, wall_seconds=45, memory_bytes=1024**3, text_characters=3_000_000, pages=3000
)  # of one document; the lanes' timeout is longer
WORDS = {
    "encrypted": "it is encrypted: hand in a copy without a password",
    "a PDF without text, perhaps a scan": "a PDF without text, perhaps a scan: hand in a copy with recognised text",
}

BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")

_UNSHOWABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Reading:
    """A document as Markdown and its passages; `refused` says why there is none, `note` what is missing of it."""

    media_type: str
    text: str = ""
    title: str = ""
    refused: str = ""
    note: str = ""
    chunks: tuple[Chunk, ...] = ()


def read(content: bytes, claimed: str, name: str) -> Reading:
    """Read a document of the claimed media type and file name, and cut it. Blocks for seconds: call it in a thread."""
    if not content.strip():
        return Reading(claimed, refused="the document is empty")
    kind = detect(content, "", name)
    if kind == "text/plain" and claimed.startswith(("text/", "application/xhtml")):
        kind = claimed
    if kind in ("text/html", "application/xhtml+xml"):
        found = _page(kind, content)
    elif kind.startswith("text/"):
        found = _text(kind, content)
    else:
        found = _extracted(kind, extracted(kind, content, LIMITS))
    text = _UNSHOWABLE.sub("", found.text).encode("utf-8", "replace").decode("utf-8")
    if not found.refused and not text.strip():
        return Reading(kind, refused="the document is empty")
    return _cut(replace(found, text=text[: LIMITS.text_characters]))


def read_markdown(text: str) -> Reading:
    """A text that a person wrote as Markdown."""
    return _cut(Reading("text/markdown", text))


def _cut(found: Reading) -> Reading:
    if found.refused:
        return found
    chunks = tuple(chunk(found.text))
    refused = "" if chunks else "it holds headings and no text"
    return replace(found, title=title_of(found.text, found.title), chunks=chunks, refused=refused)


def _page(kind: str, content: bytes) -> Reading:
    page = page_to_markdown(content)
    return Reading(kind, page.text, page.title, note="hidden text was left out" if page.hidden else "")


def _text(kind: str, content: bytes) -> Reading:
    text, doubt = charsets.decode_checked(content, "utf-16" if content.startswith(BYTE_ORDER_MARKS) else "")
    cut = len(text) > LIMITS.text_characters
    note = f"only the first {LIMITS.text_characters} characters are kept" if cut else doubt
    return Reading(kind, text, note=note)


def _extracted(kind: str, found: AttachmentText) -> Reading:
    if found.verdict == "text":
        return Reading(kind, found.text, note=found.reason)
    if found.verdict == "listing":
        return Reading(kind, refused="an archive: hand in what is inside of it")
    return Reading(kind, refused=WORDS.get(found.reason, found.reason))
