"""What can be told of a mail from its bytes and the DNS alone, before any table is asked."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from typing import Any

from schemas.events.mail import Identity, MailReceived
from services.core.bus.work import Work
from services.core.house import House
from services.core.mail.authentication import Peer, authenticate
from services.core.mail.message import ParsedMail
from services.core.mail.mime import read_mail
from services.core.mail.reports import Report, read_report

MAX_TEXT = 32_000  # characters of new text that travel in the event


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


async def read(work: Work[MailReceived]) -> Reading:
    """Parse and authenticate. Never raises for what the mail holds."""
    raw = await work.house.blobs.get(work.event.blob)
    mail = await asyncio.to_thread(read_mail, raw)
    checked = await work.checkpoint("authenticate", lambda: _authenticate(work.house, work.event, raw, mail))
    return Reading(
        mail=mail,
        raw=raw,
        message_id=mail.message_id or f"{hashlib.sha256(raw).hexdigest()[:32]}@no-message-id.invalid",
        content_sha256=hashlib.sha256(f"{mail.subject}\x1f{mail.text}".encode("utf-8", "replace")).hexdigest(),
        identity=Identity.model_validate(checked),
        report=await asyncio.to_thread(read_report, mail, raw),
    )


async def _authenticate(house: House, event: MailReceived, raw: bytes, mail: ParsedMail) -> dict[str, Any]:
    if event.from_sent:
        return {"level": "unverified", "method": "sent folder", "reasons": ["it lay in our own Sent folder"]}
    if event.vouched_by and mail.author is not None:
        return {"level": "vouched", "method": "operator", "reasons": [f"{event.vouched_by} vouches for it"]}
    peer = Peer(event.peer.ip, event.peer.helo, event.peer.mail_from) if event.peer.ip else None
    ids, sealers = house.settings.own_authserv_ids, house.settings.trusted_sealers
    found = await asyncio.to_thread(authenticate, raw, mail, peer, house.resolver, ids, sealers)
    return {"level": found.level, "method": found.method, "reasons": list(found.reasons)}
