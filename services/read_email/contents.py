"""What can be told of a mail from its bytes and the DNS alone, before any table is asked."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from schemas.events.mail import Identity, MailReceived
from services.core.bus.work import Work
from services.mail.authentication import Dkim, Peer, authenticate, signed_digests, with_coverage
from services.mail.authentication.sender_checks import domain_of
from services.mail.authentication.trusted_results import arrived_at
from services.mail.message import Address, ParsedMail
from services.mail.mime import read_mail
from services.mail.reports import Report, read_report
from services.read_email.forwarders import METHOD, author_named, forwarded_by, in_their_name

MAX_TEXT = 32_000  # characters of new text that travel in the event
FEW_WORDS, FEW_CHARACTERS = 5, 40  # new text of fewer may not be all that the writer added
MAX_QUOTED, MAX_SIGNATURE = 4_000, 1_000  # characters that travel next to so few words


@dataclass(frozen=True, slots=True)
class Reading:
    """A mail as it was read. `message_id` is made from the bytes where the mail has none."""

    mail: ParsedMail
    raw: bytes
    message_id: str
    content_sha256: str
    identity: Identity
    report: Report | None

    @property
    def text(self) -> str:
        """The new text, within its limit."""
        return self.mail.reply.new[:MAX_TEXT]

    @property
    def quoted(self) -> str:
        """The beginning of what the mail quotes, where it says little else; else ""."""
        return self.mail.reply.quoted[:MAX_QUOTED] if is_short(self.text) else ""

    @property
    def signature(self) -> str:
        """The beginning of the mail's signature, where it says little else; else ""."""
        return self.mail.reply.signature[:MAX_SIGNATURE] if is_short(self.text) else ""


def is_short(text: str) -> bool:
    """Whether a new text is a few words: they mean little without the quote, and more may have been taken off."""
    return len(text.split()) < FEW_WORDS and len(text.strip()) < FEW_CHARACTERS


async def read(work: Work[MailReceived]) -> Reading:
    """Parse and authenticate. Never raises for what the mail holds."""
    raw = await work.app.blobs.get(work.event.blob)
    mail = await asyncio.to_thread(read_mail, raw)
    checked = await work.checkpoint("authenticate", lambda: _authenticate(work, raw, mail))
    named = checked.pop("named", None)
    mail = in_their_name(mail, Address(**named)) if named else mail
    return Reading(
        mail=mail,
        raw=raw,
        message_id=mail.message_id or f"{hashlib.sha256(raw).hexdigest()[:32]}@no-message-id.invalid",
        content_sha256=hashlib.sha256(f"{mail.subject}\x1f{mail.text}".encode("utf-8", "replace")).hexdigest(),
        identity=Identity.model_validate(checked),
        report=await asyncio.to_thread(read_report, mail, raw),
    )


async def _authenticate(work: Work[MailReceived], raw: bytes, mail: ParsedMail) -> dict[str, Any]:
    event, settings = work.event, work.app.settings
    if event.from_sent:
        return {"level": "unverified", "method": "sent folder", "reasons": ["it lay in our own Sent folder"]}
    if event.vouched_by and mail.author is not None:
        signatures = await asyncio.to_thread(signed_digests, raw, domain_of(mail.author.addr))
        reasons = (f"{event.vouched_by} vouches for it",)
        vouched = Identity(level="vouched", method="operator", reasons=reasons, signatures=signatures)
        return _named(work, mail, vouched, ()) or vouched.model_dump(mode="json")
    found = await asyncio.to_thread(
        authenticate,
        raw,
        mail,
        Peer(event.peer.ip, event.peer.helo, event.peer.mail_from) if event.peer.ip else None,
        work.app.resolver,
        settings.own_authserv_ids,
        settings.trusted_sealers,
        stripping_ids=settings.stripping_authserv_ids,
        own_addresses=settings.own_addresses,
        arrived=arrived_at(mail, settings.own_authserv_ids, work.now) if event.mode == "live" else None,
    )
    identity = Identity(
        level=found.level,
        method=found.method,
        reasons=found.reasons,
        unsigned=found.unsigned,
        signatures=found.signatures,
    )
    return _named(work, mail, identity, with_coverage(found.dkim, raw)) or identity.model_dump(mode="json")


def _named(
    work: Work[MailReceived], mail: ParsedMail, identity: Identity, signatures: Collection[Dkim]
) -> dict[str, Any] | None:
    """What is known of the author whom a trusted forwarder names; None for a mail that is none of its."""
    settings = work.app.settings
    inbox = settings.known_inbox(work.event.inbox)
    forwarder = forwarded_by(mail, inbox.forwarders, identity, signatures) if inbox else None
    author = author_named(mail, forwarder, settings.own_addresses) if forwarder else None
    if forwarder is None or author is None:
        return None
    reasons = [f"{forwarder.sender} handed it on, which the inbox trusts to name its author, and nothing proves them"]
    return {"level": "unverified", "method": METHOD, "reasons": reasons, "named": asdict(author)}
