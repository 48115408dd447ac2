"""Pure decisions about what became of a draft: sent, not needed, discarded.

Nothing here reads a table or a clock. Each function gives the events in the order in which they are applied. A turn
whose author is not proven proposes nothing: whatever a draft says, it changes no goal and resolves no thread.
"""

from __future__ import annotations

from schemas.events.replies import ReplyDiscarded, ReplyDrafted, ReplySent
from schemas.events.suggestions import SuggestionDrafted
from schemas.events.threads import ActionLogged, ReplyAttached
from services.model.usage import estimate_tokens
from services.track_threads import goals
from services.track_threads.decide_steps import Events, about, escalate, transition
from services.track_threads.decide_turns import close_turn, is_open
from services.track_threads.thread import Thread


def acts(thread: Thread, draft: ReplyDrafted | SuggestionDrafted) -> Events:
    """What the agent did while it wrote, whatever becomes of that: what it noted is not taken back with it."""
    if thread.exists:
        for one in draft.acts:
            yield ActionLogged(
                **about(thread, draft.participant_id), action=one.action, detail=one.detail, trigger="ai"
            )


def no_reply(thread: Thread, draft: ReplyDrafted) -> Events:
    """The agent decided that the mail needs no answer."""
    if not is_open(thread, draft.turn_id):
        return
    if _unproven(thread):
        reason = f"nothing proves who wrote, and the agent would not answer: {draft.reason}"
        yield close_turn(thread, "escalated", reason)
        yield from escalate(thread, "system", reason, draft.participant_id)
        return
    yield from goals.closed(goals.of(thread, draft.participant_id), draft.goals_close, thread)
    yield transition(thread, draft.state, "ai", draft.reason)
    yield close_turn(thread, "no_reply", draft.reason)


def sent(thread: Thread, reply: ReplySent) -> Events:
    """A reply left: now its goals and its state take effect."""
    whose, tokens = reply.participant_id, estimate_tokens(reply.text)
    if is_open(thread, reply.turn_id) and _unproven(thread):
        reply = reply.model_copy(update={"state": "awaiting_reply", "goals_add": (), "goals_close": ()})
    said = {"reply_id": reply.reply_id, "text": reply.text, "tokens": tokens, "replied_at": reply.happened_at}
    yield ReplyAttached(**about(thread, whose), **said, role="agent")
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


def _unproven(thread: Thread) -> bool:
    """Whether nothing proves the author of the open turn."""
    return thread.turn is not None and not thread.turn.trusted
