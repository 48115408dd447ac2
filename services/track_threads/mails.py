"""What a mail does to its thread: a customer's, an imported one, a report about one of ours, a colleague's. Pure.

A colleague who answers by hand joins the conversation, and the agent does not answer that again. Each function gives
its events in the order in which they are applied.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from schemas.events.mail import EmailRead
from schemas.events.suggestions import SuggestionAsked
from schemas.events.threads import (
    MAIL_WAITS,
    ActionLogged,
    AppliedBehaviour,
    BounceNoted,
    MailAttached,
    ReplyAttached,
    ThreadLinked,
    ThreadOpened,
    TurnClosed,
    TurnOpened,
)
from services.model.usage import estimate_tokens
from services.track_threads.person import suggestion_of
from services.track_threads.states import Events, about, escalate, transition, walk
from services.track_threads.thread import Pending, Thread
from services.track_threads.turns import COLLEAGUE, close_turn, turns_by_hand

OLDEST = timedelta(days=1)


def attach(thread: Thread, mail: EmailRead) -> Events:
    """A customer's mail comes into the thread."""
    if not thread.exists:
        yield ThreadOpened(**about(thread), inbox=mail.inbox, subject=mail.subject)
    if mail.linked_from and not thread.linked:  # a later mail may show two threads to be one conversation
        yield ThreadLinked(**about(thread), linked_from=mail.linked_from)
    yield MailAttached(
        **about(thread),
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
        yield ActionLogged(**about(thread, mail.participant_id), action=MAIL_WAITS, detail=mail.subject)
    if thread.turn and not thread.turn.kept:
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
        **about(thread), mail_id=mail.mail_id, kind=mail.report.kind, diagnostic=mail.report.diagnostic[:500]
    )
    if mail.report.kind in ("hard", "complaint"):
        what = "our mail came back" if mail.report.kind == "hard" else "the reader complained about our mail"
        yield from escalate(thread, "system", f"{what}: {mail.report.diagnostic or mail.report.status}"[:500])


def suggestion(mail: EmailRead, cause: UUID, behaviours: tuple[AppliedBehaviour, ...] = ()) -> SuggestionAsked:
    """The question, with the operator's rules that hold for the mail; no turn opens for it."""
    return SuggestionAsked(
        turn_id=suggestion_of(cause),
        thread_id=mail.thread_id,
        participant_id=mail.participant_id,
        inbox=mail.inbox,
        mail_ids=(mail.mail_id,),
        trusted=mail.identity.trusted,
        behaviours=behaviours,
    )


def took_over(thread: Thread, mail: EmailRead, now: datetime, *, known: bool = False) -> Events:
    """What a colleague's mail changes. Customers' mails that came after it was written go on waiting.

    A mail that the colleague's names was there when they wrote, whenever we read it; one that is `known` stands in
    the conversation already. Where our own reply is leaving already, or another person's is, both
    were sent, and the turn ends with that. An
    escalated thread stays so until a person hands it back.
    """
    if not thread.exists:
        return
    ids = {"thread_id": thread.thread_id, "participant_id": thread.participant_id}
    text = {"text": mail.text, "tokens": estimate_tokens(mail.text), "replied_at": written_at(mail, now)}
    if not known:
        yield ReplyAttached(**ids, **text, reply_id=mail.mail_id, role="human", mode=mail.mode)
    if mail.mode == "history" or (thread.turn and thread.turn.kept):
        return
    answered = _answered(thread.pending, mail, now)
    if known and not answered:
        return
    rest = {one.mail_id for one in answered}
    if thread.turn:
        whole = rest.issuperset(thread.turn.mail_ids)
        yield close_turn(thread, "human_took_over" if whole else "superseded", COLLEAGUE)
        rest -= set(thread.turn.mail_ids) if whole else set()
    if rest:
        left = tuple(one for one in answered if one.mail_id in rest)
        yield from turns_by_hand(thread, mail.mail_id, left, COLLEAGUE)
    if thread.state in ("new", "in_progress") and len(answered) == len(thread.pending):
        yield from walk(thread, "awaiting_reply", "human", COLLEAGUE)


def written_at(mail: EmailRead, now: datetime) -> datetime:
    """When the colleague wrote: the mail's Date where that can be, else now."""
    return mail.sent_at if mail.sent_at and now - OLDEST <= mail.sent_at <= now else now


def _answered(pending: tuple[Pending, ...], mail: EmailRead, now: datetime) -> tuple[Pending, ...]:
    named, written = {*mail.in_reply_to, *mail.references}, written_at(mail, now)
    return tuple(one for one in pending if one.message_id in named or one.at <= written)
