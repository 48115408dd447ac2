"""What leaves for an author whom nothing proves: the inbox's fixed reply, or what a person approved, and nothing else.

This is the last gate before a message is frozen, and asks nobody but the mail and the settings: whatever a draft says,
no text of a model and no word of the mail goes automatically to an address that anybody may have written into `From`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from schemas.events.mail import FORWARDED
from schemas.events.replies import ReplyDrafted
from services.core.app import App
from services.core.mailbox import MailboxKey
from services.mail.compose import Block, Composed, Outgoing, links_in
from services.mail.message import Address
from services.mail.report_tokens import make_report_token
from services.mail.tokens import make_token
from services.send_email.draft import finished
from services.send_email.load import NewestMail

Gate = Literal["open", "named", "template", "review", "closed"]


def gate(draft: ReplyDrafted, mail: NewestMail, app: App) -> Gate:
    """What may leave for the author of `mail` without a person: the draft, the fixed reply, or nothing.

    `named`: a forwarder that the inbox trusts names them, so they get the draft, which proposes nothing. `review`: a
    person decides. `closed`: the sender's domain disowns the mail, so nothing is ever sent automatically.
    """
    if mail.trusted and draft.trusted:
        return "open"
    if mail.identity == "failed":
        return "closed"
    if FORWARDED in mail.flags:
        return "named"
    inbox = app.settings.known_inbox(draft.inbox)
    return "template" if inbox is not None and inbox.unproven == "template" else "review"


def without_proposals(draft: ReplyDrafted) -> ReplyDrafted:
    """The draft as a turn of nobody proven may have it: it says what to answer, and proposes no state and no goals."""
    return draft.model_copy(update={"state": "awaiting_reply", "goals_add": (), "goals_close": ()})


def as_fixed(draft: ReplyDrafted, app: App) -> ReplyDrafted:
    """The draft with the inbox's fixed reply in place of whatever it says."""
    text = app.settings.inbox(draft.inbox).unproven_reply
    return draft.model_copy(update={"text": text, "decision": "reply", "citations": ()})


def freeze_fixed(draft: ReplyDrafted, mail: NewestMail, app: App, workspace: str, now: datetime) -> Composed:
    """The fixed reply, finished, to the address alone: the sender's name, subject and references are their words."""
    inbox = app.settings.inbox(draft.inbox)
    message = Outgoing(
        reply_id=draft.reply_id,
        sender=Address(inbox.display_name, inbox.address),
        recipient=Address("", mail.author_addr),
        subject=inbox.unproven_subject,
        text=draft.text,
        date=now,
        token=make_token(app.signing_keys, workspace, draft.thread_id, MailboxKey(mail.author_addr)),
        domain=inbox.address.rpartition("@")[2],
        report_token=make_report_token(app.signing_keys, workspace, draft.reply_id),
        in_reply_to=mail.message_id,
        known_links=frozenset(links_in(draft.text)),
        signature=Block(inbox.layout.signature, inbox.layout.signature_html),
        footer=Block(inbox.layout.footer, inbox.layout.footer_html),
    )
    return finished(message, inbox)
