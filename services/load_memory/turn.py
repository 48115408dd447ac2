"""What every layer is given: the turn, its mails, and the query that memory is searched with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.events.suggestions import SuggestionAsked
from schemas.events.threads import AppliedBehaviour, TurnOpened
from services.core.app import App
from services.core.db import Connection, fetch_several, queries, rows_as
from services.core.settings import Chosen, ContextSettings, InboxSettings, context_of
from services.memory.embeddings import Meaning
from services.memory.questions import Asked, has_cue
from services.memory.tuning import Tuning, tuned

SQL = queries(__file__)
OF_TURN = (SQL.mails, SQL.earlier_mails, SQL.addresses)


@dataclass(frozen=True, slots=True)
class MailToAnswer:
    """A mail that the turn answers. `attachments` are as the event `email.read` names them."""

    mail_id: UUID
    participant_id: UUID | None
    message_id: str
    subject: str
    text: str
    quoted: str
    signature: str
    author_name: str
    author_addr: str
    received_at: datetime
    language: str
    flags: list[str]
    attachments: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn, as the layers see it. `participant_id` is None for an author whom we cannot trust.

    `addresses` are those of the person who writes, by participant; none are known of whom we cannot trust.

    `chosen` is what shapes the reply, `behaviours` are the operator's rules that hold. `meaning` is that of the query;
    `asked` is what the mails ask of memory, each with the meaning of its words; `recalls`: facts are searched at all.
    `own_words` is what a colleague wrote and wants worded better.
    """

    app: App
    workspace: str
    now: datetime
    thread_id: UUID
    participant_id: UUID | None
    inbox: InboxSettings
    mails: tuple[MailToAnswer, ...]
    meaning: Meaning
    asked: tuple[tuple[Asked, Meaning], ...] = ()
    recalls: bool = True
    chosen: Mapping[str, Chosen] = field(default_factory=dict)
    behaviours: tuple[AppliedBehaviour, ...] = ()
    addresses: Mapping[UUID, str] = field(default_factory=dict)
    own_words: str = ""

    @property
    def space(self) -> str:
        """Whose documents are read: the inbox's."""
        return self.inbox.memory.space

    @property
    def settings(self) -> ContextSettings:
        """Budgets and counts in force."""
        return context_of(self.app.settings, self.chosen)

    @property
    def tuning(self) -> Tuning:
        """How facts are searched and judged."""
        return tuned(self.app.settings.recall)

    @property
    def query(self) -> str:
        """What the mails ask, in at most 4,000 characters."""
        return query_of(self.mails, 4000)

    @property
    def language(self) -> str:
        """Of the newest of the turn's mails that is long enough to tell; else ""."""
        return next((mail.language for mail in reversed(self.mails) if mail.language), "")

    @property
    def of_author(self) -> dict[str, Any]:
        """Whose turn it is, as queries ask: their ids and addresses, and whether it is certain that it is they."""
        author, addr = (self.mails[-1].participant_id, self.mails[-1].author_addr) if self.mails else (None, "")
        return {
            "author_ids": list(dict.fromkeys((author, *self.addresses))),
            "trusted": self.participant_id is not None,
            "addrs": list(dict.fromkeys((addr, *self.addresses.values()))),
        }

    @property
    def mail_ids(self) -> list[UUID]:
        """The mails that are answered."""
        return [mail.mail_id for mail in self.mails]


def recalls(settings: ContextSettings, text: str, earlier: int, now: datetime) -> bool:
    """Whether facts are searched for a mail that is preceded by so many of its thread: on a cue, or by cadence."""
    return settings.recall == "always" or has_cue(text, now) or earlier % settings.recall_every == 0


def query_of(mails: Sequence[MailToAnswer], characters: int) -> str:
    """Subjects and new text of mails (oldest first), the newest first, in at most so many characters."""
    return "\n".join(f"{mail.subject}\n{mail.text}" for mail in reversed(mails))[:characters]


async def load_mails(conn: Connection, mail_ids: list[UUID]) -> tuple[MailToAnswer, ...]:
    """The turn's mails, oldest first."""
    return tuple(await rows_as(conn, MailToAnswer, SQL.mails, {"mail_ids": mail_ids}))


async def load_turn(
    conn: Connection, event: TurnOpened | SuggestionAsked, workspace: str
) -> tuple[tuple[MailToAnswer, ...], int, dict[UUID, str]]:
    """The turn's mails, oldest first; how many of its thread came before them; the author's addresses, by participant.

    No addresses are known of an author whom we cannot trust.
    """
    author = event.participant_id if event.trusted else None
    of = {"thread_id": event.thread_id, "mail_ids": list(event.mail_ids), "participant_id": author}
    mails, [earlier], people = await fetch_several(conn, OF_TURN, {**of, "workspace": workspace})
    addresses = {row["participant_id"]: row["addr"] for row in people}
    return tuple(MailToAnswer(**row) for row in mails), int(earlier["n"]), addresses
