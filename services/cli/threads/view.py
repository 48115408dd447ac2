"""Threads on a terminal: what `correspondent thread`, `threads` and `due` print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from rich.text import Text

from schemas.events.mail import UNPROVEN_LEVELS
from services.cli.terminal import age, plain, short, source_line
from services.operations.threads.listing import (
    Action,
    Clock,
    Due,
    Kept,
    Learned,
    Message,
    Step,
    ThreadLine,
    WholeThread,
)

UNASKED = " (nothing proves who asked for it)"


def line(one: ThreadLine) -> Text:
    """A thread in a list."""
    marks = [one.state, *([one.priority] if one.priority != "normal" else []), *(f"#{tag}" for tag in one.tags)]
    return Text.assemble(
        (short(one.thread_id), "bold cyan"),
        f"  {one.changed_at:%Y-%m-%d}  ",
        plain(one.subject, "bold"),
        "  ",
        plain(" ".join(marks)),
        plain(f"  {one.participant}", "dim"),
        _holder(one),
        plain(f"  snoozed until {one.snoozed_until:%Y-%m-%d %H:%M} UTC" if one.snoozed_until else "", "cyan"),
        plain(f"  {_claim(one)}" if one.claims_to_be else "", "red"),
    )


def due(one: Due, now: datetime) -> Text:
    """A deadline in the list of what is due next."""
    missed = "  (missed)" if one.status == "breached" else ""
    return Text.assemble(
        (short(one.thread_id), "bold cyan"),
        "  ",
        _when(one.due_at, now),
        f"  {_words(one.kind)}",
        missed,
        f"  {one.priority}  {one.state}  ",
        plain(one.subject, "bold"),
    )


def whole(one: WholeThread, now: datetime) -> Iterator[Text]:
    """One thread, in the order in which a person asks about it."""
    thread = one.thread
    yield Text.assemble(
        plain(thread.subject, "bold"), f"  ({thread.state}, {thread.inbox}, since {thread.opened_at:%Y-%m-%d})"
    )
    yield plain(f"thread {thread.thread_id}, version {one.version}", "dim")
    if thread.claims_to_be:
        yield Text.assemble(("Sender  ", "bold"), plain(_claim(thread), "red"))
    for name, ids in (("Continues  ", [one.linked_from] if one.linked_from else []), ("See also  ", one.linked_to)):
        yield from (Text.assemble((name, "bold"), plain(f"thread {other}")) for other in ids)
    yield Text.assemble(
        ("Priority  ", "bold"), thread.priority, *(plain(f"  #{tag}") for tag in thread.tags), _holder(thread)
    )
    for clock in one.deadlines:
        yield Text.assemble(("Deadline  ", "bold"), plain(_clock(clock, now)))
    if one.summary:
        yield Text.assemble(("\nSummary\n", "bold"), plain(one.summary))
    for goal in one.goals:
        yield Text.assemble(
            ("\nGoal  ", "bold"), plain(goal.text), " (reached)" if goal.closed_at else "", UNASKED * (not goal.proven)
        )
    for said in one.conversation:
        waits = "  (waits for an answer)" if said.pending else _waited(said)
        level = f" ({said.sender_level})" if said.sender_level in UNPROVEN_LEVELS else ""
        who = f"{said.role} ({said.by})" if said.by else f"{said.role}{level}"
        yield Text.assemble((f"\n{said.at:%Y-%m-%d %H:%M}  ", "bold"), plain(f"{who}{waits}\n", "bold"), _text(said))
        yield from (source_line(source) for source in said.sources)
    for note in one.notes:
        yield Text.assemble((f"\n{note.at:%Y-%m-%d %H:%M}  note by {note.by}\n", "bold"), plain(note.text))
    yield from _kept(one.kept_in_mind)
    for learned in one.learned:
        yield from _learned(learned)
    yield Text("\nLog", "bold")
    steps = [(one.version, one.at, _step(one)) for one in one.log]
    done = [(one.version, one.at, _action(one)) for one in one.actions]
    for _, at, words in sorted(steps + done, key=lambda entry: entry[0]):
        yield Text.assemble(f"{at:%Y-%m-%d %H:%M}  ", words)


def _kept(kept: Sequence[Kept]) -> Iterator[Text]:
    """What the agent keeps in mind, if anything."""
    if kept:
        yield Text("\nThe agent keeps in mind", "bold")
    for one in kept:
        yield Text.assemble(plain(f"{one.name}: {one.value}"), f"  (until {one.expires_at:%Y-%m-%d})")


def _holder(thread: ThreadLine) -> Text:
    """Who has the thread."""
    return plain(f"  has it: {thread.assignee}" if thread.assignee else "", "cyan")


def _waited(said: Message) -> str:
    """How long the customer waited for this reply."""
    return "" if said.waited_s is None else f"  (after {age(timedelta(seconds=said.waited_s))})"


def _claim(thread: ThreadLine) -> str:
    """Whom the sender of a thread claims to be, which nothing proves."""
    return f"{thread.sender_level}: claims to be {thread.claims_to_be}"


def _text(said: Message) -> Text:
    if said.gone_at is None:
        return plain(said.text)
    return plain(f"(not kept any more, since {said.gone_at:%Y-%m-%d})", "dim")


def _learned(one: Learned) -> Iterator[Text]:
    """What a turn taught, and each part of the model's answer that did not hold."""
    turn = "the turn whose reply waited" if one.outcome == "drafted" else f"the turn that ended {one.outcome}"
    if one.held:
        what = plain(f"from {turn}: {one.facts} facts and {one.relations} relations proposed")
    else:
        again = f"asked again at {one.retry_at:%Y-%m-%d %H:%M} UTC" if one.retry_at else "not asked again"
        what = plain(f"nothing from {turn}, {again}", "red")
    yield Text.assemble((f"\n{one.at:%Y-%m-%d %H:%M}  learned  ", "bold"), what)
    yield from (plain(f"    did not hold: {reason}", "dim") for reason in one.refused)


def _step(step: Step) -> Text:
    refused = plain(f"  REFUSED: {step.refused}" if step.refused else "", "red")
    return Text.assemble(
        f"{step.from_state} -> {step.to_state}  ", _why(step.trigger, step.reason, step.cause), refused
    )


def _action(action: Action) -> Text:
    why = _why(action.trigger, action.detail, action.cause)
    return Text.assemble(plain(action.action), UNASKED * (not action.proven), "  ", why)


def _why(trigger: str, reason: str, cause: UUID | None) -> Text:
    """Who, why, and the beginning of the id of the event that caused it."""
    return plain(f"{trigger}: {reason}" + (f"  [{short(cause)}]" if cause else ""), "dim")


def _clock(clock: Clock, now: datetime) -> str:
    what = f"{_words(clock.kind)}: {clock.status}"
    if clock.due_at:
        return f"{what}, {_when(clock.due_at, now)} ({clock.reason})"
    if clock.left_s is not None:
        return f"{what}, {age(timedelta(seconds=clock.left_s))} of office hours left ({clock.reason})"
    if clock.ended_at:
        return f"{what}, after {age(clock.ended_at - clock.since)} ({clock.reason})"
    return f"{what} ({clock.reason})"


def _when(due_at: datetime, now: datetime) -> str:
    away = age(abs(due_at - now))
    return f"due {due_at:%Y-%m-%d %H:%M} UTC, " + (f"in {away}" if due_at > now else f"{away} ago")


def _words(kind: str) -> str:
    return kind.replace("_", " ")
