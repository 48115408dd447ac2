"""From a decided reply to frozen bytes: headers, plain text, HTML, and a second look before anything leaves.

Pure: the same `Outgoing` gives the same bytes on every attempt, so an unknown delivery can be looked for.
"""

from __future__ import annotations

from services.mail.compose import wire
from services.mail.compose.body import html_page, mime_body, plain_text, sections
from services.mail.compose.dkim_signing import DkimKey, dkim_sign, read_key
from services.mail.compose.links import links_in
from services.mail.compose.wire import Block, Composed, ComposeRefused, File, Outgoing, check
from services.mail.report_tokens import HEADER as REPORT_TOKEN
from services.mail.tokens import own_message_id, token_of_message_id

__all__ = [
    "Block", "ComposeRefused", "Composed", "DkimKey", "File", "Outgoing",
    "compose", "dkim_sign", "links_in", "read_key",
]  # fmt: skip


def compose(reply: Outgoing) -> Composed:
    """The finished message. Raises ComposeRefused where it would not be exactly what was meant."""
    recipient = wire.addr_spec(reply.recipient.addr)
    cc = tuple(wire.addr_spec(one.addr) for one in reply.cc)
    envelope_from = wire.addr_spec(reply.envelope_from or reply.sender.addr)
    parts = sections(reply)
    if not parts[0].text.strip():
        raise ComposeRefused("the reply has no text")
    text = plain_text(parts)
    message_id = own_message_id(reply.token, reply.reply_id, reply.domain)
    headers = [(name, value) for name, value in _headers(reply, message_id) if value]
    head = "".join(f"{name}: {value}\r\n" for name, value in headers).encode("utf-8")
    raw = head + mime_body(text, html_page(parts), reply.files)
    check(raw, headers, recipient, cc, files=len(reply.files))
    utf8 = not head.isascii() or not "".join((recipient, envelope_from, *cc)).isascii()
    files = tuple(wire.plain(one.filename) for one in reply.files)
    return Composed(raw, message_id, envelope_from, recipient, text, cc, files, utf8)


def _headers(reply: Outgoing, message_id: str) -> list[tuple[str, str]]:
    """The headers in their order; those with nothing to say are empty."""
    own_id = wire.id_list([message_id])
    if not reply.token or not own_id or token_of_message_id(message_id) != reply.token:
        raise ComposeRefused("the domain or token makes no Message-ID")
    automatic = reply.automatic
    return [
        ("From", wire.mailbox(reply.sender)),
        ("To", wire.mailbox(reply.recipient)),
        ("Cc", ",\r\n ".join(map(wire.mailbox, reply.cc))),
        ("Subject", wire.text_value(wire.reply_subject(reply.subject), "Subject")),
        ("Date", wire.date_value(reply.date)),
        ("Message-ID", own_id),
        ("In-Reply-To", wire.id_list([reply.in_reply_to])),
        ("References", wire.id_list(wire.references(reply.references, reply.in_reply_to))),
        (REPORT_TOKEN, reply.report_token),
        *(reply.unsubscribe.headers if reply.unsubscribe else ()),
        ("Auto-Submitted", "auto-replied" if automatic else ""),
        ("X-Auto-Response-Suppress", "All" if automatic else ""),
    ]
