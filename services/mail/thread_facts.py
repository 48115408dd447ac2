"""What places a mail in a thread: what the mail says, what the store knows, and where it goes."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

PlacementKind = Literal["new", "continued", "linked"]
Proof = Literal["proven", "unproven", "failed"]


@dataclass(frozen=True, slots=True)
class MailFacts:
    """What placing needs of a mail. Addresses are keys (casefolded), ids without brackets, references oldest first.

    `token_thread` is what `tokens.check_token` gave for the author; `participants` are From, To and Cc
    without our own addresses; `verified` holds for `verified` and `vouched` senders, `failed` where the sender's domain
    disowns the mail. `aliases` are the other addresses of the same person; `space` is the memory that the mail is of.
    """

    workspace: str
    inbox: str
    message_id: str
    author: str
    received: datetime
    subject: str = ""
    references: tuple[str, ...] = ()
    in_reply_to: tuple[str, ...] = ()
    participants: frozenset[str] = frozenset()
    verified: bool = False
    token_thread: uuid.UUID | None = None
    aliases: frozenset[str] = frozenset()
    failed: bool = False
    space: str = ""

    @property
    def proof(self) -> Proof:
        """How far the author is who they say: what decides which threads the mail may be in."""
        return "proven" if self.verified else "failed" if self.failed else "unproven"

    @property
    def ancestors(self) -> tuple[str, ...]:
        """The ids referred to, nearest first, each once, never the mail's own."""
        ids = dict.fromkeys((*self.in_reply_to, *reversed(self.references)))
        return tuple(i for i in ids if i != self.message_id)


@dataclass(frozen=True, slots=True)
class KnownThread:
    """A thread that the store found for one of `wanted_ids` or `wanted_threads`.

    `message_ids` are those of its mails, `our_ids` of those that we sent, `awaited` those its mails refer to and
    that have not come; `participants` all who stood in From, To or Cc of its trusted mails, `verified` those
    who wrote in it and were verified. `proof` and `space` are those of its first mail, and so of every mail in it;
    `participant_id` is its author.
    """

    thread_id: uuid.UUID
    author: str
    message_ids: frozenset[str] = frozenset()
    our_ids: frozenset[str] = frozenset()
    awaited: frozenset[str] = frozenset()
    participants: frozenset[str] = frozenset()
    verified: frozenset[str] = frozenset()
    subject: str = ""
    closed_at: datetime | None = None
    proof: Proof = "proven"
    participant_id: uuid.UUID | None = None
    space: str = ""

    @property
    def own_ids(self) -> frozenset[str]:
        """The ids that are this thread's for certain. What it awaits is only a claim."""
        return self.message_ids | self.our_ids


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a mail goes. `linked_to` is the thread that a linked one carries on from, or says that it does.

    `same_as` are further threads that this mail shows to be the same conversation (`thread.linked`);
    `awaits` the ids whose mails, when they come, belong here.
    """

    thread_id: uuid.UUID
    kind: PlacementKind
    reason: str
    flags: tuple[str, ...] = ()
    linked_to: uuid.UUID | None = None
    same_as: tuple[uuid.UUID, ...] = ()
    awaits: tuple[str, ...] = ()
