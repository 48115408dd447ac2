"""Turns: when one opens, for whom, and how it ends: by a reply, without one, by a person, or failed. Pure.

A turn whose author is not proven proposes nothing: whatever a draft says, it changes no goal and resolves no thread.
Each function gives its events in the order in which they are applied.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid5

from schemas.events.mail import EmailRead
from schemas.events.marks import DeadlineChanged
from schemas.events.replies import ReplyDiscarded, ReplyDrafted, ReplyFailed, ReplySent, ReplyUnknown
from schemas.events.suggestions import SuggestionDrafted
from schemas.events.threads import (
    REPLY_LOST,
    ActionLogged,
    AppliedBehaviour,
    ReplyAttached,
    TurnClosed,
    TurnOpened,
    TurnOutcome,
)
from services.model.usage import estimate_tokens
from services.track_threads.marks import goals_added, goals_closed, goals_of, note
from services.track_threads.states import Events, about, escalate, transition, walk
from services.track_threads.thread import OpenTurn, Pending, Thread, by_author

COLLEAGUE = "a colleague answered"
RESOLVED = "a person resolved the thread"
DRAFTED = "What the agent had drafted when the thread was escalated:"
SUGGESTED = "What the agent would answer:"


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
    thread: Thread,
    outcome: TurnOutcome,
    reason: str,
    reply_id: UUID | None = None,
    *,
    still_waits: bool = False,
    answered_by: str = "",
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
        answered_by=answered_by,
    )


def is_open(thread: Thread, turn_id: UUID) -> bool:
    """Whether this is the turn being answered."""
    return thread.turn is not None and thread.turn.turn_id == turn_id


def missed(thread: Thread, breach: DeadlineChanged, draft: str, source: UUID) -> Events:
    """A deadline has passed: people are alerted, and the turn that did not keep it ends, unless its reply is leaving.

    What the agent had drafted in it stays as a note.
    """
    yield breach
    if thread.turn and not thread.turn.kept:
        yield close_turn(thread, "escalated", breach.reason)
    if thread.state == "escalated":
        yield ActionLogged(**about(thread), action="missed a deadline", detail=breach.reason)
    else:
        yield from escalate(thread, "system", f"missed a deadline: {breach.reason}")
    if draft:
        yield note(thread, f"{DRAFTED}\n\n{draft}", "agent", "ai", source)


def not_sent(thread: Thread, reply: ReplyFailed | ReplyUnknown) -> Events:
    """A reply was refused for good, or nobody knows whether it arrived."""
    unknown = isinstance(reply, ReplyUnknown)
    what = "the reply may or may not have been sent" if unknown else "the reply could not be sent"
    yield from failed(thread, reply.turn_id, f"{what}: {reply.error}"[:500], reply.reply_id, may_have_left=unknown)


def failed(
    thread: Thread, turn_id: UUID, reason: str, reply_id: UUID | None = None, *, may_have_left: bool = False
) -> Events:
    """The turn could not be answered: people are alerted, so that no customer meets silence."""
    if thread.turn is None or not is_open(thread, turn_id):
        return
    yield close_turn(thread, "failed", reason, reply_id, still_waits=not may_have_left)
    if thread.state == "escalated":
        yield ActionLogged(**about(thread, thread.turn.participant_id), action=REPLY_LOST, detail=reason)
    yield from escalate(thread, "system", reason, thread.turn.participant_id)


def acts(thread: Thread, draft: ReplyDrafted | SuggestionDrafted) -> Events:
    """What the agent did while it wrote, whatever becomes of that: what it noted is not taken back with it."""
    if thread.exists:
        for one in draft.acts:
            yield ActionLogged(
                **about(thread, draft.participant_id), action=one.action, detail=one.detail, trigger="ai"
            )


def suggested(thread: Thread, draft: SuggestionDrafted) -> Events:
    """What the agent looked up for a suggestion, and, while a person still has the thread, the answer as a note.

    Who asked for one sees it where they asked: what they do not use is nobody's note.
    """
    yield from acts(thread, draft)
    if thread.state == "escalated" and draft.text and not draft.by:
        yield note(thread, f"{SUGGESTED}\n\n{draft.text}", "agent", "ai", draft.turn_id)


def no_reply(thread: Thread, draft: ReplyDrafted) -> Events:
    """The agent decided that the mail needs no answer."""
    if not is_open(thread, draft.turn_id):
        return
    if _unproven(thread):
        reason = f"nothing proves who wrote, and the agent would not answer: {draft.reason}"
        yield close_turn(thread, "escalated", reason)
        yield from escalate(thread, "system", reason, draft.participant_id)
        return
    yield from goals_closed(goals_of(thread, draft.participant_id), draft.goals_close, thread)
    yield transition(thread, draft.state, "ai", draft.reason)
    yield close_turn(thread, "no_reply", draft.reason)


def sent(thread: Thread, reply: ReplySent) -> Events:
    """A reply left: now its goals and its state take effect."""
    whose, tokens = reply.participant_id, estimate_tokens(reply.text)
    if is_open(thread, reply.turn_id) and _unproven(thread):
        reply = reply.model_copy(update={"state": "awaiting_reply", "goals_add": (), "goals_close": ()})
    said = {"reply_id": reply.reply_id, "text": reply.text, "tokens": tokens, "replied_at": reply.happened_at}
    yield ReplyAttached(**about(thread, whose), **said, role="agent")
    yield from goals_closed(goals_of(thread, whose), reply.goals_close, thread)
    yield from goals_added(thread, reply.goals_add, whose, reply.reply_id)
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


def _unproven(thread: Thread) -> bool:
    """Whether nothing proves the author of the open turn."""
    return thread.turn is not None and not thread.turn.trusted


def resolved_by_hand(thread: Thread, source: UUID) -> Events:
    """A person says that the thread is resolved: what still waits, and the open turn, is theirs."""
    if thread.turn and thread.turn.kept:
        return
    rest = {one.mail_id for one in thread.pending}
    if thread.turn:
        yield close_turn(thread, "human_took_over", RESOLVED)
        rest -= set(thread.turn.mail_ids)
    if rest:
        left = tuple(one for one in thread.pending if one.mail_id in rest)
        yield from turns_by_hand(thread, source, left, RESOLVED)


def handed_back(thread: Thread) -> Events:
    """What follows a person's step out of `escalated`: where a colleague has answered all, the customer is next."""
    if thread.by_hand and not thread.pending and not thread.turn:
        yield from walk(replace(thread, state="in_progress"), "awaiting_reply", "system", COLLEAGUE)


def turns_by_hand(thread: Thread, source: UUID, answered: tuple[Pending, ...], reason: str) -> Events:
    """A turn of each author, closed at once as that of an imported mail: learned from, not answered by the agent."""
    for mails in by_author(answered):
        common = {
            "thread_id": thread.thread_id,
            "participant_id": mails[0].participant_id,
            "turn_id": uuid5(source, ",".join(str(one.mail_id) for one in mails)),
            "inbox": thread.inbox,
            "mail_ids": tuple(one.mail_id for one in mails),
            "trusted": mails[0].trusted,
        }
        yield TurnOpened(**common, mode="history", waiting_since=mails[0].at)
        yield TurnClosed(**common, outcome="human_took_over", reason=reason)
