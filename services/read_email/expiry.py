"""Lets go of the texts of old mails, where the settings keep bodies for a time only."""

from __future__ import annotations

from datetime import timedelta

from schemas.events.retention import MailBodyExpired, MailRetentionDue
from services.core.bus.work import Work
from services.read_email.apply import SQL


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
