"""Reads the thread under its lock, decides, records, and sets the thread's timers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.mail import EmailRead
from schemas.events.replies import ReplyDiscarded, ReplyDrafted, ReplyFailed, ReplySent, ReplyUnknown
from schemas.events.threads import StateChanged, ThreadTransitionRequested, TimerElapsed, TurnFailed
from services.core.bus.processor import Handlers
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.settings import ThreadSettings
from services.track_threads import decide
from services.track_threads.apply import SQL
from services.track_threads.takeover import took_over
from services.track_threads.thread import Goal, OpenTurn, Pending, Thread


async def on_email(work: Work[EmailRead]) -> None:
    """A mail was read: it joins its thread, or is noted, or (parked, looped, doubled) is left where it is."""
    mail = work.event
    if mail.verdict.kind in ("park", "duplicate", "loop"):
        return
    async with work.unit() as unit:
        thread = await load(unit, mail.thread_id, mail.participant_id, mail.inbox)
        if mail.verdict.kind == "colleague":
            await _take_over(unit, thread, mail, work.house.settings.threads)
            return
        if mail.verdict.kind in ("bounce", "complaint"):
            await record(unit, decide.note_report(thread, mail))
            return
        await record(unit, decide.attach(thread, mail))
        thread = await load(unit, mail.thread_id, mail.participant_id, mail.inbox)
        if mail.mode == "history":
            await record(unit, decide.history(thread, mail.model_copy(update={"sent_at": mail.sent_at or unit.now})))
        elif mail.verdict.kind == "human":
            await record(unit, decide.escalate(thread, "system", mail.verdict.reason))
        else:
            await _wait_or_open(unit, thread, work.house.settings.threads)


async def on_timer(work: Work[TimerElapsed]) -> None:
    """A quiet period, or a time in which nothing happened, is over."""
    timer = work.event
    if timer.purpose not in ("quiet", "auto_resolve", "auto_close"):
        return
    async with work.unit() as unit:
        thread = await load(unit, timer.thread_id)
        if timer.purpose == "quiet":
            await record(unit, decide.open_turn(thread, work.envelope.id))
        elif timer.purpose == "auto_resolve" and thread.state == "awaiting_reply":
            step = decide.transition(thread, "resolved", "system", "no answer from the customer")
            await _record_steps(unit, thread, [step], work.house.settings.threads)
        elif timer.purpose == "auto_close" and thread.state == "resolved":
            await record(unit, [decide.transition(thread, "closed", "system", "resolved for long enough")])


async def on_draft(work: Work[ReplyDrafted]) -> None:
    """The agent decided that no reply is needed; replies themselves are send_email's."""
    if work.event.decision == "no_reply":
        async with work.unit() as unit:
            thread = await load(unit, work.event.thread_id)
            await _finish(unit, thread, decide.no_reply(thread, work.event), work.house.settings.threads)


async def on_sent(work: Work[ReplySent]) -> None:
    """A reply was accepted by the SMTP server."""
    async with work.unit() as unit:
        thread = await load(unit, work.event.thread_id)
        await _finish(unit, thread, decide.sent(thread, work.event), work.house.settings.threads)


async def on_failed(work: Work[ReplyFailed | ReplyUnknown]) -> None:
    """A reply was refused for good, or nobody knows whether it arrived."""
    event = work.event
    what = (
        "the reply may or may not have been sent" if isinstance(event, ReplyUnknown) else "the reply could not be sent"
    )
    async with work.unit() as unit:
        thread = await load(unit, event.thread_id)
        await record(unit, decide.failed(thread, event.turn_id, f"{what}: {event.error}"[:500], event.reply_id))


async def on_discarded(work: Work[ReplyDiscarded]) -> None:
    """A draft will not go; what it was to answer waits again, unless a person rejected it."""
    async with work.unit() as unit:
        thread = await load(unit, work.event.thread_id)
        await _finish(unit, thread, decide.discarded(thread, work.event), work.house.settings.threads)


async def on_turn_failed(work: Work[TurnFailed]) -> None:
    """A processor gave up on the turn."""
    event = work.event
    async with work.unit() as unit:
        thread = await load(unit, event.thread_id)
        await record(unit, decide.failed(thread, event.turn_id, f"{event.processor} gave up: {event.error}"[:500]))


async def on_request(work: Work[ThreadTransitionRequested]) -> None:
    """A person asks for a step of the state machine: made or refused, and logged either way."""
    event = work.event
    async with work.unit() as unit:
        thread = await load(unit, event.thread_id)
        if not thread.exists:
            return
        step = decide.transition(thread, event.to_state, event.trigger, f"{event.by}: {event.reason}")
        await _record_steps(unit, thread, [step], work.house.settings.threads)
        if event.to_state == "in_progress" and isinstance(step, StateChanged):
            await _wait_or_open(unit, replace(thread, state="in_progress"), work.house.settings.threads)


async def _take_over(unit: Unit, thread: Thread, mail: EmailRead, settings: ThreadSettings) -> None:
    await unit.cancel_timer(thread.quiet_timer)
    known = await unit.one(SQL.stands_in_thread, thread_id=thread.thread_id, reply_id=mail.mail_id) is not None
    await _finish(unit, thread, took_over(thread, mail, unit.now, known=known), settings)


async def load(unit: Unit, thread_id: UUID, participant_id: UUID | None = None, inbox: str = "") -> Thread:
    """The thread, held until the end of the transaction."""
    await unit.lock("thread", thread_id)
    row = await unit.one(SQL.thread, thread_id=thread_id)
    if row is None:
        return Thread(thread_id=thread_id, participant_id=participant_id, inbox=inbox)
    pending = await unit.all(SQL.pending, thread_id=thread_id)
    goals = await unit.all(SQL.open_goals, thread_id=thread_id)
    turn = None
    if row["open_turn"]:
        turn = OpenTurn(row["open_turn"], tuple(row["turn_mails"]), bool(row["turn_trusted"]), row["leaving"])
    return Thread(
        thread_id=thread_id,
        participant_id=row["participant_id"],
        inbox=row["inbox"],
        exists=True,
        state=row["state"],
        turn=turn,
        pending=tuple(Pending(**one) for one in pending),
        goals=tuple(Goal(**one) for one in goals),
    )


async def record(unit: Unit, events: Iterable[EventData]) -> list[EventData]:
    """Record the decided events, in order."""
    decided = list(events)
    for event in decided:
        await unit.record(event)
    return decided


async def _finish(unit: Unit, thread: Thread, events: Iterable[EventData], settings: ThreadSettings) -> None:
    await _record_steps(unit, thread, events, settings)
    after = await load(unit, thread.thread_id)
    if after.pending and not after.turn:
        await _wait_or_open(unit, after, settings)


async def _record_steps(unit: Unit, thread: Thread, events: Iterable[EventData], settings: ThreadSettings) -> None:
    for event in await record(unit, events):
        if isinstance(event, StateChanged):
            await _set_idle_timer(unit, thread, event, settings)


async def _set_idle_timer(unit: Unit, thread: Thread, step: StateChanged, settings: ThreadSettings) -> None:
    if step.to_state == "awaiting_reply":
        await unit.set_timer(
            _timer(unit, thread, thread.idle_timer, "auto_resolve", settings.auto_resolve_days * 86400)
        )
    elif step.to_state == "resolved":
        await unit.set_timer(_timer(unit, thread, thread.idle_timer, "auto_close", settings.auto_close_days * 86400))
    else:
        await unit.cancel_timer(thread.idle_timer)


async def _wait_or_open(unit: Unit, thread: Thread, settings: ThreadSettings) -> None:
    await unit.cancel_timer(thread.idle_timer)
    if thread.state == "escalated":
        return
    if settings.quiet_s > 0:
        await unit.set_timer(_timer(unit, thread, thread.quiet_timer, "quiet", settings.quiet_s))
    else:
        await record(unit, decide.open_turn(thread, unit.cause.id))


def _timer(unit: Unit, thread: Thread, timer_id: UUID, purpose: str, seconds: float) -> TimerElapsed:
    return TimerElapsed.model_validate(
        {
            "timer_id": timer_id,
            "thread_id": thread.thread_id,
            "purpose": purpose,
            "due_at": unit.now + timedelta(seconds=seconds),
        }
    )


HANDLERS: Handlers = {
    EmailRead: on_email,
    TimerElapsed: on_timer,
    ReplyDrafted: on_draft,
    ReplySent: on_sent,
    ReplyFailed: on_failed,
    ReplyUnknown: on_failed,
    ReplyDiscarded: on_discarded,
    TurnFailed: on_turn_failed,
    ThreadTransitionRequested: on_request,
}
