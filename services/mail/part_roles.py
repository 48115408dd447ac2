"""What an attachment is for, and whether a mail is signed or encrypted: told to the model as what it is. Pure."""

from __future__ import annotations

import re
from typing import Literal

from services.mail.content_types import CMS, CMS_HEAD, SIGNED_DATA
from services.mail.message import Attachment, ParsedMail

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
