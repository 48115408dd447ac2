"""A colleague answered by hand: what they wrote joins the conversation, and the agent does not answer that again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID, uuid5

from schemas.events.mail import EmailRead
from schemas.events.threads import ReplyAttached, TurnClosed, TurnOpened
from services.model.usage import estimate_tokens
from services.track_threads.decide_steps import Events, walk
from services.track_threads.decide_turns import close_turn
from services.track_threads.thread import Pending, Thread, by_author

WHY = "a colleague answered"
RESOLVED = "a person resolved the thread"
OLDEST = timedelta(days=1)


def took_over(thread: Thread, mail: EmailRead, now: datetime, *, known: bool = False) -> Events:
    """What a colleague's mail changes. Customers' mails that came after it was written go on waiting.

    A mail that the colleague's names was there when they wrote, whenever we read it; one that is `known` stands in
    the conversation already. Where our own reply is leaving already, both were sent, and the turn ends with ours. An
    escalated thread stays so until a person hands it back.
    """
    if not thread.exists:
        return
    ids = {"thread_id": thread.thread_id, "participant_id": thread.participant_id}
    text = {"text": mail.text, "tokens": estimate_tokens(mail.text), "replied_at": written_at(mail, now)}
    if not known:
        yield ReplyAttached(**ids, **text, reply_id=mail.mail_id, role="human", mode=mail.mode)
    if mail.mode == "history" or (thread.turn and thread.turn.leaving):
        return
    answered = _answered(thread.pending, mail, now)
    if known and not answered:
        return
    rest = {one.mail_id for one in answered}
    if thread.turn:
        whole = rest.issuperset(thread.turn.mail_ids)
        yield close_turn(thread, "human_took_over" if whole else "superseded", WHY)
        rest -= set(thread.turn.mail_ids) if whole else set()
    if rest:
        left = tuple(one for one in answered if one.mail_id in rest)
        yield from _turns_by_hand(thread, mail.mail_id, left, WHY)
    if thread.state in ("new", "in_progress") and len(answered) == len(thread.pending):
        yield from walk(thread, "awaiting_reply", "human", WHY)


def written_at(mail: EmailRead, now: datetime) -> datetime:
    """When the colleague wrote: the mail's Date where that can be, else now."""
    return mail.sent_at if mail.sent_at and now - OLDEST <= mail.sent_at <= now else now


def _answered(pending: tuple[Pending, ...], mail: EmailRead, now: datetime) -> tuple[Pending, ...]:
    named, written = {*mail.in_reply_to, *mail.references}, written_at(mail, now)
    return tuple(one for one in pending if one.message_id in named or one.at <= written)


def done_by_hand(thread: Thread, source: UUID) -> Events:
    """A person says that the thread is resolved: what still waits, and the open turn, is theirs."""
    if thread.turn and thread.turn.leaving:
        return
    rest = {one.mail_id for one in thread.pending}
    if thread.turn:
        yield close_turn(thread, "human_took_over", RESOLVED)
        rest -= set(thread.turn.mail_ids)
    if rest:
        left = tuple(one for one in thread.pending if one.mail_id in rest)
        yield from _turns_by_hand(thread, source, left, RESOLVED)


def handed_back(thread: Thread) -> Events:
    """What follows a person's step out of `escalated`: where a colleague has answered all, the customer is next."""
    if thread.by_hand and not thread.pending and not thread.turn:
        yield from walk(replace(thread, state="in_progress"), "awaiting_reply", "system", WHY)


def _turns_by_hand(thread: Thread, source: UUID, answered: tuple[Pending, ...], reason: str) -> Events:
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
