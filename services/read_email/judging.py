"""Finds what the filters need to know, and asks them; tells which mail of ours a report is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Literal
from uuid import UUID

from schemas.events.mail import DeliveryReport, MailReceived, Verdict
from services.core.bus.unit import Row, Unit
from services.core.house import House
from services.core.mail.alert_ids import is_alert_id
from services.core.mail.filters import FilterContext, Limits, judge
from services.core.mail.reports import Report
from services.read_email.apply import SQL
from services.read_email.reading import Reading

WINDOW, DAY = timedelta(hours=1), timedelta(days=1)


async def reported_reply(unit: Unit, report: Report | None) -> Row | None:
    """The reply of ours that a report is about; a report about anything else is not believed."""
    if report is None or not report.original_message_id:
        return None
    rows = await unit.all(SQL.our_replies, workspace=unit.workspace, ids=[report.original_message_id])
    return rows[0] if rows else None


async def find_verdict(
    unit: Unit,
    house: House,
    event: MailReceived,
    reading: Reading,
    thread_id: UUID,
    about: Row | None,
    closed: str = "",
) -> Verdict:
    """What becomes of the mail, and why. `closed` is an attachment of it that only a person can open."""
    key = {
        "workspace": unit.workspace,
        "message_id": reading.message_id,
        "content_sha256": reading.content_sha256,
        "mail_id": event.mail_id,
    }
    double = await unit.one(SQL.same_mail, **key)
    ctx = FilterContext(
        own_addresses=house.settings.own_addresses,
        envelope_from=_envelope_from(event, reading),
        identity=reading.identity.level,
        report=reading.report,
        report_names_ours=about is not None,
        message_id_is_ours=bool(await unit.all(SQL.our_replies, workspace=unit.workspace, ids=[reading.message_id])),
        alert=_alert(reading),
        encrypted_attachment=closed,
        duplicate_of=f"{double['mail_id']} at {double['inbox']}" if double else "",
        limits=_limits(house),
    )
    if event.mode == "live":
        ctx = await _with_counts(unit, ctx, reading, thread_id)
    found = judge(reading.mail, ctx)
    return Verdict(kind=found.kind, reason=found.reason, filter=found.filter)


def _alert(reading: Reading) -> Literal["", "answered", "returned"]:
    """What the mail has to do with an alert of ours. Of an answer the mail that it answers counts, none before that."""
    if reading.report is not None:
        return "returned" if is_alert_id(reading.report.original_message_id) else ""
    return "answered" if any(is_alert_id(one) for one in reading.mail.in_reply_to) else ""


async def _with_counts(unit: Unit, ctx: FilterContext, reading: Reading, thread_id: UUID) -> FilterContext:
    author = reading.mail.author.key if reading.mail.author else ""
    counts = await unit.one(
        SQL.counts,
        workspace=unit.workspace,
        author=author,
        thread_id=thread_id,
        content_sha256=reading.content_sha256,
        since=unit.now - WINDOW,
        now=unit.now,
    )
    replies = await unit.one(SQL.automatic_replies, thread_id=thread_id)
    to_them = await unit.one(SQL.replies_to, workspace=unit.workspace, addr=author, since=unit.now - DAY)
    assert counts is not None
    assert replies is not None
    assert to_them is not None
    return replace(ctx, **counts, automatic_replies=replies["n"], replies_in_a_day=to_them["n"])


def _limits(house: House) -> Limits:
    """A sender may have three threads full of automatic replies within a day."""
    most, hourly = house.settings.threads.max_auto_replies, house.settings.limits
    return Limits(
        per_sender=hourly.sender_per_hour,
        per_thread=hourly.thread_per_hour,
        everybody=hourly.all_per_hour,
        identical_bodies=hourly.same_words,
        replies_without_human=most,
        replies_a_day=3 * most,
    )


def delivery_report(report: Report | None, about: Row | None) -> DeliveryReport | None:
    """The report as the event carries it; the reply only where it really is one of ours."""
    if report is None or report.kind not in ("bounce", "complaint"):
        return None
    kind = "complaint" if report.kind == "complaint" else report.severity or "other"
    return DeliveryReport.model_validate(
        {
            "kind": kind,
            "reply_id": about["reply_id"] if about else None,
            "recipients": report.addresses,
            "status": report.status,
            "diagnostic": report.diagnostic[:500],
        }
    )


def _envelope_from(event: MailReceived, reading: Reading) -> str | None:
    if event.peer.ip:
        return event.peer.mail_from
    path = reading.mail.header("Return-Path").strip()
    return path.strip("<> ") if path else None
