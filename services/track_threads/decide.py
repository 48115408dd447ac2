"""Pure decisions about a thread: from what it is and what happened, to the events that follow.

Nothing here reads a table or a clock. Each function gives the events in the order in which they are applied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid5

from schemas.events.base import EventData
from schemas.events.mail import EmailRead
from schemas.events.marks import DeadlineChanged
from schemas.events.replies import ReplyDiscarded, ReplyDrafted, ReplySent
from schemas.events.threads import (
    MAIL_WAITS,
    ActionLogged,
    AppliedBehaviour,
    BounceNoted,
    MailAttached,
    ReplyAttached,
    StateChanged,
    ThreadLinked,
    ThreadOpened,
    ThreadState,
    TransitionRefused,
    Trigger,
    TurnClosed,
    TurnOpened,
    TurnOutcome,
)
from services.core.model.usage import estimate_tokens
from services.track_threads import goals
from services.track_threads.states import path, refusal
from services.track_threads.thread import OpenTurn, Pending, Thread, by_author

Events = Iterator[EventData]


def transition(thread: Thread, to_state: ThreadState, trigger: Trigger, reason: str) -> EventData:
    """One step of the state machine: the change, or its refusal, which is logged too."""
    because = refusal(thread.state, to_state)
    common = {"from_state": thread.state, "to_state": to_state, "trigger": trigger, "reason": reason}
    if because:
        return TransitionRefused(**_of(thread), **common, refused_because=because)
    return StateChanged(**_of(thread), **common)


def walk(thread: Thread, to_state: ThreadState, trigger: Trigger, reason: str) -> Events:
    """Separate, legal, logged steps to `to_state`."""
    state = thread.state
    for following in path(thread.state, to_state):
        yield StateChanged(**_of(thread), from_state=state, to_state=following, trigger=trigger, reason=reason)
        state = following


def escalate(thread: Thread, trigger: Trigger, reason: str, whose: UUID | None = None) -> Events:
    """A human has to look, because of what somebody wrote: the steps and the action; nothing if one looks already."""
    if thread.state == "escalated":
        return
    yield from walk(thread, "escalated", trigger, reason)
    yield ActionLogged(**_of(thread, whose), action="escalated to a human", detail=reason, trigger=trigger)


def missed(thread: Thread, breach: DeadlineChanged) -> Events:
    """A deadline has passed: a human is called, and the turn that did not keep it ends, unless its reply is leaving."""
    yield breach
    if thread.turn and not thread.turn.leaving:
        yield close_turn(thread, "escalated", breach.reason)
    if thread.state == "escalated":
        yield ActionLogged(**_of(thread), action="missed a deadline", detail=breach.reason)
    else:
        yield from escalate(thread, "system", f"missed a deadline: {breach.reason}")


def attach(thread: Thread, mail: EmailRead) -> Events:
    """A customer's mail comes into the thread."""
    if not thread.exists:
        yield ThreadOpened(**_of(thread), inbox=mail.inbox, subject=mail.subject)
        if mail.linked_from:
            yield ThreadLinked(**_of(thread), linked_from=mail.linked_from)
    yield MailAttached(
        **_of(thread),
        mail_id=mail.mail_id,
        text=mail.text,
        tokens=estimate_tokens(mail.text),
        trusted=mail.identity.trusted,
        waits=mail.mode == "live" and waits_for_answer(mail),
        mode=mail.mode,
    )
    if mail.mode == "history":
        return
    if thread.state == "escalated":
        yield ActionLogged(**_of(thread, mail.participant_id), action=MAIL_WAITS, detail=mail.subject)
    if thread.turn and not thread.turn.leaving:
        yield close_turn(thread, "superseded", "a newer mail came")
    if thread.state in ("awaiting_reply", "resolved"):
        yield transition(thread, "in_progress", "system", "the customer wrote again")
    elif thread.state == "closed":
        yield transition(thread, "new", "system", "the customer wrote again after the thread was closed")


def waits_for_answer(mail: EmailRead) -> bool:
    """Whether somebody is to answer it. To whom nobody can be held, no machine answers, even when handed back."""
    known = mail.participant_id is not None and mail.identity.level != "failed"
    return mail.verdict.kind == "answer" or (mail.verdict.kind == "human" and known)


def history(thread: Thread, mail: EmailRead) -> Events:
    """An imported mail: a turn that is closed at once, so that it is learned from and never answered."""
    if thread.turn:
        return
    turn_id = uuid5(mail.mail_id, "turn")
    common: dict[str, Any] = {"thread_id": thread.thread_id, "participant_id": mail.participant_id}
    common |= {"turn_id": turn_id, "inbox": thread.inbox, "mail_ids": (mail.mail_id,), "trusted": mail.identity.trusted}
    yield TurnOpened(**common, mode="history", waiting_since=mail.sent_at)
    yield TurnClosed(**common, outcome="no_reply", reason="imported as history")
    if thread.state == "new":
        yield from walk(thread, "resolved", "system", "imported as history")


def note_report(thread: Thread, mail: EmailRead) -> Events:
    """A bounce or complaint about a mail of this thread. A mail that cannot arrive needs a human."""
    if mail.report is None or not thread.exists:
        return
    yield BounceNoted(
        **_of(thread), mail_id=mail.mail_id, kind=mail.report.kind, diagnostic=mail.report.diagnostic[:500]
    )
    if mail.report.kind in ("hard", "complaint"):
        what = "our mail came back" if mail.report.kind == "hard" else "the reader complained about our mail"
        yield from escalate(thread, "system", f"{what}: {mail.report.diagnostic or mail.report.status}"[:500])


def open_turn(
    thread: Thread, cause: UUID, behaviours: tuple[AppliedBehaviour, ...] = (), human_because: str = ""
) -> Events:
    """The quiet period is over: what waits of one author is answered, by a person where a behaviour says so."""
    if thread.turn or not thread.next_up or thread.state == "escalated":
        return
    yield from walk(thread, "in_progress", "system", "the agent took up the mail")
    opened = _opened(thread, thread.next_up, cause, behaviours, human_because)
    yield opened
    if human_because:
        yield from _hand_over(thread, opened, human_because, still_waits=False)


def for_a_person(thread: Thread, mail: EmailRead, cause: UUID) -> Events:
    """A mail that only a person may answer: learned of at once, so that they find a summary, and waiting for them."""
    mails = next((some for some in by_author(thread.pending) if mail.mail_id in {one.mail_id for one in some}), ())
    if thread.turn or not mails or thread.state == "escalated":
        yield from escalate(thread, "system", mail.verdict.reason, mail.participant_id)
        return
    yield from walk(thread, "in_progress", "system", "a mail for a person came")
    opened = _opened(thread, mails, cause, (), mail.verdict.reason)
    yield opened
    yield from _hand_over(thread, opened, mail.verdict.reason, still_waits=True)


def _opened(
    thread: Thread,
    mails: tuple[Pending, ...],
    cause: UUID,
    behaviours: tuple[AppliedBehaviour, ...],
    human_because: str,
) -> TurnOpened:
    return TurnOpened(
        thread_id=thread.thread_id,
        participant_id=mails[0].participant_id,
        turn_id=uuid5(cause, "turn"),
        inbox=thread.inbox,
        mail_ids=tuple(one.mail_id for one in mails),
        trusted=mails[0].trusted,
        mode="history" if human_because else "live",
        waiting_since=mails[0].at,
        behaviours=behaviours,
    )


def _hand_over(thread: Thread, opened: TurnOpened, because: str, *, still_waits: bool) -> Events:
    turn = OpenTurn(opened.turn_id, opened.mail_ids, opened.trusted, participant_id=opened.participant_id)
    taken = replace(thread, state="in_progress", turn=turn)
    yield close_turn(taken, "escalated", because, still_waits=still_waits)
    yield from escalate(taken, "system", because, opened.participant_id)


def close_turn(
    thread: Thread, outcome: TurnOutcome, reason: str, reply_id: UUID | None = None, *, still_waits: bool = False
) -> TurnClosed:
    """The end of the open turn; with `still_waits` nobody has answered its mails."""
    assert thread.turn is not None
    return TurnClosed(
        thread_id=thread.thread_id,
        participant_id=thread.turn.participant_id,
        turn_id=thread.turn.turn_id,
        inbox=thread.inbox,
        mail_ids=thread.turn.mail_ids,
        trusted=thread.turn.trusted,
        outcome=outcome,
        reason=reason,
        reply_id=reply_id,
        still_waits=still_waits,
    )


def is_open(thread: Thread, turn_id: UUID) -> bool:
    """Whether this is the turn being answered."""
    return thread.turn is not None and thread.turn.turn_id == turn_id


def no_reply(thread: Thread, draft: ReplyDrafted) -> Events:
    """The agent decided that the mail needs no answer."""
    if not is_open(thread, draft.turn_id):
        return
    yield from goals.closed(goals.of(thread, draft.participant_id), draft.goals_close, thread)
    yield transition(thread, draft.state, "ai", draft.reason)
    yield close_turn(thread, "no_reply", draft.reason)


def sent(thread: Thread, reply: ReplySent) -> Events:
    """A reply left: now its goals and its state take effect."""
    whose, tokens = reply.participant_id, estimate_tokens(reply.text)
    yield ReplyAttached(**_of(thread, whose), reply_id=reply.reply_id, text=reply.text, tokens=tokens, role="agent")
    yield from goals.closed(goals.of(thread, whose), reply.goals_close, thread)
    yield from goals.added(thread, reply.goals_add, whose, reply.reply_id)
    if not is_open(thread, reply.turn_id):
        return
    if reply.decision == "escalate":
        yield from escalate(thread, "ai", reply.reason, whose)
        yield close_turn(thread, "escalated", reply.reason, reply.reply_id)
        return
    if reply.state != thread.state:
        yield transition(thread, reply.state, "ai", reply.reason or "the reply was sent")
    yield close_turn(thread, "sent", "", reply.reply_id)


def discarded(thread: Thread, draft: ReplyDiscarded) -> Events:
    """A draft will not go: a person rejected it, or a newer mail or a human was faster than we are."""
    if not is_open(thread, draft.turn_id):
        return
    if not draft.overtaken:
        yield close_turn(thread, "rejected", draft.reason, draft.reply_id)
    elif thread.state == "escalated":
        yield close_turn(thread, "escalated", draft.reason)
    else:
        yield close_turn(thread, "superseded", draft.reason)


def failed(thread: Thread, turn_id: UUID, reason: str, reply_id: UUID | None = None) -> Events:
    """The turn could not be answered: a human is called, so that no customer meets silence."""
    if thread.turn is None or not is_open(thread, turn_id):
        return
    yield close_turn(thread, "failed", reason, reply_id)
    yield from escalate(thread, "system", reason, thread.turn.participant_id)


def _of(thread: Thread, whose: UUID | None = None) -> dict[str, UUID | None]:
    """Which thread, and about whom: its first author, where nobody else is named."""
    return {"thread_id": thread.thread_id, "participant_id": whose or thread.participant_id}
