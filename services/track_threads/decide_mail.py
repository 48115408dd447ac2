"""Pure decisions about a mail that came into a thread: a customer's, an imported one, a report of one of ours.

Nothing here reads a table or a clock. Each function gives the events in the order in which they are applied.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid5

from schemas.events.mail import EmailRead
from schemas.events.threads import (
    MAIL_WAITS,
    ActionLogged,
    BounceNoted,
    MailAttached,
    ThreadLinked,
    ThreadOpened,
    TurnClosed,
    TurnOpened,
)
from services.model.usage import estimate_tokens
from services.track_threads.decide_steps import Events, about, escalate, transition, walk
from services.track_threads.decide_turns import close_turn
from services.track_threads.thread import Thread


def attach(thread: Thread, mail: EmailRead) -> Events:
    """A customer's mail comes into the thread."""
    if not thread.exists:
        yield ThreadOpened(**about(thread), inbox=mail.inbox, subject=mail.subject)
        if mail.linked_from:
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
        **about(thread), mail_id=mail.mail_id, kind=mail.report.kind, diagnostic=mail.report.diagnostic[:500]
    )
    if mail.report.kind in ("hard", "complaint"):
        what = "our mail came back" if mail.report.kind == "hard" else "the reader complained about our mail"
        yield from escalate(thread, "system", f"{what}: {mail.report.diagnostic or mail.report.status}"[:500])
