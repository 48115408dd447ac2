"""Finds what the pure decision of `thread_ids.place` needs to know, and asks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from schemas.events.mail import MailReceived
from services.core.app import App
from services.core.bus.unit import Unit
from services.core.ids import participant_id
from services.core.mailbox import MailboxKey
from services.core.settings import Settings
from services.mail.message import ParsedMail
from services.mail.thread_ids import KnownThread, MailFacts, Placement, place, wanted_ids, wanted_threads
from services.mail.tokens import check_token, token_of_address, token_of_message_id, without_token
from services.read_email.apply import SQL
from services.read_email.contents import Reading

MOST_LISTED = 200  # mailboxes of From, To and Cc each that are taken for people of the thread


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """What the tables hold of a thread; `trusted` and `identity` are of its first mail."""

    thread_id: UUID
    participant_id: UUID | None
    space: str
    author_addr: str
    subject: str
    trusted: bool
    identity: str
    closed_at: datetime | None
    message_ids: list[str]
    awaited: list[str]
    our_ids: list[str]
    participants: list[str]
    verified: list[str]

    @property
    def known(self) -> KnownThread:
        """The thread as the decision knows it."""
        return KnownThread(
            thread_id=self.thread_id,
            author=MailboxKey(self.author_addr),
            message_ids=frozenset(self.message_ids),
            our_ids=frozenset(self.our_ids),
            awaited=frozenset(self.awaited) - frozenset(self.message_ids),
            participants=frozenset(self.participants),
            verified=frozenset(self.verified),
            subject=self.subject,
            closed_at=self.closed_at,
            proof="proven" if self.trusted else "failed" if self.identity == "failed" else "unproven",
            participant_id=self.participant_id,
            space=self.space,
        )


def facts(reading: Reading, event: MailReceived, unit: Unit, app: App) -> MailFacts:
    """What placing needs of the mail itself, the thread of a valid reply token included.

    What a signature alone proves names no mails but those that it covers. The token is written into every mail of ours,
    which is passed on and quoted: it names a thread and proves nobody.
    """
    mail, unsigned = reading.mail, reading.identity.unsigned
    author = mail.author.key if mail.author else MailboxKey("")
    listed = (*mail.from_[:MOST_LISTED], *mail.to[:MOST_LISTED], *mail.cc[:MOST_LISTED])
    people = {one.key for one in listed} - app.settings.own_addresses
    tokens = [token_of_message_id(one) for one in (*mail.in_reply_to, *reversed(mail.references))]
    tokens += [token_of_address(one.addr) for one in (*mail.to, *mail.cc)]
    threads = (check_token(app.signing_keys, token, unit.workspace, [author]) for token in tokens if token)
    inbox = inbox_of(reading.mail, event, app.settings)
    return MailFacts(
        workspace=unit.workspace,
        inbox=inbox,
        space=app.settings.space_of(inbox),
        message_id=reading.message_id,
        author=author,
        received=unit.now,
        subject=mail.subject,
        references=() if "references" in unsigned else mail.references,
        in_reply_to=() if "in-reply-to" in unsigned else mail.in_reply_to,
        participants=frozenset(people),
        verified=reading.identity.trusted,
        failed=reading.identity.level == "failed",
        token_thread=next((one for one in threads if one), None),
    )


def inbox_of(mail: ParsedMail, event: MailReceived, settings: Settings) -> str:
    """The inbox that a mail belongs to: of ours, the one that it is addressed to first, else the one that it came to.

    So a mail that several inboxes get is the first one's, whichever of its copies is read first. What an operator
    vouches for stays where they did.
    """
    if event.from_sent or event.vouched_by:
        return event.inbox
    of_inbox = ((one.name, (one.address, *one.aliases)) for one in settings.inboxes if not one.paused)
    names = {MailboxKey(address): name for name, addresses in of_inbox for address in addresses}
    addressed = (names.get(MailboxKey(without_token(one.addr))) for one in (*mail.to, *mail.cc))
    return next((name for name in addressed if name), event.inbox)


async def find_place(unit: Unit, mail: MailFacts, reopen_days: float) -> Placement:
    """The mail's thread, decided under the lock on its Message-ID."""
    if mail.verified:
        who = participant_id(unit.workspace, MailboxKey(mail.author), mail.space)
        rows = await unit.all(SQL.other_addresses, workspace=unit.workspace, participant_id=who)
        mail = replace(mail, aliases=frozenset(MailboxKey(row["addr"]) for row in rows))
    return place(mail, await _known_threads(unit, mail), timedelta(days=reopen_days))


async def find_answered(unit: Unit, mail: MailFacts) -> KnownThread | None:
    """The thread of the same space that a colleague's mail answers, if it answers one."""
    return answered(mail, [one for one in await _known_threads(unit, mail) if one.space == mail.space])


def answered(mail: MailFacts, known: Sequence[KnownThread]) -> KnownThread | None:
    """The thread that holds the nearest id referred to, if one of its people is written to; a proven one first.

    So a customer's mail that is passed on to somebody else counts as no answer to the customer, and no forged mail that
    has the customer's Message-ID takes the answer away from them.
    """
    proven_first = sorted(known, key=lambda thread: (thread.proof != "proven", thread.proof))
    for message_id in mail.ancestors:
        for thread in proven_first:
            if message_id in thread.own_ids and mail.participants & (thread.participants | {thread.author}):
                return thread
    return None


async def _known_threads(unit: Unit, mail: MailFacts) -> list[KnownThread]:
    ids = list(wanted_ids(mail))
    naming = await unit.several((SQL.our_replies, SQL.threads_of_ids), ids=ids)
    threads = {*wanted_threads(mail), *(row["thread_id"] for of_query in naming for row in of_query)}
    rows = await unit.rows_as(ThreadRow, SQL.known_threads, threads=list(threads), ids=ids)
    return [row.known for row in rows]
