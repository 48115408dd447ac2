"""Ids that are made from what they name, so that everybody who meets the thing makes the same one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from uuid import NAMESPACE_URL, UUID, uuid5

from services.core.mailbox import MailboxKey

_ROOT = uuid5(NAMESPACE_URL, "urn:correspondent")


def participant_id(workspace: str, mailbox: MailboxKey, space: str = "") -> UUID:
    """The participant who writes from this mailbox, as a space of memory knows them: in each they are another one."""
    return uuid5(_ROOT, f"participant\x1f{workspace}\x1f{MailboxKey(mailbox)}{_apart(space)}")


def participant_ids(workspace: str, mailbox: MailboxKey, spaces: Iterable[str]) -> list[UUID]:
    """The participants who write from this mailbox, one in each of some spaces, in the order of their names."""
    return [participant_id(workspace, mailbox, space) for space in sorted(spaces)]


def former_participant_id(workspace: str, address: str) -> UUID:
    """The id under which the writer of this address was kept before addresses were compared by `MailboxKey`.

    Full case folding made it, so that `weiß@` and `weiss@` had one. Only to be read in events of then.
    """
    return uuid5(_ROOT, f"participant\x1f{workspace}\x1f{address.casefold()}")


def author_id(workspace: str, address: str, stored: UUID | None) -> UUID | None:
    """Whom a stored mail belongs to: its `stored` participant, by the mailbox where that was made by folding."""
    if stored is not None and stored == former_participant_id(workspace, address):
        return participant_id(workspace, MailboxKey(address))
    return stored


def restoring_id(participant_id: UUID, moment: datetime, op: str, fact_id: UUID, decided: str) -> UUID:
    """The request about a fact in bringing a person back to a moment, after all that had been `decided` of its key."""
    return uuid5(participant_id, f"restore\x1f{moment.astimezone(UTC).isoformat()}\x1f{op}\x1f{fact_id}\x1f{decided}")


def text_sha256(text: str) -> str:
    """The hash that binds a person's word to the text that they saw: of the UTF-8 text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def token_sha256(token: str) -> str:
    """What is stored of a secret that somebody shows again, in hex; whatever a request may hold has one."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def article_id(workspace: str, thread_id: UUID, reply_id: UUID) -> UUID:
    """The article that is proposed from an answer: a document whose origin is that answer."""
    return document_id(workspace, article_origin(thread_id, reply_id))


def article_origin(thread_id: UUID, reply_id: UUID) -> str:
    """The name of the answer that an article was made from."""
    return f"thread/{thread_id}/{reply_id}"


def document_id(workspace: str, origin: str, space: str = "") -> UUID:
    """The document of a space that came from this path or address, in all its versions."""
    return uuid5(_ROOT, f"document\x1f{workspace}\x1f{origin}{_apart(space)}")


def alert_channel_id(workspace: str, way: str, place: str) -> UUID:
    """The channel that alerts people at this address, or by this webhook."""
    return uuid5(_ROOT, f"alerts\x1f{workspace}\x1f{way}\x1f{place}")


def incident_board_id(workspace: str, inbox: str) -> UUID:
    """The troubles that are reported in an inbox, and the incidents that they are."""
    return uuid5(_ROOT, f"incidents\x1f{workspace}\x1f{inbox}")


def incident_answer_id(incident_id: UUID, closing: int, person: UUID) -> UUID:
    """The draft that tells a person who reported an incident that it is over, when it was closed so often."""
    return uuid5(incident_id, f"answer/{closing}/{person}")


def outreach_book_id(workspace: str) -> UUID:
    """What was proposed to whom in a workspace, and who wants none of it."""
    return uuid5(_ROOT, f"outreach\x1f{workspace}")


def approval_id(workspace: str, inbox: str, intent: str) -> UUID:
    """What people make of the drafts of an intent in an inbox."""
    return uuid5(_ROOT, f"approval\x1f{workspace}\x1f{inbox}\x1f{intent}")


def _apart(space: str) -> str:
    """What sets the name of a thing apart in a space of its own; what the shared one has is named as before spaces."""
    return f"\x1f{space}" if space else ""
