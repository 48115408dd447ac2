"""Seeded mail for chaos: a few dozen customers who ask, say something of themselves, and write again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from services.core.app import App
from services.receive_email.accept import accept
from tests.oracle.evidence import Offered
from tests.support.letters import letter

BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
QUESTIONS = (
    "What does the Team plan cost for {n} people?",
    "Where do I find the invoice {n}?",
    "My order number is {n}. When will it arrive?",
    "The export of report {n} fails again, and it is the {n}th time. This is very frustrating!",
    "Please change my address to {n} Market Street, Springfield.",
    "I prefer to be called on Mondays after {n}. Is that possible?",
)


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail to be let in: what names it at its source, its Message-ID and author, its bytes, and the customer it is about."""

    key: str
    message_id: str
    sender: str
    raw: bytes
    about: str


def make_mails(seed: int, count: int, threads: int) -> list[Mail]:
    """`count` mails across `threads` threads: each thread's first mail, then follow-ups to its own earlier ones."""
    dice = random.Random(seed)
    threads = min(threads, count)
    turns = [*range(threads), *(dice.randrange(threads) for _ in range(count - threads))]
    earlier: dict[int, list[str]] = {thread: [] for thread in range(threads)}
    return [_mail(dice, seed, number, thread, earlier[thread]) for number, thread in enumerate(turns)]


def offered(mails: Sequence[Mail]) -> list[Offered]:
    """What the oracle is told of them."""
    return [Offered(mail.message_id, mail.sender) for mail in mails]


async def deliver(app: App, mails: Sequence[Mail]) -> None:
    """Let the mails in, one after the other, as a vouched import of live mail does."""
    for mail in mails:
        await accept(app, app.settings.inboxes[0], mail.raw, source="file", source_key=mail.key)


def _mail(dice: random.Random, seed: int, number: int, thread: int, earlier: list[str]) -> Mail:
    message_id = f"s{seed}.m{number}@customer{thread}.example"
    name, sender = f"Pat{thread} Customer", f"pat{thread}@customer{thread}.example"
    text = dice.choice(QUESTIONS).format(n=dice.randrange(10, 90))
    raw = letter(
        f"Hello,\n\n{text}\nThis is my mail number {number}.\n\n{name}",
        sender=f"{name} <{sender}>",
        subject=f"Question of customer {thread}",
        message_id=f"<{message_id}>",
        in_reply_to=f"<{dice.choice(earlier)}>" if earlier else "",
        date=BEGIN + timedelta(minutes=number),
    )
    earlier.append(message_id)
    return Mail(f"{seed}-{number}", message_id, sender, raw, about=sender)
