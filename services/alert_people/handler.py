"""A request for a person raises alerts; a channel's timer sends them.

Invariants
- A call is one alert in each channel that wants it, and an alert is in one digest.
- A digest is grouped before it is sent, so that a crash repeats it under the same id, and what a receiver has under an
  id already is known to it. Between people and a doubled alert, an alert that nobody saw is the worse.
- Nothing that goes wrong at a target is an error of the handler: it is recorded, and tried again by the timer.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

import structlog

from schemas.events.alerts import AlertRaised, AlertsDeferred, AlertsFailed, AlertsGrouped, AlertsSent, PersonCalled
from schemas.events.base import EventData
from schemas.events.threads import TimerElapsed
from services.alert_people.apply import SQL
from services.alert_people.attempts import Digest, WebhookGone, due, sender_of, tell
from services.alert_people.channels import Channel, called, called_by_name, channel_of, channel_of_user
from services.alert_people.digest import Call, Told, by_thread
from services.core.bus.processor import Handlers
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.db import Connection, fetch_all, fetch_one
from services.core.keys import is_sealed
from services.core.mailbox import alert_message_id
from services.core.retries import SENDING_HOLD, next_delivery
from services.mail.compose import ComposeRefused
from services.mail.smtp_dialogue import SmtpRefused

log = structlog.get_logger(__name__)

KIND = "alert_channel"
MOST = 500  # alerts in one digest


async def on_called(work: Work[PersonCalled]) -> None:
    """One alert in each channel that wants it. A call of days ago is history, and nobody is alerted."""
    settings = work.app.settings
    if work.app.now() - work.now > timedelta(days=settings.alerts.retry_days):
        return
    named: tuple[Channel, ...] = ()
    if work.event.person:
        async with work.reading() as conn:
            named = await called_by_name(conn, settings, work.event)
    wanted = sorted((*called(settings, work.event), *named), key=lambda one: one.id)
    if not wanted:
        return
    async with work.unit() as unit:
        for channel in wanted:
            await unit.lock(KIND, channel.id)
            alert = {"alert_id": uuid5(channel.id, str(work.envelope.id)), "call_id": work.envelope.id}
            told = {"thread_id": work.event.thread_id, "kind": work.event.kind}
            await unit.record(AlertRaised(channel_id=channel.id, **alert, **told))
            await _set_timer(work, unit, channel)


async def on_timer(work: Work[TimerElapsed]) -> None:
    """Send the channel what waits, or try again what it did not accept."""
    if work.event.purpose != "alert":
        return
    channel = channel_of(work.app.settings, work.event)
    if channel is None:
        async with work.reading() as conn:
            channel = await channel_of_user(conn, work.app.settings, work.event)
    if channel is None:
        return
    async with work.app.locks.hold(channel.id):
        digest = await _digest(work, channel)
        result = await _attempt(work, channel, digest) if digest else None
        async with work.unit("result") as unit:
            await unit.lock(KIND, channel.id)
            if result is not None:
                await unit.record(result)
            await _set_timer(work, unit, channel)


async def _digest(work: Work[Any], channel: Channel) -> Digest | None:
    """The digest to be sent now: the one that is being tried, else a new one of what waits; None where none is due."""
    async with work.unit("group", final=False) as unit:
        await unit.lock(KIND, channel.id)
        newest, now = await _newest(unit.conn, channel), work.app.now()
        at = due(await _waiting_since(unit.conn, channel), newest, work.app.settings.alerts)
        if at is None or at > max(now, work.now):  # the clock of the process that set the timer may be ahead of ours
            return None
        if newest is not None and newest.state == "grouped":
            return newest
        rows = await unit.all(SQL.waiting, channel_id=channel.id, most=MOST)
        digest_id = unit.id_for("digest")
        domain = sender_of(work.app.settings).rpartition("@")[2] if channel.target.mail else ""
        grouped = AlertsGrouped(
            channel_id=channel.id,
            digest_id=digest_id,
            alert_ids=tuple(row["alert_id"] for row in rows),
            message_id=alert_message_id(digest_id, domain) if domain else "",
            grouped_at=now,
        )
        await unit.record(grouped)
        return Digest(digest_id, "grouped", 0, grouped.message_id, now, now, None)


async def _attempt(work: Work[Any], channel: Channel, digest: Digest) -> EventData:
    """What came of one attempt, as an event."""
    attempt = digest.attempt + 1
    ids = {"channel_id": channel.id, "digest_id": digest.digest_id}
    async with work.reading() as conn:
        hold = await fetch_one(conn, SQL.sending_hold, {"workspace": work.workspace})
        threads = await _threads(conn, digest.digest_id, work.app.settings.thread_link)
    if hold is not None:
        at = work.app.now() + SENDING_HOLD
        return AlertsDeferred(**ids, attempt=digest.attempt, error=hold["reason"], retry_at=at)
    try:
        said = await tell(work.app, channel, digest, threads) if threads else "nothing of it can be read any more"
    except (SmtpRefused, WebhookGone, ComposeRefused) as error:
        return _failed(work, ids, attempt, f"{error}")
    except Exception as error:
        log.warning("an alert could not be told", channel=channel.label, attempt=attempt, error=repr(error)[:500])
        days = work.app.settings.alerts.retry_days
        retry_at = next_delivery(work.app.now(), attempt, digest.grouped_at, days)
        if retry_at is None:
            return _failed(work, ids, attempt, f"given up after {days:g} days: {error}")
        return AlertsDeferred(**ids, attempt=attempt, error=_words(error), retry_at=retry_at)
    return AlertsSent(**ids, attempt=attempt, response=said[:500], sent_at=work.app.now())


def _failed(work: Work[Any], ids: dict[str, UUID], attempt: int, error: str) -> AlertsFailed:
    return AlertsFailed(**ids, attempt=attempt, error=error[:500], failed_at=work.app.now())


def _words(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:500]


async def _threads(conn: Connection, digest_id: UUID, link: str) -> tuple[Told, ...]:
    rows = await fetch_all(conn, SQL.calls_of, {"digest_id": digest_id})
    return by_thread((_call(row) for row in rows if not is_sealed(row["data"])), link)


def _call(row: dict[str, Any]) -> Call:
    call = PersonCalled.model_validate(row["data"])
    return Call(
        call_id=row["id"],
        kind=call.kind,
        thread_id=call.thread_id,
        inbox=call.inbox,
        subject=row["subject"],
        reason=call.reason,
        at=row["time"],
        mail_id=call.mail_id,
        reply_id=call.reply_id,
    )


async def _set_timer(work: Work[Any], unit: Unit, channel: Channel) -> None:
    """Set the channel's timer to its next alert."""
    newest, since = await _newest(unit.conn, channel), await _waiting_since(unit.conn, channel)
    at = due(since, newest, work.app.settings.alerts)
    if at is not None:
        timer = {"timer_id": channel.timer_id, "thread_id": channel.id, "subject": channel.id}
        await unit.set_timer(TimerElapsed(**timer, purpose="alert", due_at=at))


async def _newest(conn: Connection, channel: Channel) -> Digest | None:
    row = await fetch_one(conn, SQL.newest_digest, {"channel_id": channel.id})
    return Digest(**row) if row else None


async def _waiting_since(conn: Connection, channel: Channel) -> Any:
    row = await fetch_one(conn, SQL.waiting_since, {"channel_id": channel.id})
    return row["at"] if row else None


HANDLERS: Handlers = {PersonCalled: on_called, TimerElapsed: on_timer}
