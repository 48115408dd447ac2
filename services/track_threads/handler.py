"""What happens to a thread by mail: the customer's, a colleague's, our own. Read under its lock, decided, recorded."""

from __future__ import annotations

from collections.abc import Iterable

from schemas.events.base import EventData
from schemas.events.mail import EmailRead
from schemas.events.marks import ThreadMarksRequested
from schemas.events.memory import TurnReflected
from schemas.events.replies import ReplyDiscarded, ReplyDrafted, ReplyFailed, ReplySent, ReplyUnknown
from schemas.events.suggestions import SuggestionDrafted
from schemas.events.threads import ThreadTransitionRequested, TimerElapsed, TurnFailed
from services.core.bus.processor import Handlers
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.settings import Settings
from services.track_threads import decide_mail, decide_replies, decide_turns
from services.track_threads.afterwards import on_reflected
from services.track_threads.apply import SQL
from services.track_threads.behaviours import applied
from services.track_threads.keeping import record, wait_or_open
from services.track_threads.load import load
from services.track_threads.occasions import before_turn
from services.track_threads.requests import on_marks, on_transition
from services.track_threads.suggesting import on_suggestion, suggestion
from services.track_threads.takeover import took_over
from services.track_threads.thread import Thread
from services.track_threads.timers import on_timer


async def on_email(work: Work[EmailRead]) -> None:
    """A mail was read: it joins its thread, or is noted, or (parked, looped, doubled) is left where it is."""
    mail, settings = work.event, work.app.settings
    if mail.verdict.kind in ("park", "duplicate", "loop"):
        return
    async with work.unit() as unit:
        thread = await load(unit, mail.thread_id, mail.participant_id, mail.inbox)
        if mail.verdict.kind == "colleague":
            await _take_over(unit, thread, mail, settings)
            return
        if mail.verdict.kind in ("bounce", "complaint"):
            await record(unit, thread, decide_mail.note_report(thread, mail), settings)
            return
        await record(unit, thread, decide_mail.attach(thread, mail), settings)
        thread = await load(unit, mail.thread_id, mail.participant_id, mail.inbox)
        if mail.mode == "history":
            imported = mail.model_copy(update={"sent_at": mail.sent_at or unit.now})
            await record(unit, thread, decide_mail.history(thread, imported), settings)
        elif mail.verdict.kind == "human":
            await record(unit, thread, decide_turns.for_a_person(thread, mail, work.envelope.id), settings)
        elif thread.state == "escalated" and settings.threads.suggest and _may_suggest(mail, settings):
            rules = applied(await before_turn(unit, thread, settings, [mail.mail_id]))
            await unit.record(suggestion(mail, work.envelope.id, rules))
        else:
            await wait_or_open(unit, thread, settings)


def _may_suggest(mail: EmailRead, settings: Settings) -> bool:
    """Whether a model is asked about it: of who is not proven, only where drafts are made for those at all."""
    inbox = settings.known_inbox(mail.inbox)
    return mail.identity.trusted or (inbox is not None and inbox.unproven == "review")


async def on_draft(work: Work[ReplyDrafted]) -> None:
    """What the agent did while it wrote is logged; that no reply is needed ends the turn. Replies are send_email's."""
    draft, settings = work.event, work.app.settings
    if draft.decision != "no_reply" and not draft.acts:
        return
    async with work.unit() as unit:
        thread = await load(unit, draft.thread_id)
        await record(unit, thread, decide_replies.acts(thread, draft), settings)
        if draft.decision == "no_reply":
            await _finish(unit, thread, decide_replies.no_reply(thread, draft), settings)


async def on_sent(work: Work[ReplySent]) -> None:
    """A reply was accepted by the SMTP server."""
    async with work.unit() as unit:
        thread = await load(unit, work.event.thread_id)
        await _finish(unit, thread, decide_replies.sent(thread, work.event), work.app.settings)


async def on_failed(work: Work[ReplyFailed | ReplyUnknown]) -> None:
    """A reply was refused for good, or nobody knows whether it arrived."""
    event = work.event
    unknown = isinstance(event, ReplyUnknown)
    what = "the reply may or may not have been sent" if unknown else "the reply could not be sent"
    async with work.unit() as unit:
        thread = await load(unit, event.thread_id)
        reason = f"{what}: {event.error}"[:500]
        ended = decide_turns.failed(thread, event.turn_id, reason, event.reply_id, may_have_left=unknown)
        await record(unit, thread, ended, work.app.settings)


async def on_discarded(work: Work[ReplyDiscarded]) -> None:
    """A draft will not go; what it was to answer waits again, unless a person rejected it."""
    async with work.unit() as unit:
        thread = await load(unit, work.event.thread_id)
        await _finish(unit, thread, decide_replies.discarded(thread, work.event), work.app.settings)


async def on_turn_failed(work: Work[TurnFailed]) -> None:
    """A processor gave up on the turn."""
    event = work.event
    async with work.unit() as unit:
        thread = await load(unit, event.thread_id)
        reason = f"{event.processor} gave up: {event.error}"[:500]
        await record(unit, thread, decide_turns.failed(thread, event.turn_id, reason), work.app.settings)


async def _take_over(unit: Unit, thread: Thread, mail: EmailRead, settings: Settings) -> None:
    await unit.cancel_timer(thread.quiet_timer)
    known = await unit.one(SQL.stands_in_thread, thread_id=thread.thread_id, reply_id=mail.mail_id) is not None
    await _finish(unit, thread, took_over(thread, mail, unit.now, known=known), settings)


async def _finish(unit: Unit, thread: Thread, events: Iterable[EventData], settings: Settings) -> None:
    await record(unit, thread, events, settings)
    after = await load(unit, thread.thread_id)
    if after.pending and not after.turn:
        await wait_or_open(unit, after, settings)


HANDLERS: Handlers = {
    EmailRead: on_email,
    TimerElapsed: on_timer,
    ReplyDrafted: on_draft,
    ReplySent: on_sent,
    ReplyFailed: on_failed,
    ReplyUnknown: on_failed,
    ReplyDiscarded: on_discarded,
    TurnFailed: on_turn_failed,
    ThreadTransitionRequested: on_transition,
    ThreadMarksRequested: on_marks,
    TurnReflected: on_reflected,
    SuggestionDrafted: on_suggestion,
}
