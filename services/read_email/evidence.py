"""Finds what the filters need to know, and asks them; tells which mail of ours a report is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from schemas.events.mail import DeliveryReport, MailReceived, Verdict
from services.core.app import App
from services.core.bus.unit import Unit
from services.core.db import rows_as
from services.core.mailbox import MailboxKey, is_alert_id
from services.mail.filters import FilterContext, Limits, judge
from services.mail.report_tokens import is_report_token
from services.mail.reports import Report, is_daemon
from services.mail.reports.automatic.judgement import too_soon, unread
from services.mail.sender import sender_of
from services.mail.thread_ids import is_reply
from services.mail.tokens import SigningKeys
from services.mail.unsubscribe import token_of_subject, unsubscribed_by
from services.read_email.apply import SQL
from services.read_email.contents import Reading
from services.read_email.forwarders import METHOD

WINDOW, DAY = timedelta(hours=1), timedelta(days=1)
REMEMBERED = timedelta(days=90)  # for how long a text is known as one that came before


@dataclass(frozen=True, slots=True)
class OurReply:
    """A reply of ours that is named by its Message-ID: whom it went to, and who got copies."""

    reply_id: UUID
    thread_id: UUID
    recipient: str | None
    cc: list[str]


async def our_replies(unit: Unit, ids: Sequence[str]) -> list[OurReply]:
    """The replies of ours that have these Message-IDs."""
    args = {"workspace": unit.workspace, "ids": list(ids)}
    return await rows_as(unit.conn, OurReply, SQL.our_replies, args)


async def named_reply(unit: Unit, report: Report | None) -> OurReply | None:
    """The reply of ours whose Message-ID a report gives, which anybody may know."""
    if report is None or not report.original_message_id:
        return None
    return next(iter(await our_replies(unit, [report.original_message_id])), None)


async def find_verdict(
    unit: Unit,
    app: App,
    event: MailReceived,
    reading: Reading,
    thread_id: UUID,
    named: OurReply | None,
    about: OurReply | None,
    inbox: str,
    closed: str = "",
) -> Verdict:
    """What becomes of the mail at its inbox, and why.

    `named` is the reply of ours whose Message-ID it reports about, `about` the same where the report is proven.
    `closed` is an attachment of it that only a person can open.
    """
    key = {
        "workspace": unit.workspace,
        "message_id": reading.message_id,
        "content_sha256": reading.content_sha256,
        "blob": event.blob,
        "mail_id": event.mail_id,
        "author": reading.mail.author.key if reading.mail.author else "",
        "trusted": reading.identity.trusted,
        "failed": reading.identity.level == "failed",
        "signatures": list(reading.identity.signatures),
    }
    double = await unit.one(SQL.same_mail, **key)
    ctx = FilterContext(
        own_addresses=app.settings.own_addresses,
        envelope_from=envelope_sender(event, reading),
        identity=reading.identity.level,
        report=reading.report,
        report_names_ours=named is not None,
        report_proven=about is not None,
        message_id_is_ours=bool(await our_replies(unit, [reading.message_id])),
        alert=_alert(reading),
        unsubscribes=_unsubscribes(app, reading),
        encrypted_attachment=closed,
        duplicate_of=f"{double['mail_id']} at {double['inbox']}" if double else "",
        limits=_limits(app, inbox, proven=reading.identity.trusted, forwarded=reading.identity.method == METHOD),
        unproven_for_person=_unproven(app, inbox) == "human" and reading.identity.method != METHOD,
    )
    if event.mode == "live":
        ctx = await _with_counts(unit, ctx, reading, thread_id, inbox)
        ctx = await _with_habits(unit, ctx, event, reading)
    found = judge(reading.mail, ctx)
    return Verdict(kind=found.kind, reason=found.reason, filter=found.filter)


def _unsubscribes(app: App, reading: Reading) -> bool:
    """Whether its subject gives the token of a mail back that we began."""
    token = token_of_subject(reading.mail.subject)
    return bool(token) and unsubscribed_by(app.signing_keys, app.settings.workspace, token) is not None


def _alert(reading: Reading) -> Literal["", "answered", "returned"]:
    """What the mail has to do with an alert of ours. Of an answer the mail that it answers counts, none before that."""
    if reading.report is not None:
        return "returned" if is_alert_id(reading.report.original_message_id) else ""
    return "answered" if any(is_alert_id(one) for one in reading.mail.in_reply_to) else ""


async def _with_counts(unit: Unit, ctx: FilterContext, reading: Reading, thread_id: UUID, inbox: str) -> FilterContext:
    """What came, and what we answered, of senders who are believed as far as this one."""
    proven = reading.identity.trusted
    if not proven:
        await unit.conn.execute(SQL.lock_unproven, {"workspace": unit.workspace})
    author = reading.mail.author.key if reading.mail.author else ""
    sender, mailbox = sender_of(author), MailboxKey(author).undetailed
    local, at, domain = mailbox.rpartition("@")
    [counts], [replies], [to_them] = await unit.several(
        (SQL.counts, SQL.automatic_replies, SQL.replies_to),
        author=author,
        mailbox=mailbox,
        before_plus=f"{local}+",
        at_domain=f"{at}{domain}",
        company="" if "@" in sender else sender,
        thread_id=thread_id,
        content_sha256=reading.content_sha256,
        trusted=proven,
        inbox=inbox,
        an_hour_ago=unit.now - WINDOW,
        a_day_ago=unit.now - DAY,
        now=unit.now,
    )
    return replace(ctx, **counts, automatic_replies=replies["n"], replies_in_a_day=to_them["n"])


async def _with_habits(unit: Unit, ctx: FilterContext, event: MailReceived, reading: Reading) -> FilterContext:
    """What a robot cannot hide: it answers us at once, and says the same as before."""
    answered = list(dict.fromkeys((*reading.mail.in_reply_to, *reading.mail.references)))
    if not reading.text.strip() or reading.mail.author is None:
        return ctx
    if not answered:
        return await _with_nameless(unit, ctx, reading, reading.mail.author.key)
    left = await unit.one(SQL.left_at, workspace=unit.workspace, ids=answered)
    same = await unit.one(
        SQL.same_text,
        workspace=unit.workspace,
        author=reading.mail.author.key,
        mail_id=event.mail_id,
        text=reading.text,
        since=unit.now - REMEMBERED,
        now=unit.now,
    )
    departed = left["at"] if left else None
    if departed is None:  # it answers nothing of ours: people send their own mail again
        return ctx
    moments = (departed, unit.now, reading.mail.date)
    at_once, before_reading = too_soon(reading.text, *moments), _unread(reading, departed, unit)
    return replace(ctx, unread=before_reading, within_seconds=at_once, seen_before=same is not None)


async def _with_nameless(unit: Unit, ctx: FilterContext, reading: Reading, author: str) -> FilterContext:
    """Responders that name no mail: a reply by its subject is one to our newest mail, if that has just left."""
    if not is_reply(reading.mail.subject):
        return ctx
    left = await unit.one(SQL.left_for, workspace=unit.workspace, author=author, since=unit.now - DAY, now=unit.now)
    departed = left["at"] if left else None
    return ctx if departed is None else replace(ctx, unread=_unread(reading, departed, unit))


def _unread(reading: Reading, departed: datetime, unit: Unit) -> bool:
    """Whether nobody can have read ours. Of whom an operator vouches for, the operator has said who wrote."""
    return reading.identity.level != "vouched" and unread(departed, unit.now, reading.mail.date)


def _limits(app: App, inbox: str, *, proven: bool, forwarded: bool) -> Limits:
    """Those of proven senders, or those of all others. Three threads may be full of automatic replies to one, in a day.

    Where who is not proven gets a fixed reply, they get it once: what they write then is for a person.
    """
    most, hourly = app.settings.threads.max_auto_replies, app.settings.limits
    fixed = not proven and not forwarded and _unproven(app, inbox) == "template"
    return Limits(
        per_sender=hourly.sender_per_hour if proven else hourly.unproven_sender_per_hour,
        per_thread=hourly.thread_per_hour,
        per_company=hourly.company_per_hour,
        everybody=hourly.all_per_hour if proven else hourly.unproven_per_hour,
        identical_bodies=hourly.same_words,
        replies_without_human=most,
        replies_a_day=hourly.unproven_replies_per_day if fixed else 3 * most,
    )


def _unproven(app: App, inbox: str) -> str:
    """What becomes of mail whose sender is not proven: the inbox's setting, the safe one for an inbox that is gone."""
    known = app.settings.known_inbox(inbox)
    return known.unproven if known else "human"


def delivery_report(report: Report | None, about: OurReply | None) -> DeliveryReport | None:
    """The report as the event carries it; the reply only where it really is one of ours.

    Of several recipients the one that we wrote to counts: another one's failure says nothing of ours.
    """
    if report is None or report.kind not in ("bounce", "complaint"):
        return None
    wrote_to = (about.recipient or "", *about.cc) if about else ()
    ours = next((fate for one in wrote_to if (fate := report.fate_of(one))), None)
    kind = "complaint" if report.kind == "complaint" else (ours and ours.severity) or report.severity or "other"
    return DeliveryReport.model_validate(
        {
            "kind": kind,
            "reply_id": about.reply_id if about else None,
            "recipients": report.named,
            "status": ours.status if ours else report.status,
            "diagnostic": (ours.diagnostic if ours else report.diagnostic)[:500],
        }
    )


def envelope_sender(event: MailReceived, reading: Reading) -> str | None:
    """MAIL FROM, or what the topmost Return-Path says of it; "" for the null path, None where nothing tells it.

    That of a contact form is its program's, often our own address or none, and says nothing of who filled it in.
    """
    if reading.identity.method == METHOD:
        return None
    if event.peer.ip:
        return event.peer.mail_from
    path = reading.mail.header("Return-Path").strip()
    return path.strip("<> ") if path else None


# What proves a bounce or complaint: that it is about a mail of ours, and no forgery that wants an address suppressed.
#
# Everybody who saw an answer to a mail of ours has its Message-ID, so that says which mail is meant and proves nothing.


def is_proven(reading: Reading, about: OurReply, signing_keys: SigningKeys, workspace: str) -> bool:
    """Whether the report gives the mail's token back, or a proven sender speaks for the address that it went to.

    A token that copies carried too proves nothing: each of those who got one could have another suppressed.
    """
    if reading.report is None:
        return False
    alone = not about.cc
    return (alone and is_report_token(signing_keys, reading.report.token, workspace, about.reply_id)) or _speaks_for(
        reading, MailboxKey(about.recipient or "")
    )


def _speaks_for(reading: Reading, recipient: MailboxKey) -> bool:
    """Whether the proven author is the recipient, or the mail system of exactly the recipient's domain.

    A colleague of the recipient is not, nor is a host below the domain: a customer of a provider may have either.
    """
    author = reading.mail.author
    if author is None or not reading.identity.trusted or not recipient:
        return False
    return author.key == recipient or (author.key.domain == recipient.domain and is_daemon(author.addr))
