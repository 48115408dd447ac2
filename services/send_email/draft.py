"""From a draft to frozen MIME: who gets it, in which thread, under which headers. None of it is the model's choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from schemas.events.replies import ReplyDrafted
from services.core.house import House
from services.core.mail.compose import Composed, Outgoing, compose, dkim_sign, read_key
from services.core.mail.message import Address
from services.core.mail.tokens import make_token
from services.send_email.sources import with_sources

Row = dict[str, Any]


def disclosed(text: str, sentence: str) -> str:
    """The text with the sentence at its end, unless it stands in it: the model may have left it out.

    A text that says nothing stays as it is, and is refused later.
    """
    said = " ".join(sentence.split())
    says = any(char.isprintable() and not char.isspace() for char in text)
    return text if not says or said in " ".join(text.split()) else f"{text.rstrip()}\n\n{said}"


def freeze(
    draft: ReplyDrafted,
    mail: Row,
    house: House,
    workspace: str,
    now: datetime,
    *,
    known_links: frozenset[str],
    pages: Mapping[str, str],
    automatic: bool,
) -> Composed:
    """The finished message to the author of `mail`, signed where the inbox has a key.

    `known_links` stand in the knowledge base; `pages` (address -> title) are named below the text. Raises
    `ComposeRefused`, and `SettingsWrong` where the inbox is gone.
    """
    inbox = house.settings.inbox(draft.inbox)
    send = house.settings.send
    disclose = send.disclose_ai if draft.disclose_ai is None else draft.disclose_ai
    text = disclosed(draft.text, send.disclosure) if automatic and disclose else draft.text
    token = make_token(house.keyring, workspace, draft.thread_id, mail["author_addr"])
    composed = compose(
        Outgoing(
            reply_id=draft.reply_id,
            sender=Address(inbox.display_name, inbox.address),
            recipient=Address(mail["author_name"], mail["author_addr"]),
            subject=mail["subject"],
            text=with_sources(text, pages),
            date=now,
            token=token,
            domain=inbox.address.rpartition("@")[2],
            in_reply_to=mail["message_id"],
            references=tuple(mail["references_ids"]),
            allowed_links=send.allowed_links,
            known_links=known_links.union(pages),
            automatic=automatic,
        )
    )
    return replace(composed, raw=dkim_sign(composed.raw, read_key(inbox.dkim))) if inbox.dkim else composed
