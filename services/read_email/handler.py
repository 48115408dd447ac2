"""From raw bytes to a mail that is understood, judged, and has its thread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from schemas.events.mail import FORWARDED, PASSED_ON, AttachmentRef, EmailRead, MailReceived, Person, Verdict
from schemas.events.retention import MailBodyExpired, MailRetentionDue
from services.core.bus.processor import Handlers
from services.core.bus.work import Work
from services.core.ids import participant_id
from services.core.keys import Erased
from services.mail.content_types import seal_of
from services.mail.message import Address
from services.mail.reply_text import is_only_a_head
from services.mail.thread_ids import MailFacts, Placement, wanted_ids
from services.read_email.apply import SQL
from services.read_email.attachments import encrypted, keep_attachments
from services.read_email.by_hand import PARKED, answered_before, is_blind_copy, of_copy, of_ours, of_sent
from services.read_email.contents import Reading, read
from services.read_email.evidence import (
    OurReply,
    delivery_report,
    envelope_sender,
    find_verdict,
    is_proven,
    named_reply,
)
from services.read_email.forwarders import METHOD
from services.read_email.placement import MOST_LISTED, facts, find_place
from services.read_email.spam import held_back, spam_verdict

LONGEST_NAME = 100  # characters of a display name in the event; the mail itself keeps all of it


async def on_mail_received(work: Work[MailReceived]) -> None:
    """Read it, then decide thread and verdict under the locks on its Message-ID and on those that it answers."""
    try:
        reading = await read(work)
        attachments = await keep_attachments(work, reading, read=_is_to_be_answered(work.event, reading))
    except Erased:  # its bytes went with somebody: nobody can read them any more
        if work.envelope.replay:  # a case that does not hold its mail
            raise
        return
    spam = await spam_verdict(work, reading.raw)
    async with work.unit() as unit:
        mail = facts(reading, work.event, unit, work.app)
        for message_id in sorted(wanted_ids(mail)):
            await unit.conn.execute(SQL.lock_message, {"workspace": unit.workspace, "message_id": message_id})
        for signature in sorted(reading.identity.signatures):
            await unit.conn.execute(SQL.lock_signature, {"workspace": unit.workspace, "signature": signature})
        placement = await find_place(unit, mail, work.app.settings.threads.reopen_days)
        if work.event.from_sent:
            read_so_far = _event(work, reading, mail, placement, PARKED, None, attachments)
            await unit.record(await of_sent(unit, mail, read_so_far, reading))
            return
        settings = work.app.settings
        inbox, envelope_from = settings.known_inbox(mail.inbox), envelope_sender(work.event, reading)
        if of_ours(reading, inbox, settings.own_addresses, envelope_from):
            read_so_far = _event(work, reading, mail, placement, PARKED, None, attachments)
            blind = is_blind_copy(reading, settings.own_addresses)
            if copied := await of_copy(unit, mail, read_so_far, blind=blind):
                await unit.record(copied)
                return
        named = await named_reply(unit, reading.report)
        about = named if named and is_proven(reading, named, work.app.signing_keys, unit.workspace) else None
        thread_id = about.thread_id if about else placement.thread_id
        closed = encrypted(attachments)
        verdict = await find_verdict(unit, work.app, work.event, reading, thread_id, named, about, mail.inbox, closed)
        if named and not about and not placement.linked_to:  # a person has to find what it says it is about
            placement = replace(placement, linked_to=named.thread_id)
        event = _event(work, reading, mail, placement, held_back(verdict, spam), about, attachments)
        await unit.record(event)
        for answer in await answered_before(unit, event):
            await unit.record(answer)


def _is_to_be_answered(event: MailReceived, reading: Reading) -> bool:
    """Whether it may come to an answer, so that somebody will want to know what is attached."""
    reported = reading.report is not None and not reading.report.doubtful
    return event.mode == "live" and not (event.from_sent or reported or reading.mail.parked)


def _event(
    work: Work[MailReceived],
    reading: Reading,
    facts: MailFacts,
    placement: Placement,
    verdict: Verdict,
    about: OurReply | None,
    attachments: tuple[AttachmentRef, ...],
) -> EmailRead:
    mail, event = reading.mail, work.event
    token_used = facts.token_thread is not None and facts.token_thread == placement.thread_id
    return EmailRead(
        mail_id=event.mail_id,
        thread_id=about.thread_id if about else placement.thread_id,
        participant_id=_author_id(work.workspace, mail.author, facts.space),
        inbox=event.inbox if verdict.kind == "duplicate" else facts.inbox,
        space=facts.space,
        mode=event.mode,
        blob=event.blob,
        message_id=reading.message_id,
        content_sha256=reading.content_sha256,
        in_reply_to=mail.in_reply_to,
        references=mail.references,
        subject=mail.subject[:500],
        author=_mailbox(mail.author) if mail.author else None,
        to=tuple(map(_mailbox, mail.to[:MOST_LISTED])),
        cc=tuple(map(_mailbox, mail.cc[:MOST_LISTED])),
        sent_at=mail.date,
        text=reading.text,
        quoted=reading.quoted,
        signature=reading.signature,
        language=mail.language,
        attachments=attachments,
        identity=reading.identity.model_copy(update={"reply_token": token_used}),
        verdict=verdict,
        participants=tuple(sorted(facts.participants)),
        awaits=placement.awaits,
        linked_from=placement.linked_to,
        flags=(*placement.flags, *_flags(reading)),
        report=delivery_report(reading.report, about),
    )


def _flags(reading: Reading) -> Iterator[str]:
    """What the mail's own bytes say that its readers should know."""
    if reading.mail.hidden_text:
        yield "hidden_text"
    if is_only_a_head(reading.mail.reply.quoted):
        yield PASSED_ON
    if seal := seal_of(reading.mail):
        yield seal
    if reading.identity.method == METHOD:
        yield FORWARDED


def _author_id(workspace: str, author: Address | None, space: str) -> UUID | None:
    return participant_id(workspace, author.key, space) if author else None


def _mailbox(address: Address) -> Person:
    return Person(name=address.name[:LONGEST_NAME], addr=address.addr)


# Lets go of the texts of old mails, where the settings keep bodies for a time only.
async def on_due(work: Work[MailRetentionDue]) -> None:
    """Each mail that is old enough and that nobody needs right now loses its text."""
    days = work.app.settings.retention.bodies_days
    if not days:
        return
    async with work.unit() as unit:
        mail_ids = sorted(work.event.mail_ids)
        for mail_id in mail_ids:
            await unit.lock("mail", mail_id)
        before = unit.now - timedelta(days=days)
        for row in await unit.all(SQL.due_mails, mail_ids=mail_ids, before=before):
            await unit.record(MailBodyExpired(**row))


HANDLERS: Handlers = {MailReceived: on_mail_received, MailRetentionDue: on_due}
