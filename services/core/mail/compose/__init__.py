"""From a decided reply to frozen bytes: headers, plain text, HTML, and a second look before anything leaves.

Pure: the same `Outgoing` gives the same bytes on every attempt, so an unknown delivery can be looked for.
"""

from __future__ import annotations

from services.core.mail.compose import wire
from services.core.mail.compose.body import html_of, mime_body, safe_text, with_quote
from services.core.mail.compose.check import check
from services.core.mail.compose.dkim_signing import DkimKey, dkim_sign, read_key
from services.core.mail.compose.links import LinkPolicy, links_in
from services.core.mail.compose.nouns import Composed, ComposeRefused, Outgoing
from services.core.mail.tokens import own_message_id, token_of_message_id

__all__ = ["ComposeRefused", "Composed", "DkimKey", "Outgoing", "compose", "dkim_sign", "links_in", "read_key"]


def compose(reply: Outgoing) -> Composed:
    """The finished message to one recipient. Raises ComposeRefused where it would not be exactly what was meant."""
    recipient = wire.addr_spec(reply.recipient.addr)
    envelope_from = wire.addr_spec(reply.envelope_from or reply.sender.addr)
    links = LinkPolicy(reply.allowed_links, reply.known_links)
    text = safe_text(with_quote(reply.text, reply.quoted), links)
    if not text.strip():
        raise ComposeRefused("the reply has no text")
    message_id = own_message_id(reply.token, reply.reply_id, reply.domain)
    headers = [(name, value) for name, value in _headers(reply, message_id) if value]
    head = "".join(f"{name}: {value}\r\n" for name, value in headers).encode("utf-8")
    raw = head + mime_body(text, html_of(text, links))
    check(raw, headers, recipient)
    utf8 = not head.isascii() or not (recipient + envelope_from).isascii()
    return Composed(raw, message_id, envelope_from, recipient, utf8)


def _headers(reply: Outgoing, message_id: str) -> list[tuple[str, str]]:
    """The headers in their order; those with nothing to say are empty."""
    own_id = wire.id_list([message_id])
    if not reply.token or not own_id or token_of_message_id(message_id) != reply.token:
        raise ComposeRefused("the domain or token makes no Message-ID")
    automatic = reply.automatic
    return [
        ("From", wire.mailbox(reply.sender)),
        ("To", wire.mailbox(reply.recipient)),
        ("Reply-To", wire.addr_spec(reply.reply_to) if reply.reply_to else ""),
        ("Subject", wire.text_value(wire.reply_subject(reply.subject), "Subject")),
        ("Date", wire.date_value(reply.date)),
        ("Message-ID", own_id),
        ("In-Reply-To", wire.id_list([reply.in_reply_to])),
        ("References", wire.id_list(wire.references(reply.references, reply.in_reply_to))),
        ("Auto-Submitted", "auto-replied" if automatic else ""),
        ("X-Auto-Response-Suppress", "All" if automatic else ""),
    ]
