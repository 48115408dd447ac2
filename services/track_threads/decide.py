"""Decides what an event does to a thread: pure, from its state and a command to new events and timers.

What a decision needs to know is in the state or the command before it begins. Where a later part of it builds on an
earlier one, the state is carried on by `evolve`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from schemas.events.answers import AssignmentRequested, ReplyRequested, SnoozeRequested
from schemas.events.base import EventData
from schemas.events.mail import EmailRead
from schemas.events.marks import ThreadMarksRequested
from schemas.events.memory import TurnReflected
from schemas.events.proactive import DraftRequested
from schemas.events.ratings import RatingRequested
from schemas.events.replies import ReplyDiscarded, ReplyDrafted, ReplyFailed, ReplySent, ReplyUnknown
from schemas.events.retention import BodiesExpired
from schemas.events.suggestions import SuggestionDrafted, SuggestionRequested
from schemas.events.threads import TIMERS, StateChanged, ThreadTransitionRequested, TimerElapsed, TurnFailed
from services.core.settings import Behaviour, Settings, shaped
from services.track_threads import deadlines, mails, marks, person, proactive, ratings, turns
from services.track_threads.behaviours import (
    NO_OCCASIONS,
    Occasions,
    after_turn,
    applied,
    because,
    before_turn,
    notes,
    put_marks,
    rules_of,
)
from services.track_threads.consequences import Timer, alerts, near, timers
from services.track_threads.deadlines import breached, follow, nearly_missed, terms_of
from services.track_threads.evolve import evolve
from services.track_threads.marks import goals_left
from services.track_threads.states import Events, about, transition
from services.track_threads.thread import Pending, Thread

Outcome = EventData | Timer


@dataclass(frozen=True, slots=True)
class Command:
    """An event that a thread is to take in, and what was looked up for it.

    `draft` is what the agent wrote in the turn that missed its deadline; `known` is whether a colleague's mail stands
    in the conversation already, `imported` whether the turn is of imported mail, `bodies_due` whether texts are kept
    no longer, `circumstances` what a person's reply meets, `newest` the proven mail that a draft of ours would follow,
    or the one that a suggestion is for; `again` is whether that draft was made before.
    """

    event: EventData
    id: UUID
    now: datetime
    settings: Settings
    occasions: Occasions = NO_OCCASIONS
    draft: str = ""
    known: bool = False
    imported: bool = False
    bodies_due: bool = False
    circumstances: person.Circumstances = person.NOTHING_KNOWN
    newest: Pending | None = None
    again: bool = False
    reply: ratings.Rated | None = None


class Decision:
    """What is decided because of one command, in order, and the thread as it is after that."""

    def __init__(self, thread: Thread, command: Command) -> None:
        self.thread = thread
        self.command = command
        self.outcome: list[Outcome] = []

    def take(self, events: Iterable[EventData]) -> None:
        """Take events about the thread as it is, then what follows: ended goals, snoozes, deadlines, alerts, timers."""
        before, now, settings = self.thread, self.command.now, self.command.settings
        decided = list(events)
        decided += goals_left(before, decided)
        decided += deadlines.ended(before, decided)
        changes = follow(before, decided, now, terms_of(settings, before.inbox))
        for event in (*decided, *changes, *alerts(before, decided)):
            self.thread = evolve(self.thread, event, now)
            self.outcome += [event, *timers(self.thread, event, now, settings)]

    def set(self, timer: Timer) -> None:
        """Set a timer, or cancel it."""
        self.outcome.append(timer)


def concerns(event: EventData) -> bool:
    """Whether there is anything to decide: a parked mail is left where it is, timers of replies are send_email's."""
    match event:
        case EmailRead():
            return event.verdict.kind not in ("park", "duplicate", "loop")
        case ReplyDrafted():
            return event.decision == "no_reply" or bool(event.acts or event.entities)
        case TimerElapsed():
            return TIMERS[event.purpose] == "track_threads"
        case TurnReflected():
            return event.retry_at is None and event.outcome != "drafted"  # its turn goes on
    return True


def decide(thread: Thread, command: Command) -> list[Outcome]:
    """The events to record and the timers to set, in order."""
    decision = Decision(thread, command)
    DECISIONS[type(command.event)](decision, command.event)
    return decision.outcome


def rules_in_question(thread: Thread, event: EventData, settings: Settings) -> tuple[Behaviour, ...]:
    """The behaviours that a decision may have to look at; none where no turn can open in it."""
    if isinstance(event, TurnReflected):
        return rules_of(settings, thread.inbox, "after")
    opens = event.purpose == "quiet" if isinstance(event, TimerElapsed) else _opens_at_once(thread, event, settings)
    return rules_of(settings, thread.inbox, "before") if opens else ()


def mails_in_question(thread: Thread, event: EventData) -> tuple[UUID, ...]:
    """The mails that they may look at: of a turn that was learned from, or those of which some are answered next."""
    if isinstance(event, TurnReflected):
        return event.mail_ids
    return tuple(one.mail_id for one in _waiting(thread))


def may_reprioritise(thread: Thread, event: EventData, rules: Iterable[Behaviour]) -> bool:
    """Whether another priority may be decided on, for which it counts when the thread was opened last."""
    asked = {event.priority} if isinstance(event, ThreadMarksRequested) else {one.then.priority for one in rules}
    return bool(asked - {None, thread.priority})


def _opens_at_once(thread: Thread, event: EventData, settings: Settings) -> bool:
    """Whether a turn may open without a quiet period before, or a suggestion be asked for, which waits for none."""
    suggests = isinstance(event, EmailRead) and thread.state == "escalated"
    return _may_open(event) and (suggests or any(_quiet_s(one, thread, settings) <= 0 for one in _waiting(thread)))


def _may_open(event: EventData) -> bool:
    match event:
        case EmailRead():
            return event.verdict.kind == "colleague" or (event.verdict.kind == "answer" and event.mode == "live")
        case ThreadTransitionRequested():
            return event.to_state == "in_progress"
    return isinstance(event, ReplyDrafted | ReplySent | ReplyDiscarded)


def _waiting(thread: Thread) -> tuple[Pending, ...]:
    return thread.pending + ((thread.arriving,) if thread.arriving else ())


def _quiet_s(mail: Pending, thread: Thread, settings: Settings) -> float:
    """The quiet period after a mail in seconds, its author's own where they have one."""
    address = mail.addr if mail.trusted else ""
    seconds: float = shaped(settings, settings.known_inbox(thread.inbox), address)["quiet_s"].value
    return seconds


def _email(decision: Decision, mail: EmailRead) -> None:
    """A mail was read: it joins its thread, or is noted."""
    if mail.verdict.kind == "colleague":
        _take_over(decision, mail)
    elif mail.verdict.kind in ("bounce", "complaint"):
        decision.take(mails.note_report(decision.thread, mail))
    else:
        decision.take(mails.attach(decision.thread, mail))
        _answer(decision, mail)


def _take_over(decision: Decision, mail: EmailRead) -> None:
    command = decision.command
    decision.set(Timer(decision.thread.quiet_timer))
    decision.take(mails.took_over(decision.thread, mail, command.now, known=command.known))
    _go_on(decision)


def _answer(decision: Decision, mail: EmailRead) -> None:
    """What becomes of a mail that was attached: learned from, a person's, a suggestion for one, or the agent's."""
    thread, command = decision.thread, decision.command
    if mail.mode == "history":
        imported = mail.model_copy(update={"sent_at": mail.sent_at or command.now})
        decision.take(mails.history(thread, imported))
    elif mail.verdict.kind == "human":
        decision.take(turns.for_a_person(thread, mail, command.id))
    elif thread.state == "escalated" and command.settings.threads.suggest and _may_suggest(mail, command.settings):
        rules = before_turn(thread, command.settings, command.occasions, [mail.mail_id])
        decision.take([mails.suggestion(mail, command.id, applied(rules))])
    else:
        _wait_or_open(decision)


def _may_suggest(mail: EmailRead, settings: Settings) -> bool:
    """Whether a model is asked about it: of who is not proven, only where drafts are made for those at all."""
    inbox = settings.known_inbox(mail.inbox)
    return mail.identity.trusted or (inbox is not None and inbox.unproven == "review")


def _wait_or_open(decision: Decision) -> None:
    """Begin the quiet period of what is answered next, or open the turn where there is none."""
    thread, command = decision.thread, decision.command
    decision.set(Timer(thread.idle_timer))
    if thread.state == "escalated" or not thread.pending:
        return
    quiet_s = _quiet_s(thread.next_up[0], thread, command.settings)
    if quiet_s > 0:
        due = max(command.now, thread.next_up[-1].at + timedelta(seconds=quiet_s))
        decision.set(Timer(thread.quiet_timer, "quiet", due))
    else:
        _open_turn(decision)


def _open_turn(decision: Decision) -> None:
    """Open the turn of what waits, with the operator's rules that hold for it."""
    thread, command = decision.thread, decision.command
    rules = before_turn(thread, command.settings, command.occasions, [one.mail_id for one in thread.next_up])
    human_because = because(thread, rules, command.occasions)
    turn = list(turns.open_turn(thread, command.id, applied(rules), human_because))
    decision.take([*(put_marks(thread, rules) if turn else ()), *turn])


def _go_on(decision: Decision) -> None:
    """Where a turn ended and others wait, they are next."""
    if decision.thread.pending and not decision.thread.turn:
        _wait_or_open(decision)


def _draft(decision: Decision, draft: ReplyDrafted) -> None:
    """What the agent did while it wrote is logged; that no reply is needed ends the turn. Replies are send_email's."""
    decision.take(turns.acts(decision.thread, draft))
    kept_for = timedelta(days=decision.command.settings.threads.entities_days)
    decision.take(marks.entities_noted(decision.thread, draft, decision.command.now + kept_for))
    if draft.decision == "no_reply":
        decision.take(turns.no_reply(decision.thread, draft))
        _go_on(decision)


def _sent(decision: Decision, reply: ReplySent) -> None:
    leave = person.left if reply.by else turns.sent
    decision.take(leave(decision.thread, reply))
    _go_on(decision)


def _not_sent(decision: Decision, reply: ReplyFailed | ReplyUnknown) -> None:
    decision.take(turns.not_sent(decision.thread, reply))


def _discarded(decision: Decision, draft: ReplyDiscarded) -> None:
    """A draft will not go; what it was to answer waits again, unless a person rejected it."""
    thread = decision.thread
    by_person = turns.is_open(thread, draft.turn_id) and thread.turn is not None and thread.turn.by
    decision.take(person.taken_back(thread, draft) if by_person else turns.discarded(thread, draft))
    _go_on(decision)


def _turn_failed(decision: Decision, turn: TurnFailed) -> None:
    reason = f"{turn.processor} gave up: {turn.error}"[:500]
    decision.take(turns.failed(decision.thread, turn.turn_id, reason))


def _suggestion(decision: Decision, draft: SuggestionDrafted) -> None:
    decision.take(turns.suggested(decision.thread, draft))


def _transition(decision: Decision, asked: ThreadTransitionRequested) -> None:
    """A step: made or refused, and logged either way. Handed back, what waits is answered; resolved, it is done."""
    thread = decision.thread
    if not thread.exists:
        return
    step = transition(thread, asked.to_state, asked.trigger, f"{asked.by}: {asked.reason}")
    if not isinstance(step, StateChanged):
        decision.take([step])
        return
    if asked.to_state == "resolved":
        decision.set(Timer(thread.quiet_timer))
        decision.take([*turns.resolved_by_hand(thread, decision.command.id), step])
    else:
        decision.take([step, *(turns.handed_back(thread) if thread.state == "escalated" else ())])
        decision.take(person.handed_over(thread, f"{asked.by}: {asked.reason}"))
    if asked.to_state == "in_progress" and thread.pending:
        _wait_or_open(decision)


def _reply(decision: Decision, asked: ReplyRequested) -> None:
    if decision.thread.exists:
        decision.take(person.answered(decision.thread, asked, decision.command.circumstances))


def _proactive(decision: Decision, asked: DraftRequested) -> None:
    """A draft that no mail asked for; asked for again, nothing more is said."""
    command = decision.command
    if decision.thread.exists and not command.again:
        decision.take(proactive.requested(decision.thread, asked, command.newest, command.now))


def _suggest(decision: Decision, asked: SuggestionRequested) -> None:
    """A person wants to see what the agent would answer to the newest mail; without one, nothing is asked."""
    thread, command = decision.thread, decision.command
    if thread.exists and command.newest:
        about = person.theirs(thread, command.newest)
        rules = before_turn(thread, command.settings, command.occasions, [one.mail_id for one in about])
        decision.take([person.suggestion(thread, asked, about, command.id, applied(rules))])


def _assignment(decision: Decision, asked: AssignmentRequested) -> None:
    if decision.thread.exists:
        decision.take(person.assigned(decision.thread, asked))


def _snooze(decision: Decision, asked: SnoozeRequested) -> None:
    decision.take(deadlines.requested(decision.thread, asked, decision.command.now))


def _marks(decision: Decision, asked: ThreadMarksRequested) -> None:
    if decision.thread.exists:
        decision.take(marks.requested(decision.thread, asked, decision.command.id))


def _rating(decision: Decision, asked: RatingRequested) -> None:
    command = decision.command
    decision.take(ratings.rated(decision.thread, asked, command.reply, command.now))


def _reflected(decision: Decision, turn: TurnReflected) -> None:
    """The operator's rules for afterwards: tags, priority, notes, never a mail. Imported mail is left alone."""
    thread, command = decision.thread, decision.command
    if not thread.exists or command.imported:
        return
    rules = after_turn(thread, command.settings, command.occasions, turn)
    decision.take([*put_marks(thread, rules), *notes(thread, rules, command.id)])


def _timer(decision: Decision, timer: TimerElapsed) -> None:
    """One timer of the thread. One that was moved or cancelled after it fired is ignored."""
    if timer.purpose == "quiet":
        _open_turn(decision)
    else:
        decision.take(_due(decision.thread, timer, decision.command))


def _due(thread: Thread, timer: TimerElapsed, command: Command) -> Events:
    if timer.purpose == "auto_resolve" and thread.state == "awaiting_reply":
        yield transition(thread, "resolved", "system", "no answer from the customer")
    elif timer.purpose == "auto_close" and thread.state == "resolved":
        yield transition(thread, "closed", "system", "resolved for long enough")
    elif timer.purpose == "sla" and (breach := breached(thread, timer)):
        yield from turns.missed(thread, breach, command.draft, command.id)
    elif timer.purpose == "deadline_near":
        if deadline := nearly_missed(thread, timer, command.settings.alerts.warn_minutes):
            yield near(thread, deadline)
    elif timer.purpose == "snooze":
        yield from deadlines.over(thread, timer)
    elif timer.purpose == "retention" and command.bodies_due:
        yield BodiesExpired(**about(thread), before=kept_from(command.now, command.settings))


def kept_from(now: datetime, settings: Settings) -> datetime:
    """The moment from before which no text is kept."""
    return now - timedelta(days=settings.retention.bodies_days)


DECISIONS: Mapping[type[EventData], Callable[[Decision, Any], None]] = {
    EmailRead: _email,
    TimerElapsed: _timer,
    ReplyDrafted: _draft,
    ReplySent: _sent,
    ReplyFailed: _not_sent,
    ReplyUnknown: _not_sent,
    ReplyDiscarded: _discarded,
    TurnFailed: _turn_failed,
    ThreadTransitionRequested: _transition,
    ThreadMarksRequested: _marks,
    ReplyRequested: _reply,
    DraftRequested: _proactive,
    AssignmentRequested: _assignment,
    SnoozeRequested: _snooze,
    RatingRequested: _rating,
    SuggestionRequested: _suggest,
    TurnReflected: _reflected,
    SuggestionDrafted: _suggestion,
}
