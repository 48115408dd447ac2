"""A sender that dies at a named point: a process of its own, forked from one that has loaded the program.

It handles one stored event as `send_email` (or `alert_people`) does, with the settings of its environment, and kills
itself (SIGKILL) where the point says: before or after a function of the sender. A process that gets past its point exits with 1.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import pkgutil
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn
from uuid import UUID

from services.core.app import open_app
from services.core.bus import event_store
from services.core.bus.event_row import EventRow
from services.core.bus.runner import Runner
from services.core.db import fetch_one
from services.core.settings import Settings, read_settings
from tests.support.commands import ROOT, loaded_commands
from tests.support.workers import environment_of

DRAFTED, APPROVED, SENT = "reply.drafted.v1", "reply.approved.v1", "reply.sent.v1"
TIMER = "timer.elapsed.v1"


@dataclass(frozen=True, slots=True)
class Point:
    """Where it dies while it handles an event of type `of`: around `function` of `owner`, or ("") at the very end."""

    of: str
    owner: str = ""
    function: str = ""
    when: Literal["before", "after"] = "before"
    processor: str = "send_email"
    in_its_time: bool = False  # by the clock of the event


RUNNER, PUBLISHER = "services.core.bus.runner", "services.core.bus.publisher:Publisher"
DELIVER, POLICY = "services.send_email.deliver", "services.send_email.policy"
FROZEN, FOLDER = "services.send_email.frozen", "services.send_email.sent_folder"

POINTS = {
    "draft-stored": Point(DRAFTED, FROZEN, "freeze"),
    "mime-frozen": Point(DRAFTED, POLICY, "_end"),
    "approval-committed": Point(DRAFTED, RUNNER, "publish"),
    "approval-published": Point(DRAFTED, PUBLISHER, "publish_each", "after"),
    "approval-before-ack": Point(DRAFTED),
    "before-connect": Point(APPROVED, DELIVER, "dialogue"),
    "after-rcpt": Point(APPROVED, DELIVER, "_intend"),
    "intent-committed": Point(APPROVED, DELIVER, "_intend", "after"),
    "answered-not-now": Point(APPROVED, DELIVER, "_defer"),
    "answered-kept": Point(APPROVED, "services.mail.smtp_dialogue:Dialogue", "data", "after"),
    "sent-committed": Point(APPROVED, RUNNER, "publish"),
    "sent-published": Point(APPROVED, PUBLISHER, "publish_each", "after"),
    "sent-before-ack": Point(APPROVED),
    "before-append": Point(SENT, FOLDER, "keep_copy"),
    "after-append": Point(SENT, FOLDER, "keep_copy", "after"),
}

ALERTS = "services.alert_people.handler"
ALERT_POINTS = {
    "alert-grouped": Point(TIMER, ALERTS, "_digest", "after", "alert_people"),
    "alert-handed-over": Point(TIMER, ALERTS, "tell", "after", "alert_people"),
    "alert-recorded": Point(TIMER, RUNNER, "publish", "before", "alert_people"),
    "alert-before-ack": Point(TIMER, processor="alert_people"),
}

WEBHOOKS = "services.send_webhooks.handler"
WEBHOOK_POINTS = {
    "webhook-before": Point(TIMER, WEBHOOKS, "attempt", "before", "send_webhooks"),
    "webhook-taken": Point(TIMER, WEBHOOKS, "attempt", "after", "send_webhooks"),
    "webhook-recorded": Point(TIMER, WEBHOOKS, "_send", "after", "send_webhooks"),
    "webhook-unpublished": Point(TIMER, RUNNER, "publish", "before", "send_webhooks"),
    "webhook-before-ack": Point(TIMER, processor="send_webhooks"),
}

CONDENSED = "services.condense_memory.handler"
PERIOD_POINTS = {
    "period-answered": Point("period.ended.v1", CONDENSED, "judged", "before", "condense_memory"),
    "period-judged": Point("period.ended.v1", CONDENSED, "judged", "after", "condense_memory"),
    "period-recorded": Point("period.ended.v1", RUNNER, "publish", "before", "condense_memory"),
}

INVESTIGATES = "services.investigate.handler"
INVESTIGATION_POINTS = {
    "first-answered": Point("investigation.opened.v1", INVESTIGATES, "run_calls", "before", "investigate"),
    "first-recorded": Point("investigation.opened.v1", RUNNER, "publish", "before", "investigate"),
    "round-answered": Point("investigation.round_taken.v1", INVESTIGATES, "run_calls", "before", "investigate"),
    "round-in-unit": Point(
        "investigation.round_taken.v1", "services.core.bus.unit:Unit", "record", "after", "investigate"
    ),
    "round-recorded": Point("investigation.round_taken.v1", RUNNER, "publish", "before", "investigate"),
}

DERIVED_POINTS = {
    "incident-decided": Point("turn.reflected.v1", "services.watch_incidents.handler", "reported", "before", "watch_incidents"),
    "incident-recorded": Point("turn.reflected.v1", RUNNER, "publish", "before", "watch_incidents"),
    "outreach-proposed": Point("outreach.due.v1", "services.core.bus.unit:Unit", "record", "after", "reach_out", True),
    "outreach-recorded": Point("outreach.due.v1", RUNNER, "publish", "before", "reach_out", True),
    "approval-counted": Point("reply.approved.v1", "services.earn_approval.handler", "decide", "before", "earn_approval"),
    "approval-recorded": Point("reply.approved.v1", RUNNER, "publish", "before", "earn_approval"),
}  # fmt: skip


async def crash(settings: Settings, point: str, event_id: UUID) -> None:
    """Run a sender of its own to its death. Raises AssertionError where it lives, or dies of anything else."""
    with tempfile.NamedTemporaryFile() as said:
        work = (said.name, environment_of(settings), point, event_id)
        child = loaded_commands().Process(target=_become, args=work, daemon=True)
        await asyncio.to_thread(child.start)
        await asyncio.to_thread(child.join)
        told = said.read().decode()
    assert child.exitcode == -signal.SIGKILL, f"{point} ended with {child.exitcode}:\n{told[-3000:]}"


def _become(output: str, environment: dict[str, str], point: str, event_id: UUID) -> None:
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    for number in (1, 2):
        os.dup2(os.open(output, os.O_WRONLY | os.O_APPEND), number)
    points = {**POINTS, **ALERT_POINTS, **WEBHOOK_POINTS, **PERIOD_POINTS, **DERIVED_POINTS, **INVESTIGATION_POINTS}
    main(points[point], event_id)
    sys.exit(1)


def _die(*_: Any, **__: Any) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("SIGKILL was survived")


def _dying(function: Callable[..., Any], when: str) -> Callable[..., Any]:
    if when == "before":
        return _die

    async def awaited(*args: Any, **named: Any) -> Any:
        await function(*args, **named)
        _die()

    def called(*args: Any, **named: Any) -> Any:
        function(*args, **named)
        _die()

    return awaited if inspect.iscoroutinefunction(function) else called


async def _handle(event_id: UUID, point: Point) -> None:
    async with open_app(read_settings()) as app:
        async with app.database.reading() as conn:
            row = await fetch_one(conn, event_store.SQL.by_id, {"id": event_id})
        assert row is not None
        envelope = EventRow.of(**row).envelope()
        here = replace(app, now=lambda: envelope.time) if point.in_its_time else app
        await Runner(pkgutil.resolve_name(f"services.{point.processor}:PROCESSOR"), here).process(envelope)
        if not point.owner:
            _die()


def main(point: Point, event_id: UUID) -> None:
    """Set the trap and walk into it."""
    if point.owner:
        owner = pkgutil.resolve_name(point.owner)
        setattr(owner, point.function, _dying(getattr(owner, point.function), point.when))
    asyncio.run(_handle(event_id, point))
