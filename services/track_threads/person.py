"""What a person does in a thread themselves: answers it, asks for a suggestion, takes it over, assigns it. Pure.

Invariants
- A person's reply is a turn of its own, and a thread has one open turn: while it is on its way the agent writes
  nothing, and what the agent was writing is given up. Where that is at the server's door, the person's is refused.
- Once accepted, only what becomes of the reply ends its turn: a newer mail waits for the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from schemas.events.answers import Assigned, AssignmentRequested, ReplyAccepted, ReplyRefused, ReplyRequested
from schemas.events.replies import ReplyDiscarded, ReplySent
from schemas.events.suggestions import SuggestionAsked, SuggestionRequested
from schemas.events.threads import AppliedBehaviour, ReplyAttached, ThreadState, TurnOpened
from services.model.usage import estimate_tokens
from services.track_threads.states import Events, about, walk
from services.track_threads.thread import Pending, Thread
from services.track_threads.turns import close_turn, is_open


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a person's reply meets. `known`: it was accepted before; `mail` is what it answers, `came` what was said
    since the person looked, `unsettled` a reply of which nobody knows whether it was sent.
    """

    known: bool = False
    mail: Pending | None = None
    came: tuple[UUID, ...] = ()
    unsettled: UUID | None = None


NOTHING_KNOWN = Circumstances()


def turn_of(reply_id: UUID) -> UUID:
    """The turn that a person's reply is."""
    return uuid5(reply_id, "turn")


def suggestion_of(cause: UUID) -> UUID:
    """The conversation with the model that a request, or a mail, asks for."""
    return uuid5(cause, "suggestion")


def answered(thread: Thread, asked: ReplyRequested, circumstances: Circumstances) -> Events:
    """A person's reply: it is the thread's turn now, or it is refused. Asked for again, nothing more is said."""
    if circumstances.known:
        return
    refused = _refusal(thread, asked, circumstances)
    if refused or circumstances.mail is None:
        code, reason = refused or ("nobody", "no mail of this thread can be answered")
        came = circumstances.came if code == "newer" else ()
        yield ReplyRefused(**about(thread), reply_id=asked.reply_id, code=code, reason=reason, came=came, by=asked.by)
        return
    if thread.turn:
        yield close_turn(thread, "superseded", f"{asked.by} answers", answered_by=asked.by)
    yield from _accepted(thread, asked, circumstances.mail)


def _refusal(thread: Thread, asked: ReplyRequested, circumstances: Circumstances) -> tuple[str, str] | None:
    """Why the reply may not go, as a code and in words; `anyway` counts where it is the person's to judge."""
    if thread.turn and thread.turn.by:
        return "busy", f"a reply by {thread.turn.by} is on its way"
    if thread.turn and thread.turn.leaving:
        return "leaving", "the agent's reply is at the mail server already"
    if circumstances.unsettled and not asked.anyway:
        return "unsettled", f"nobody knows whether reply {circumstances.unsettled} was sent: settle it first"
    if circumstances.came and not asked.anyway:
        count = len(circumstances.came)
        one = "1 message has come since you looked"
        return "newer", one if count == 1 else f"{count} messages have come since you looked"
    return None


def _accepted(thread: Thread, asked: ReplyRequested, mail: Pending) -> Events:
    """The turn of all that waits of the author whom the person answers; others go on waiting."""
    mails = theirs(thread, mail)
    waiting = [one for one in mails if one in thread.pending]
    common = {
        "thread_id": thread.thread_id,
        "participant_id": mail.participant_id,
        "turn_id": turn_of(asked.reply_id),
        "inbox": thread.inbox,
        "mail_ids": tuple(one.mail_id for one in mails),
        "trusted": mail.trusted,
        "by": asked.by,
    }
    yield TurnOpened(**common, mode="history", waiting_since=(waiting or mails)[0].at)
    said = asked.model_dump(include={"reply_id", "text", "cc", "files", "with_quote", "then", "hold_s"})
    yield ReplyAccepted.model_validate({**common, **said})


def theirs(thread: Thread, mail: Pending) -> list[Pending]:
    """A mail with all that waits of its author, the oldest first."""
    found = {one.mail_id: one for one in (*thread.pending, mail) if one.author == mail.author}
    return sorted(found.values(), key=lambda one: one.at)


def suggestion(
    thread: Thread,
    asked: SuggestionRequested,
    mails: Sequence[Pending],
    cause: UUID,
    behaviours: tuple[AppliedBehaviour, ...],
) -> SuggestionAsked:
    """What the agent is asked for a person, with the operator's rules that hold; no turn opens for it."""
    return SuggestionAsked(
        turn_id=suggestion_of(cause),
        thread_id=thread.thread_id,
        participant_id=mails[-1].participant_id,
        inbox=thread.inbox,
        mail_ids=tuple(one.mail_id for one in mails),
        trusted=mails[-1].trusted,
        behaviours=behaviours,
        words=asked.words,
        by=asked.by,
    )


def left(thread: Thread, reply: ReplySent) -> Events:
    """A person's reply left: it is our word in the conversation, and the thread goes where the person wanted it."""
    said = {"text": reply.text, "tokens": estimate_tokens(reply.text), "replied_at": reply.happened_at}
    yield ReplyAttached(
        **about(thread, reply.participant_id), **said, reply_id=reply.reply_id, role="human", by=reply.by
    )
    if thread.turn is None or not is_open(thread, reply.turn_id):
        return
    others_wait = not {one.mail_id for one in thread.pending}.issubset(thread.turn.mail_ids)
    yield close_turn(thread, "human_took_over", f"{reply.by} answered", reply.reply_id)
    if reply.then == "keep" or (thread.state == "escalated" and not reply.then):
        yield from _kept(thread, reply.by, f"{reply.by} answered and keeps the thread")
        return
    to: ThreadState = "awaiting_reply"
    if others_wait:
        to = "in_progress"
    elif reply.then == "resolve":
        to = "resolved"
    yield from walk(thread, to, "human", f"{reply.by} answered")
    yield from handed_over(thread, f"{reply.by} answered")


def taken_back(thread: Thread, draft: ReplyDiscarded) -> Events:
    """A person's reply will not go; they have the thread, so that the agent does not answer in their place."""
    assert thread.turn is not None
    yield close_turn(thread, "superseded", draft.reason, draft.reply_id)
    yield from _kept(thread, thread.turn.by, draft.reason)


def assigned(thread: Thread, asked: AssignmentRequested) -> Events:
    """Somebody has the thread; taken over, the agent's turn ends, unless its reply is leaving."""
    reason = f"{asked.by}: {asked.reason}" if asked.reason else asked.by
    if not asked.take_over:
        yield from _assign(thread, asked.assignee, reason)
        return
    if thread.turn and not thread.turn.kept:
        yield close_turn(thread, "escalated", f"{asked.assignee} took the thread over")
    yield from _assign(thread, asked.assignee, reason)
    if thread.state != "escalated":
        yield from walk(thread, "escalated", "human", f"{asked.assignee} took the thread over: {reason}")


def handed_over(thread: Thread, reason: str) -> Events:
    """Who had the thread while the agent wrote nothing, has it no longer."""
    if thread.state == "escalated":
        yield from _assign(thread, "", reason)


def _kept(thread: Thread, by: str, reason: str) -> Events:
    """The thread is that person's, and the agent writes nothing."""
    if thread.state != "escalated" or not thread.assignee:
        yield from _assign(thread, by, reason)
    if thread.state != "escalated":
        yield from walk(thread, "escalated", "human", reason)


def _assign(thread: Thread, assignee: str, reason: str) -> Iterator[Assigned]:
    if assignee != thread.assignee:
        yield Assigned(**about(thread), assignee=assignee, reason=reason)
