"""The text of an attachment, got in a child process with limits on processor time, memory and time.

Invariants: nothing raises; only mail and HTML, whose readers are the mail's own, are read in this process; archives
are listed and not unpacked; what cannot be read safely is for a person (`human`) with the reason.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from services.mail import charsets
from services.mail.html_text import html_to_text
from services.mail.message import Attachment
from services.mail.mime import read_mail

Verdict = Literal["text", "listing", "none", "human"]

_CHILD = Path(__file__).with_name("attachment_child.py")
CHILD_FLAGS = ("-I", "-B")  # nothing of the environment, and no bytecode written under the limits
_OFFICE = "application/vnd.openxmlformats-officedocument."
_KINDS = {
    "application/pdf": "pdf",
    _OFFICE + "wordprocessingml.document": "docx",
    "application/zip": "zip",
    "application/x-tar": "tar",
    "application/ms-tnef": "tnef",
    "text/calendar": "ics",
    "application/ics": "ics",
    "application/json": "text",
    "application/xml": "text",
}
ENCRYPTED = "encrypted"
_RIGHTS_MANAGED = "application/x-microsoft-rpmsg-message"  # MS-OXORMMS
_ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")  # MS-OFFCRYPTO, 1.3.2: the stream's name
_SILENT = ("image/", "audio/", "video/", "font/", "application/pgp-signature", "application/pkcs7-signature")


@dataclass(frozen=True, slots=True)
class ExtractionLimits:
    """What one attachment may cost and yield."""

    cpu_seconds: int = 5
    wall_seconds: int = 10
    memory_bytes: int = 512 * 1024 * 1024
    unpacked_bytes: int = 100 * 1024 * 1024
    text_characters: int = 100_000
    pages: int = 200
    names: int = 200
    all: bool = False  # also what a document hides from its reader, such as an erased name


@dataclass(frozen=True, slots=True)
class AttachmentText:
    """What an attachment says.

    `verdict`: `text` (its words), `listing` (the names in an archive), `none` (a kind without words), or `human`
    (a person must look, for `reason`: encrypted, over a limit, unreadable).
    """

    text: str
    verdict: Verdict
    reason: str = ""


def attachment_text(attachment: Attachment, limits: ExtractionLimits | None = None) -> AttachmentText:
    """Text of a PDF, DOCX, CSV, text, HTML, calendar or mail file; names in a zip, tar or TNEF.

    Blocks for at most `limits.wall_seconds`: call it in a thread.
    """
    limits = limits or ExtractionLimits()
    if attachment.content_type in ("message/rfc822", "text/html"):
        try:
            return _cut(_read_here(attachment), limits)
        except Exception as error:  # a fault of ours, which is not to keep the mail from being read
            return AttachmentText("", "human", f"our reader failed ({type(error).__name__})")
    return extracted(attachment.content_type, attachment.content, limits)


def extracted(content_type: str, content: bytes, limits: ExtractionLimits) -> AttachmentText:
    """What the child process reads of a file of this type; the headings, lists and tables of a DOCX as Markdown.

    Blocks for at most `limits.wall_seconds`: call it in a thread.
    """
    kind = _kind(content_type)
    if content_type.startswith(_SILENT):
        return AttachmentText("", "none", f"{content_type} holds no text")
    if _ENCRYPTED_OFFICE in content or content_type == _RIGHTS_MANAGED:
        return AttachmentText("", "human", ENCRYPTED)
    if not kind:
        return AttachmentText("", "human", f"{content_type} is not read")
    return _run(kind, content, limits)


def _read_here(attachment: Attachment) -> str:
    if attachment.content_type == "text/html":
        return html_to_text(charsets.decode(attachment.content)).text
    mail = read_mail(attachment.content)
    return f"{mail.subject}\n\n{mail.text}".strip()


def _cut(text: str, limits: ExtractionLimits) -> AttachmentText:
    if len(text) <= limits.text_characters:
        return AttachmentText(text, "text")
    reason = f"only the first {limits.text_characters} characters are kept"
    return AttachmentText(text[: limits.text_characters], "text", reason)


def _kind(content_type: str) -> str:
    return _KINDS.get(content_type, "text" if content_type.startswith("text/") else "")


def _run(kind: str, content: bytes, limits: ExtractionLimits) -> AttachmentText:
    with tempfile.TemporaryFile() as answer:
        try:
            done = subprocess.run(
                [sys.executable, *CHILD_FLAGS, str(_CHILD), kind, json.dumps(asdict(limits))],
                input=content,
                stdout=answer,
                stderr=subprocess.DEVNULL,
                env={},
                timeout=limits.wall_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return AttachmentText("", "human", f"takes longer than {limits.wall_seconds} s")
        except OSError as error:
            return AttachmentText("", "human", f"cannot be opened ({type(error).__name__})")
        answer.seek(0)
        return _answer(answer.read(), done.returncode)


def _answer(written: bytes, status: int) -> AttachmentText:
    try:
        fields = json.loads(written)
        return AttachmentText(str(fields["text"]), fields["verdict"], str(fields["reason"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return AttachmentText("", "human", f"takes more than it may (the reader ended with status {status})")
