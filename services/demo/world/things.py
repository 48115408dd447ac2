"""What an invented world is made of: a product, people, documents, mails and what each mail should bring about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from services.demo.world.messages import DemoMail, SentReply, written
from services.demo.world.seals import Seal

Authentication = Literal["verified", "failed", "none"]
Outcome = Literal["replied", "no_reply", "escalated", "attached", "parked", "bounce", "human"]


@dataclass(frozen=True, slots=True)
class Plan:
    """One plan of the product; `price` is dollars a user and month."""

    name: str
    price: int
    seats: int  # at most
    sso: bool


@dataclass(frozen=True, slots=True)
class Product:
    """What the invented company sells."""

    name: str
    domain: str
    purpose: str  # "project planning"
    item: str  # what its users keep in it: "boards"
    plans: tuple[Plan, Plan, Plan]
    refund_days: int
    yearly_discount: int  # per cent
    status_page: str

    @property
    def entry(self) -> Plan:
        """The smallest plan."""
        return self.plans[0]

    @property
    def middle(self) -> Plan:
        """The plan most customers have."""
        return self.plans[1]

    @property
    def top(self) -> Plan:
        """The plan with single sign-on."""
        return self.plans[2]


@dataclass(frozen=True, slots=True)
class Person:
    """A correspondent. `seal` signs their mail; their domain's public key stands in the world's zone."""

    first: str
    last: str
    company: str
    address: str
    seal: Seal

    @property
    def name(self) -> str:
        """First and last name."""
        return f"{self.first} {self.last}"


@dataclass(frozen=True, slots=True)
class Document:
    """One article of the knowledge base, in Markdown."""

    slug: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Sent:
    """What has gone out so far: the key of the world's mail that was answered -> our answer."""

    replies: Mapping[str, SentReply] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Expected:
    """What a mail should bring about. Words are compared without regard to case; "" claims nothing."""

    outcome: Outcome
    must_mention: tuple[str, ...] = ()
    must_not_mention: tuple[str, ...] = ()
    thread_state: str = ""
    participant_state: str = ""
    learned: tuple[str, ...] = ()  # words that must stand in the facts about the author afterwards


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail of the story. `answers` and `about` are keys of earlier mails of this world."""

    key: str
    inbox: str
    received_at: datetime
    envelope_from: str
    authentication: Authentication
    message: DemoMail
    expected: Expected
    story: str
    answers: str = ""  # written below our reply to that mail
    about: str = ""  # a bounce: names our reply to that mail

    def render(self, sent: Sent) -> bytes:
        """The mail as it arrives, CRLF lines. Same input, same bytes. A reply that never went out is not quoted."""
        ours = sent.replies.get(self.answers or self.about)
        return written(self.message, ours)


@dataclass(frozen=True, slots=True)
class World:
    """A company, its documents, its inboxes, and its mail in order of time."""

    seed: int
    product: Product
    inboxes: tuple[str, ...]
    documents: tuple[Document, ...]
    people: tuple[Person, ...]
    mails: tuple[Mail, ...]
    dns_zone: Mapping[str, tuple[str, ...]]  # TXT records: lower-case name without the final dot -> strings

    def mail(self, key: str) -> Mail:
        """The mail of that key. Raises `KeyError`."""
        return {mail.key: mail for mail in self.mails}[key]
