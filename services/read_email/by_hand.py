"""A colleague's own mails, and the thread that they answer: it is closed to the agent.

They are known by lying in the inbox's Sent folder, by an outbound webhook, or by being a copy (Bcc, Cc) that a proven
colleague sent us of what they wrote to the customer. What a program sent in their name, or ours, is none of them.

Two folders are read at their own pace, so a colleague's mail may come before the customer's that it answers. It is
parked then, and read again, from its own event, when a mail comes that it names. Whichever was read first, the end
is the same; both are read under the lock on the customer's Message-ID.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from fnmatch import fnmatchcase

from schemas.events.mail import EmailRead, Verdict
from services.core.bus.event_row import EventRow
from services.core.bus.unit import Unit
from services.core.mailbox import MailboxKey, ascii_lower, is_alert_id
from services.core.settings import InboxSettings
from services.mail.filters.objections import is_machine
from services.mail.reports.auto_reply import auto_submitted, responder_header
from services.mail.thread_ids import MailFacts
from services.mail.tokens import token_of_message_id, without_token
from services.read_email.apply import SQL
from services.read_email.contents import Reading
from services.read_email.placement import find_answered

FILTER = "sent_folder"
PARKED = Verdict(kind="park", reason="a colleague wrote it, and it answers no thread that is known", filter=FILTER)
BY_ITSELF = Verdict(kind="park", reason="a program sent it in our name", filter="sent_by_machine")
WROTE = Verdict(kind="colleague", reason="a colleague wrote it: it lay in our Sent folder", filter=FILTER)
COPIED = Verdict(kind="colleague", reason="a colleague wrote it, and sent us a copy", filter=FILTER)


def of_ours(
    reading: Reading, inbox: InboxSettings | None, own: Collection[MailboxKey], envelope_from: str | None
) -> bool:
    """Whether a proven colleague wrote it: from one of our inboxes, or from an address that the inbox names.

    What comes back from ourselves (a reply, an alert) and what a program sent for them is for the filters.
    """
    author = reading.mail.author
    if author is None or inbox is None or not reading.identity.trusted:
        return False
    if token_of_message_id(reading.message_id) or sent_by_machine(reading, own, envelope_from):
        return False
    return author.key in own or any(fnmatchcase(author.key, ascii_lower(one)) for one in inbox.colleagues)


def is_blind_copy(reading: Reading, own: Collection[str]) -> bool:
    """Whether none of our inboxes is addressed: it reached us as a copy alone."""
    mail = reading.mail
    addressed = {MailboxKey(without_token(one.addr)) for one in (*mail.to, *mail.cc)}
    return bool(addressed) and addressed.isdisjoint(own)


async def of_sent(unit: Unit, mail: MailFacts, read: EmailRead, reading: Reading) -> EmailRead:
    """What lay in our Sent folder, as it joins the thread that it answers; parked where no colleague wrote it."""
    if answered_by_itself(reading):
        return _bare(read, BY_ITSELF)
    return await of_colleague(unit, mail, read)


async def of_copy(unit: Unit, mail: MailFacts, read: EmailRead, *, blind: bool) -> EmailRead | None:
    """A colleague's copy as it joins the thread that it answers; parked where it answers none and is a copy for sure.

    None where it is addressed to us and answers no customer: then it is a mail like any other.
    """
    found = await of_colleague(unit, replace(mail, participants=mail.participants - {mail.author}), read)
    if found.verdict.kind == "colleague":
        return found.model_copy(update={"verdict": COPIED})
    return found if blind else None


async def of_colleague(unit: Unit, mail: MailFacts, read: EmailRead) -> EmailRead:
    """The mail as it joins the thread that it answers, else parked. No filter is asked."""
    thread = await find_answered(unit, mail)
    bare = _bare(read, PARKED)
    if thread is None:
        return bare
    found = {"thread_id": thread.thread_id, "participant_id": thread.participant_id}
    return bare.model_copy(update={"verdict": WROTE, **found})


def _bare(read: EmailRead, verdict: Verdict) -> EmailRead:
    return read.model_copy(update={"verdict": verdict, "report": None, "linked_from": None, "awaits": ()})


async def answered_before(unit: Unit, mail: EmailRead) -> list[EmailRead]:
    """The colleagues' mails, read before, that name this one, each as it is read now that this one is here."""
    if mail.verdict.kind not in ("answer", "human"):
        return []
    args = {"workspace": unit.workspace, "answered": [mail.message_id]}
    earlier = [row.envelope().data for row in await unit.rows_as(EventRow.of, SQL.read_by_hand, **args)]
    again = [await of_colleague(unit, _facts(unit, one), one) for one in earlier if isinstance(one, EmailRead)]
    return [one for one in again if one.verdict.kind == "colleague"]


def _facts(unit: Unit, mail: EmailRead) -> MailFacts:
    return MailFacts(
        workspace=unit.workspace,
        inbox=mail.inbox,
        space=mail.space,
        message_id=mail.message_id,
        author=MailboxKey(mail.author.addr if mail.author else ""),
        received=unit.now,
        references=mail.references,
        in_reply_to=mail.in_reply_to,
        participants=frozenset(mail.participants),
    )


# What of our own side no colleague wrote: alerts, reports, and what programs send in a colleague's name.
#
# Told by headers and by the form of a report alone, never by words: what reads like an automatic reply may be typed.


def answered_by_itself(reading: Reading) -> bool:
    """Whether a program reported or replied, or it is an alert of ours: nobody has dealt with what it names."""
    reported = reading.report is not None and reading.report.kind != "auto_reply"
    replied = auto_submitted(reading.mail) == "auto-replied" or bool(responder_header(reading.mail))
    return reported or replied or is_alert_id(reading.message_id)


def sent_by_machine(reading: Reading, own: Collection[MailboxKey], envelope_from: str | None) -> bool:
    """Whether a copy shows that a program made it: also what was generated, has a null path, or is nobody's address."""
    mail = reading.mail
    senders = [one for one in (*mail.from_, *mail.sender) if one.key not in own]
    return (
        answered_by_itself(reading)
        or bool(auto_submitted(mail))
        or envelope_from == ""
        or any(is_machine(one.addr) for one in senders)
    )
