"""An event that there is a public type for is queued for each endpoint that wants it; the endpoint's timer sends.

Invariants
- An event is one webhook of an endpoint, under an id made of both, which every attempt carries: a receiver that knows
  the id has it already. It is queued before it is sent, so a crash repeats it, and nothing is forgotten.
- An endpoint is called by one process at a time, and what hangs there holds up no other endpoint: each has a timer,
  which is its lane. One that refuses is called once at a time.
- The body is made of the stored event when it leaves. What can no longer be read is not told.
- Nothing that goes wrong at an endpoint is an error of the handler: it is recorded, and tried again by the timer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

import structlog

from schemas.events.mail import EmailRead
from schemas.events.threads import TimerElapsed
from schemas.events.webhooks import WebhookQueued, WebhookRequested, WebhookRequeued
from schemas.webhook_payloads import TEST
from services.core.app import App
from services.core.bus import event_store
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow
from services.core.bus.processor import Handlers
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.clock import monotonic
from services.core.db import Connection, fetch_one, row_as, rows_as
from services.core.retries import SENDING_HOLD
from services.core.signed_post import Limits, NotPosted, post_signed
from services.core.webhook_answers import keep_answer
from services.send_webhooks.apply import SQL
from services.send_webhooks.decide import UNREADABLE, Outcome, Webhook, events_of
from services.send_webhooks.endpoints import Endpoint, SecretLost, endpoint_of, endpoints_for, secrets_of
from services.send_webhooks.payloads import SOURCES, body_of, kind_of, thread_of

log = structlog.get_logger(__name__)

KIND = "webhook_endpoint"
AGENT = "correspondent (webhooks)"
MOST = 32  # webhooks of an endpoint that one timer sends
AT_ONCE = 8  # threads whose webhooks are on their way to an endpoint at the same time
SENDING_S = 25.0  # after which a timer begins no further attempt, of 30 s at most: a handler has 70


async def on_event(work: Work[Any]) -> None:
    """Queue it for each endpoint that wants its type. An event of days ago is history, and so is imported mail."""
    kind = kind_of(work.event)
    if kind is None or work.app.now() - work.now > timedelta(days=work.app.settings.outgoing_webhooks.retry_days):
        return
    async with work.reading() as conn:
        wanted = [one for one in await endpoints_for(conn, work.workspace, kind) if one.enabled_at <= work.now]
        if not wanted or await _is_imported(conn, work):
            return
    async with work.unit() as unit:
        for endpoint in wanted:
            await _queue(work, unit, endpoint.endpoint_id, kind, uuid5(endpoint.endpoint_id, str(work.envelope.id)))
            await _set_timer(unit, endpoint)


async def on_requested(work: Work[WebhookRequested]) -> None:
    """Queue a test, queue something again, or look at what waits for an endpoint that is enabled again."""
    asked = work.event
    async with work.unit() as unit:
        await unit.lock(KIND, asked.endpoint_id)
        endpoint = await unit.row_as(Endpoint, SQL.endpoint, **_named(work, asked.endpoint_id))
        if endpoint is None:
            return
        if asked.op == "test":
            await _queue(work, unit, endpoint.endpoint_id, TEST, unit.id_for("test"))
        elif asked.op == "again" and asked.webhook_id is not None and endpoint.is_told:
            args = {"webhook_id": asked.webhook_id, "endpoint_id": endpoint.endpoint_id}
            known = await unit.one(SQL.delivery, **args)
            if known is not None and known["state"] != "waiting":
                await unit.record(WebhookRequeued(**args, by=asked.by, queued_at=work.moment()))
        await _set_timer(unit, endpoint)


async def on_timer(work: Work[TimerElapsed]) -> None:
    """Send the endpoint what is due, and set its timer to what is due next."""
    if work.event.purpose != "webhook":
        return
    id = work.event.thread_id
    async with work.app.locks.hold(id):
        async with work.reading() as conn:
            endpoint = await endpoint_of(conn, work.workspace, id)
            held = await fetch_one(conn, SQL.sending_hold, {"workspace": work.workspace}) is not None
            due = await _due(conn, work, endpoint) if endpoint and not held else []
        if endpoint is not None:
            await _send_all(work, endpoint, due)
        async with work.unit("next") as unit:
            await unit.lock(KIND, id)
            current = await unit.row_as(Endpoint, SQL.endpoint, **_named(work, id))
            if current is not None:
                await _set_timer(unit, current, work.moment() + SENDING_HOLD if held else None)


async def _queue(work: Work[Any], unit: Unit, endpoint_id: UUID, kind: str, webhook_id: UUID) -> None:
    ids = {"endpoint_id": endpoint_id, "webhook_id": webhook_id, "event_id": work.envelope.id}
    queued = WebhookQueued(**ids, kind=kind, thread_id=thread_of(work.event), queued_at=work.moment())
    await unit.record(queued)


async def _is_imported(conn: Connection, work: Work[Any]) -> bool:
    """Whether it follows from mail that was imported as history."""
    cause = work.envelope.causation_id
    row = await row_as(conn, EventRow.of, event_store.SQL.by_id, {"id": cause}) if cause else None
    if row is None or row.type != EmailRead.TYPE or row.is_sealed:
        return False
    return bool(row.data.get("mode") == "history")


async def _due(conn: Connection, work: Work[Any], endpoint: Endpoint) -> list[Webhook]:
    most = MOST if endpoint.failing_since is None else 1
    # The clock of the process that set the timer may be ahead of ours.
    args = {**_named(work, endpoint.endpoint_id), "now": work.moment(), "told": endpoint.is_told, "most": most}
    return await rows_as(conn, Webhook, SQL.due, args)


async def _send_all(work: Work[Any], endpoint: Endpoint, due: Sequence[Webhook]) -> None:
    """One webhook of a thread after another, several threads at a time, within the time of a handler.

    After a refusal no further one is begun: the rest is due still, and tried one at a time.
    """
    until, slots, refused = monotonic() + SENDING_S, asyncio.Semaphore(AT_ONCE), asyncio.Event()

    async def in_order(webhooks: Sequence[Webhook]) -> None:
        async with slots:
            for one in webhooks:
                if refused.is_set() or monotonic() > until:
                    return
                if not await _send(work, endpoint, one):
                    refused.set()

    by_thread: dict[UUID, list[Webhook]] = {}
    for one in due:
        by_thread.setdefault(one.thread_id or one.webhook_id, []).append(one)
    async with asyncio.TaskGroup() as group:
        for some in by_thread.values():
            group.create_task(in_order(some))


async def _send(work: Work[Any], endpoint: Endpoint, webhook: Webhook) -> bool:
    """One attempt, and what came of it, stored; whether the endpoint did not refuse."""
    outcome = await attempt(work.app, work.workspace, endpoint, webhook)
    async with work.unit(f"{webhook.webhook_id}/{webhook.attempt}", final=False) as unit:
        await unit.lock(KIND, endpoint.endpoint_id)
        current = await unit.row_as(Endpoint, SQL.endpoint, **_named(work, endpoint.endpoint_id))
        now = work.moment()
        for event in events_of(webhook, current, outcome, now, work.app.settings.outgoing_webhooks):
            await unit.record(event)
        if outcome.asked:
            await _keep_answer(unit, webhook, outcome, now)
    return not outcome.is_refused


async def _keep_answer(unit: Unit, webhook: Webhook, outcome: Outcome, now: datetime) -> None:
    said = outcome.answer.excerpt if outcome.answer else ""
    ids: dict[str, Any] = {"webhook_id": webhook.webhook_id, "endpoint_id": webhook.endpoint_id}
    await keep_answer(unit.conn, unit.workspace, **ids, thread_id=webhook.thread_id, answer=said, at=now)


async def _set_timer(unit: Unit, endpoint: Endpoint, not_before: datetime | None = None) -> None:
    """Set the endpoint's timer to what is due next."""
    row = await unit.one(SQL.next_due, endpoint_id=endpoint.endpoint_id, told=endpoint.is_told)
    at = row["at"] if row else None
    if at is None:
        return
    timer = {"timer_id": endpoint.timer_id, "thread_id": endpoint.endpoint_id, "subject": endpoint.endpoint_id}
    await unit.set_timer(TimerElapsed(**timer, purpose="webhook", due_at=max(at, not_before or at)))


def _named(work: Work[Any], endpoint_id: UUID) -> dict[str, Any]:
    return {"workspace": work.workspace, "endpoint_id": endpoint_id}


# One attempt to tell an endpoint: the body is made of the stored event, signed and posted.
async def attempt(app: App, workspace: str, endpoint: Endpoint, webhook: Webhook) -> Outcome:
    """What came of it. Raises nothing that is the endpoint's fault."""
    stored = await _stored(app, workspace, webhook.event_id)
    if stored is None:
        return Outcome(error=UNREADABLE, asked=False)
    body, now = body_of(webhook.kind, stored.data, stored.time, with_text=endpoint.with_text), app.now()
    try:
        secrets = secrets_of(app, endpoint, now)
        id = str(webhook.webhook_id)
        answer = await post_signed(endpoint.url, secrets, id, now, body, agent=AGENT, limits=limits_of(app))
    except (NotPosted, SecretLost) as error:
        log.warning("a webhook was not taken", webhook=str(webhook.webhook_id), host=endpoint.host, why=str(error))
        return Outcome(error=str(error))
    return Outcome(answer)


def limits_of(app: App) -> Limits:
    """What the settings allow of a call."""
    one = app.settings.outgoing_webhooks
    return Limits(one.timeout_s, "outgoing_webhooks.timeout_s", one.private_hosts, "outgoing_webhooks.private_hosts")


async def _stored(app: App, workspace: str, event_id: UUID) -> Envelope | None:
    """The event, None where nobody can read it any more."""
    async with app.database.transaction(workspace) as conn:
        row = await row_as(conn, EventRow.of, event_store.SQL.by_id, {"id": event_id})
    return None if row is None or row.is_sealed else row.envelope()


HANDLERS: Handlers = {
    **dict.fromkeys(SOURCES, on_event),
    WebhookRequested: on_requested,
    TimerElapsed: on_timer,
}
