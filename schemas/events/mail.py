"""Mail that came in: received as bytes, then read."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal, Self
from uuid import UUID

from pydantic import Field

from schemas.events.base import EventData, Value

FORWARDED = "forwarded"  # the flag of a mail whose author a trusted forwarder named
PASSED_ON = "passed_on"  # a flag: the text is an older mail that the author sent on without a word
Mode = Literal["live", "history"]
IdentityLevel = Literal["verified", "vouched", "unverified", "failed"]
PROVEN_LEVELS: tuple[IdentityLevel, ...] = ("verified", "vouched")
UNPROVEN_LEVELS: tuple[IdentityLevel, ...] = ("unverified", "failed")
VerdictKind = Literal["answer", "park", "human", "bounce", "complaint", "duplicate", "loop", "colleague"]


class Peer(Value):
    """The SMTP client that handed the mail to our provider, where the source tells it."""

    ip: str = ""
    helo: str = ""
    mail_from: str = ""


class MailReceived(EventData):
    """The raw bytes of a mail are stored; nothing of it has been read yet."""

    TYPE: ClassVar[str] = "mail.received.v1"
    TOPIC: ClassVar[str] = "inbound-email.raw"

    mail_id: UUID
    inbox: str
    source: Literal["imap", "webhook", "file"]
    source_key: str = Field(description="what names the mail at its source, e.g. folder:uidvalidity:uid")
    blob: str = Field(description="sha256 of the raw bytes, the key in the blob store")
    size: int
    mode: Mode = "live"
    vouched_by: str = Field("", description="the operator who vouches for the sender; never from the network")
    from_sent: bool = Field(False, description="it lay in the inbox's own Sent folder: a colleague wrote it")
    peer: Peer = Peer()


class Person(Value):
    """A mailbox as it stood in a header."""

    name: str = ""
    addr: str


class Verdict(Value):
    """What the filters decided, which one did, and why."""

    kind: VerdictKind
    reason: str
    filter: str = ""


class Identity(Value):
    """How far we know that the author is who the From line says.

    `reply_token`: a token of ours, or the Message-ID of a reply, named the mail's thread. It proves nobody.
    """

    level: IdentityLevel
    method: str = ""
    reasons: tuple[str, ...] = ()
    reply_token: bool = False
    unsigned: tuple[str, ...] = Field(
        (), description="headers that name mails or whom to answer, and that what proves the author leaves open"
    )
    signatures: tuple[str, ...] = Field(
        (), description="digests of what the author's domain signed: every copy of the mail has one of them"
    )

    @property
    def trusted(self) -> bool:
        """Whether the author is proven: memory is loaded and written, and proposals count, for them alone."""
        return self.level in PROVEN_LEVELS


class AttachmentRef(Value):
    """An attachment by reference; `text` and `unread` where it was read, for a mail that somebody is to answer."""

    filename: str
    content_type: str
    size: int
    blob: str
    text: str = Field("", description="its words, or the names in an archive: at most 8,000 characters a mail")
    cut: bool = Field(False, description="it says more than `text` holds")
    unread: str = Field("", description="why its words could not be had")
    role: Literal["file", "picture", "invitation", "contact", "signature"] = Field(
        "file", description="what it is for; a picture stands in the text"
    )


class DeliveryReport(Value):
    """What a bounce or complaint says about a mail of ours."""

    kind: Literal["hard", "soft", "delayed", "complaint", "other"]
    reply_id: UUID | None = None
    recipients: tuple[str, ...] = ()
    status: str = ""
    diagnostic: str = ""


class EmailRead(EventData):
    """A mail has been parsed, authenticated, filtered and given its thread."""

    TYPE: ClassVar[str] = "email.read.v1"
    TOPIC: ClassVar[str] = "inbound-email"
    AGGREGATE: ClassVar[str] = "mail"
    WORDS: ClassVar[frozenset[str]] = frozenset({"text", "quoted", "signature", "attachments"})

    mail_id: UUID
    thread_id: UUID
    participant_id: UUID | None
    inbox: str
    space: str = Field("", description="whose memory it is part of; empty: what inboxes without their own share")
    mode: Mode
    blob: str
    message_id: str
    content_sha256: str = Field(description="hash of the body, with the Message-ID the mail's identity")
    in_reply_to: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    subject: str = ""
    author: Person | None = None
    to: tuple[Person, ...] = ()
    cc: tuple[Person, ...] = ()
    sent_at: datetime | None = Field(None, description="the Date header; received time is the event's own")
    text: str = Field("", description="the new text, at most 32,000 characters; the rest is in the blob")
    quoted: str = Field("", description="what it quotes, its beginning; kept where the new text is a few words")
    signature: str = Field("", description="its signature, its beginning; kept where the new text is a few words")
    language: str = ""
    attachments: tuple[AttachmentRef, ...] = ()
    identity: Identity
    verdict: Verdict
    participants: tuple[str, ...] = Field((), description="From, To and Cc without ours, case-folded")
    awaits: tuple[str, ...] = Field((), description="Message-IDs whose mails, when they come, belong to this thread")
    linked_from: UUID | None = Field(
        None,
        description="the thread that this new one continues, or that its sender, who is not proven, claims to; "
        "where the thread was there, another one that the mail shows to be the same conversation",
    )
    flags: tuple[str, ...] = ()
    report: DeliveryReport | None = None

    def aggregate_id(self) -> UUID:
        """The mail."""
        return self.mail_id

    def without_words(self) -> Self:
        """What was attached stays named, without what it says."""
        attachments = tuple(one.model_copy(update={"text": ""}) for one in self.attachments)
        return self.model_copy(update={"text": "", "quoted": "", "signature": "", "attachments": attachments})

    def shared_in(self) -> UUID | None:
        """A report repeats what we wrote in the thread; anything else is its author's alone."""
        return self.thread_id if self.report else None

    def reveals_author_of(self) -> UUID | None:
        """The mail itself: it has been read."""
        return self.mail_id
