"""From a draft to frozen MIME: who gets it, in which thread, under which headers. None of it is the model's choice."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from schemas.events.mail import EmailRead
from schemas.events.replies import ReplyDrafted
from services.core.app import App
from services.core.mailbox import MailboxKey
from services.core.settings import InboxSettings
from services.core.settings.inbox import LINK, LayoutSettings
from services.mail.compose import Block, Composed, File, Outgoing, compose, dkim_sign, read_key
from services.mail.link_tokens import rating_link
from services.mail.message import Address
from services.mail.report_tokens import make_report_token
from services.mail.tokens import make_token
from services.mail.unsubscribe import PATH as UNSUBSCRIBE_PATH
from services.mail.unsubscribe import Unsubscribe, make_unsubscribe_token
from services.send_email.copies import chosen_copies, copies
from services.send_email.load import NewestMail
from services.send_email.sources import with_sources


def disclosed(text: str, sentence: str) -> str:
    """The text with the sentence at its end, unless it stands in it: the model may have left it out.

    A text that says nothing stays as it is, and is refused later.
    """
    said = " ".join(sentence.split())
    says = any(char.isprintable() and not char.isspace() for char in text)
    return text if not says or said in " ".join(text.split()) else f"{text.rstrip()}\n\n{said}"


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person chose for their reply in place of what the inbox has: `cc` and `quote`; None leaves that."""

    cc: tuple[str, ...] | None = None
    quote: bool | None = None

    def quotes(self, layout: LayoutSettings) -> bool:
        """Whether the answered mail is quoted."""
        return layout.quote != "off" if self.quote is None else self.quote

    def needs_mail(self, layout: LayoutSettings) -> bool:
        """Whether the mail's own event is looked at: for its words, or for whom it was written to."""
        return self.quotes(layout) or (self.cc is None and layout.reply_all)


BY_INBOX = Choices()


@dataclass(frozen=True, slots=True)
class Answered:
    """The newest mail that a reply answers: its row, and its event, which an erase may have taken."""

    mail: NewestMail
    read: EmailRead | None

    def quote(self, layout: LayoutSettings, choices: Choices) -> tuple[str, str]:
        """The mail to quote and the line above it. Only a proven author's words are sent back."""
        if not choices.quotes(layout) or self.read is None or not self.mail.trusted:
            return "", ""
        sent = (self.read.sent_at or self.mail.received_at).strftime("%Y-%m-%d %H:%M %Z").strip()
        name = self.mail.author_name or self.mail.author_addr
        return self.read.text, layout.quote_intro.replace("{date}", sent).replace("{name}", name)


def freeze(
    draft: ReplyDrafted,
    answered: Answered,
    app: App,
    workspace: str,
    now: datetime,
    *,
    known_links: frozenset[str],
    pages: Mapping[str, str],
    files: tuple[File, ...] = (),
    automatic: bool,
    choices: Choices = BY_INBOX,
) -> Composed:
    """The finished message to the author of the answered mail, signed where the inbox has a key.

    `known_links` stand in the knowledge base; `pages` (address -> title) are named below the text. Raises
    `ComposeRefused`, and `SettingsWrong` where the inbox is gone.
    """
    inbox = app.settings.inbox(draft.inbox)
    send = app.settings.send
    disclose = send.disclose_ai if draft.disclose_ai is None else draft.disclose_ai
    text = disclosed(draft.text, send.disclosure) if automatic and disclose else draft.text
    mail, layout = answered.mail, inbox.layout
    own = app.settings.own_addresses
    if choices.cc is not None:
        cc = chosen_copies(choices.cc, mail.author_addr, layout, own)
    else:
        cc = copies(answered.read, layout, own) if answered.read else ()
    quoted, intro = answered.quote(layout, choices)
    unsubscribe = _unsubscribe(draft, inbox, app, workspace) if draft.unsubscribe else None
    message = Outgoing(
        reply_id=draft.reply_id,
        sender=Address(inbox.display_name, inbox.address),
        recipient=Address(mail.author_name, mail.author_addr),
        subject=mail.subject,
        text=with_sources(text, pages),
        date=now,
        token=make_token(app.signing_keys, workspace, draft.thread_id, MailboxKey(mail.author_addr)),
        domain=inbox.address.rpartition("@")[2],
        report_token=make_report_token(app.signing_keys, workspace, draft.reply_id),
        in_reply_to=mail.message_id,
        references=tuple(mail.references_ids),
        allowed_links=send.allowed_links,
        known_links=known_links.union(pages),
        automatic=automatic,
        cc=cc,
        files=files,
        signature=Block(layout.signature, layout.signature_html),
        footer=_footer(layout, _lines(draft, inbox, app, workspace, unsubscribe)),
        unsubscribe=unsubscribe,
        quoted=quoted,
        quote_intro=intro,
    )
    return finished(message, inbox)


def _unsubscribe(draft: ReplyDrafted, inbox: InboxSettings, app: App, workspace: str) -> Unsubscribe:
    """How this mail is unsubscribed from. Its token names the mail."""
    token = make_unsubscribe_token(app.signing_keys, workspace, draft.reply_id)
    base = (app.settings.reach_out.public_url or app.settings.web.public_url).rstrip("/")
    return Unsubscribe(inbox.address, token, f"{base}{UNSUBSCRIBE_PATH}/{token}" if base else "")


def _lines(
    draft: ReplyDrafted, inbox: InboxSettings, app: App, workspace: str, unsubscribe: Unsubscribe | None
) -> list[str]:
    """Lines of ours below a reply: how to get no more of what nobody asked for; else what they think of it, where that
    is asked and the sender is proven.
    """
    if unsubscribe is not None:
        return [app.settings.reach_out.unsubscribe.replace("{how}", unsubscribe.how)]
    asks = inbox.satisfaction
    if not asks.ask or not draft.trusted:
        return []
    link = rating_link(app.signing_keys, workspace, draft.reply_id, app.settings.web.public_url)
    return [asks.line.replace(LINK, link)]


def _footer(layout: LayoutSettings, lines: Sequence[str]) -> Block:
    """The operator's footer, with lines of ours below it, in both parts."""
    below = "".join(f"<p>{_linked(one)}</p>" for one in lines)
    markup = f"{layout.footer_html}{below}" if layout.footer_html else ""
    return Block("\n\n".join(filter(None, (layout.footer, *lines))), markup)


def _linked(line: str) -> str:
    """A line for HTML readers, its addresses to click on."""
    words = html.escape(line).split(" ")
    return " ".join(f'<a href="{one}">{one}</a>' if one.startswith("https://") else one for one in words)


def finished(message: Outgoing, inbox: InboxSettings) -> Composed:
    """The message composed, and signed where the inbox has a key. Raises `ComposeRefused`."""
    composed = compose(message)
    return replace(composed, raw=dkim_sign(composed.raw, read_key(inbox.dkim))) if inbox.dkim else composed
