"""What a file is, told from its first bytes and, for zip containers, from the names inside."""

from __future__ import annotations

import mimetypes
import re
from typing import Literal

from services.mail.message import Attachment, ParsedMail

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"%PDF-", "application/pdf"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (0, b"BM", "image/bmp"),
    (4, b"ftyphei", "image/heic"),
    (4, b"ftypmif1", "image/heic"),
    (4, b"ftyp", "video/mp4"),
    (8, b"WAVE", "audio/wav"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"OggS", "application/ogg"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\x00", "application/x-xz"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (257, b"ustar", "application/x-tar"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (0, b"{\\rtf", "application/rtf"),
    (0, b"\x78\x9f\x3e\x22", "application/ms-tnef"),
    (0, b"MZ", "application/vnd.microsoft.portable-executable"),
    (0, b"\x7fELF", "application/x-executable"),
    (0, b"-----BEGIN PGP MESSAGE", "application/pgp-encrypted"),
    (0, b"-----BEGIN PGP SIGNATURE", "application/pgp-signature"),
    (0, b"-----BEGIN PGP PUBLIC KEY", "application/pgp-keys"),
)

CMS, CMS_SIGNATURE = "application/pkcs7-mime", "application/pkcs7-signature"
SIGNED_DATA = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02"  # RFC 5652, 5.1
_CMS_KINDS = (  # the object identifier with which a DER or BER structure of CMS begins
    SIGNED_DATA,
    b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03",  # enveloped-data, RFC 5652, 6.1
    b"\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x17",  # authenticated and enveloped, RFC 5083
    b"\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x09",  # compressed-data, RFC 3274
)
CMS_HEAD = 20  # bytes in which it stands
_OBJECTS = ((b"BEGIN:VCALENDAR", "text/calendar"), (b"BEGIN:VCARD", "text/vcard"))

_INSIDE_ZIP = (
    (b"word/document.xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/presentation.xml", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    (b"META-INF/MANIFEST.MF", "application/java-archive"),
)
MAX_DECLARED_TYPE = 100
UNKNOWN = "application/octet-stream"
_MARKDOWN = (".md", ".markdown")
_HTML = re.compile(rb"\s*(?:<!doctype html|<html|<head|<body)", re.IGNORECASE)
_TEXT_BYTES = bytes({7, 8, 9, 10, 12, 13, 27} | set(range(0x20, 0x100)) - {0x7F})


def claimed_by_name(filename: str) -> str:
    """The media type that a file's name stands for."""
    if filename.lower().endswith(_MARKDOWN):
        return "text/markdown"
    return mimetypes.guess_type(filename)[0] or UNKNOWN


def detect(content: bytes, claimed: str, filename: str = "") -> str:
    """The media type of `content`. A claim is believed only for text and where nothing speaks against it."""
    for offset, magic, media_type in _MAGIC:
        if content.startswith(magic, offset):
            return media_type
    if content.startswith(b"0") and any(kind in content[:CMS_HEAD] for kind in _CMS_KINDS):
        return CMS_SIGNATURE if claimed == CMS_SIGNATURE or filename.lower().endswith(".p7s") else CMS
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_type(content)
    if not content or claimed.startswith("message/"):
        return claimed or UNKNOWN
    if _HTML.match(content[:512]):
        return "text/html"
    return _text_type(content, claimed, filename)


def _text_type(content: bytes, claimed: str, filename: str) -> str:
    sample = content[:8192]
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")) or not sample.translate(None, _TEXT_BYTES):
        if filename.lower().endswith((".csv", ".tsv")):
            return "text/csv"
        begins = sample.lstrip(b"\xef\xbb\xbf \t\r\n")[:20].upper()
        if found := next((kind for begun, kind in _OBJECTS if begins.startswith(begun)), ""):
            return found
        return claimed if claimed.startswith("text/") or claimed.endswith(("json", "xml")) else "text/plain"
    known = {media_type for _, _, media_type in _MAGIC} | {"application/zip", "text/html", "text/plain"}
    return UNKNOWN if claimed in known or not claimed else claimed


def _zip_type(content: bytes) -> str:
    """Told from names and bytes near the front; the archive itself is opened only in the child process."""
    if content[30:38] == b"mimetype":
        declared = re.match(rb"[a-z]+/[a-z0-9.+-]+", content[38 : 38 + MAX_DECLARED_TYPE])
        return declared[0].decode("ascii") if declared else "application/zip"
    return next((media_type for name, media_type in _INSIDE_ZIP if name in content), "application/zip")


# What an attachment is for, and whether a mail is signed or encrypted: told to the model as what it is. Pure.
Role = Literal["file", "picture", "invitation", "contact", "signature"]

CALENDAR = ("text/calendar", "application/ics")
_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_CONTACTS = ("text/vcard", "text/x-vcard", "text/directory")
_CMS = (CMS, "application/x-pkcs7-mime")  # RFC 8551, 3.2
_PGP = "application/pgp-encrypted"
_PGP_TEXT = re.compile(r"^-----BEGIN PGP (MESSAGE|SIGNED MESSAGE)-----[ \t]*$", re.MULTILINE)


def role_of(part: Attachment) -> Role:
    """What an attachment is for. A picture that stands in the text is no file that the customer chose to send."""
    types = (part.content_type, part.claimed_type)
    if any(one in CALENDAR for one in types):
        return "invitation"
    if any(one in _SIGNATURES for one in types):
        return "signature"
    if any(one in _CONTACTS for one in types):
        return "contact"
    return "picture" if part.inline and part.content_type.startswith("image/") else "file"


def seal_of(mail: ParsedMail) -> str:
    """How a mail is sealed: `signed_smime`, `signed_pgp`, `opaque_smime`, `encrypted_smime`, `encrypted_pgp` or "".

    Told by its parts too: Exchange and gateways put the sealed body into a multipart, as a file of no type.
    `opaque_smime` is signed, not encrypted, in a wrapper that has to be opened to be read (RFC 8551, 3.5.2).
    """
    whole, _, parameters = mail.header("Content-Type").partition(";")
    whole, parameters = whole.strip().casefold(), parameters.casefold()
    armour = _PGP_TEXT.search(mail.text)
    wrapped = next((part for part in mail.attachments if _is(part, *_CMS)), None)
    if whole in _CMS or wrapped:
        signed = "signed-data" in parameters or (wrapped and SIGNED_DATA in wrapped.content[:CMS_HEAD])
        return "opaque_smime" if signed else "encrypted_smime"
    if (
        whole == "multipart/encrypted"
        or (armour and armour[1] == "MESSAGE")
        or any(_is(p, _PGP) for p in mail.attachments)
    ):
        return "encrypted_pgp"
    if whole == "multipart/signed":
        return "signed_pgp" if "pgp" in parameters else "signed_smime"
    return "signed_pgp" if armour else ""


def _is(part: Attachment, *types: str) -> bool:
    return part.content_type in types or part.claimed_type in types
