"""A sender that dies at a named point: `python -m tests.support.crashing_sender POINT EVENT-ID`.

It handles one stored event as `send_email` (or `alert_people`) does, with the settings of its environment, and kills
itself (SIGKILL) where the point says: before or after a function of the sender. A process that gets past its point exits with 1.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import pkgutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn
from uuid import UUID

from services.core.app import open_app
from services.core.bus import event_store as history
from services.core.bus.runner import Runner
from services.core.db import fetch_one
from services.core.settings import Settings, read_settings
from tests.support.workers import ROOT, environment_of

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

CONDENSED = "services.condense_memory.handler"
PERIOD_POINTS = {
    "period-answered": Point("period.ended.v1", CONDENSED, "judged", "before", "condense_memory"),
    "period-judged": Point("period.ended.v1", CONDENSED, "judged", "after", "condense_memory"),
    "period-recorded": Point("period.ended.v1", RUNNER, "publish", "before", "condense_memory"),
}


async def crash(settings: Settings, point: str, event_id: UUID) -> None:
    """Run a sender of its own to its death. Raises AssertionError where it lives, or dies of anything else."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, point, str(event_id),
        cwd=ROOT, env=environment_of(settings), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await child.communicate()
    assert child.returncode == -signal.SIGKILL, f"{point} ended with {child.returncode}:\n{said.decode()[-3000:]}"


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


async def _handle(event_id: UUID, processor: str, *, at_the_end: bool) -> None:
    async with open_app(read_settings()) as app:
        async with app.database.reading() as conn:
            row = await fetch_one(conn, history.SQL.by_id, {"id": event_id})
        assert row is not None
        await Runner(pkgutil.resolve_name(f"services.{processor}:PROCESSOR"), app).process(history.envelope(row))
        if at_the_end:
            _die()


def main(point: Point, event_id: UUID) -> None:
    """Set the trap and walk into it."""
    if point.owner:
        owner = pkgutil.resolve_name(point.owner)
        setattr(owner, point.function, _dying(getattr(owner, point.function), point.when))
    asyncio.run(_handle(event_id, point.processor, at_the_end=not point.owner))


if __name__ == "__main__":
    main({**POINTS, **ALERT_POINTS, **PERIOD_POINTS}[sys.argv[1]], UUID(sys.argv[2]))
    sys.exit(1)
