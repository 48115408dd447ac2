"""Pure decisions about turns: when one opens, for whom, and that it ends without a reply of ours.

Nothing here reads a table or a clock. Each function gives the events in the order in which they are applied.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid5

from schemas.events.mail import EmailRead
from schemas.events.marks import DeadlineChanged
from schemas.events.threads import ActionLogged, AppliedBehaviour, TurnClosed, TurnOpened, TurnOutcome
from services.track_threads.decide_steps import Events, about, escalate, walk
from services.track_threads.thread import OpenTurn, Pending, Thread, by_author


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
        yield from _hand_over(thread, opened, human_because)


def for_a_person(thread: Thread, mail: EmailRead, cause: UUID) -> Events:
    """A mail that only a person may answer: learned of at once, so that they find a summary, and waiting for them.

    No model is asked where nothing is learned: nobody proven wrote it, or there are too many to ask about each.
    """
    unlearned = not mail.identity.trusted or mail.verdict.filter == "rates"
    mails = next((some for some in by_author(thread.pending) if mail.mail_id in {one.mail_id for one in some}), ())
    if thread.turn or not mails or thread.state == "escalated" or unlearned:
        yield from escalate(thread, "system", mail.verdict.reason, mail.participant_id)
        return
    yield from walk(thread, "in_progress", "system", "a mail for a person came")
    opened = _opened(thread, mails, cause, (), mail.verdict.reason)
    yield opened
    yield from _hand_over(thread, opened, mail.verdict.reason)


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


def _hand_over(thread: Thread, opened: TurnOpened, because: str) -> Events:
    turn = OpenTurn(opened.turn_id, opened.mail_ids, opened.trusted, participant_id=opened.participant_id)
    taken = replace(thread, state="in_progress", turn=turn)
    yield close_turn(taken, "escalated", because)
    yield from escalate(taken, "system", because, opened.participant_id)


def close_turn(
    thread: Thread, outcome: TurnOutcome, reason: str, reply_id: UUID | None = None, *, still_waits: bool = False
) -> TurnClosed:
    """The end of the open turn. Handed to a person without a reply, or with `still_waits`, its mails go on waiting."""
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
        still_waits=still_waits or (outcome == "escalated" and reply_id is None),
    )


def is_open(thread: Thread, turn_id: UUID) -> bool:
    """Whether this is the turn being answered."""
    return thread.turn is not None and thread.turn.turn_id == turn_id


def missed(thread: Thread, breach: DeadlineChanged) -> Events:
    """A deadline has passed: a human is called, and the turn that did not keep it ends, unless its reply is leaving."""
    yield breach
    if thread.turn and not thread.turn.leaving:
        yield close_turn(thread, "escalated", breach.reason)
    if thread.state == "escalated":
        yield ActionLogged(**about(thread), action="missed a deadline", detail=breach.reason)
    else:
        yield from escalate(thread, "system", f"missed a deadline: {breach.reason}")


def failed(
    thread: Thread, turn_id: UUID, reason: str, reply_id: UUID | None = None, *, may_have_left: bool = False
) -> Events:
    """The turn could not be answered: a human is called, so that no customer meets silence."""
    if thread.turn is None or not is_open(thread, turn_id):
        return
    yield close_turn(thread, "failed", reason, reply_id, still_waits=not may_have_left)
    yield from escalate(thread, "system", reason, thread.turn.participant_id)
