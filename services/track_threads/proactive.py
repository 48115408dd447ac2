"""A draft of ours that no mail asked for: it takes the thread's turn where nobody is being answered. Pure.

It leaves the thread's state as it is, and waits for a person. Where one has the thread, its text is a note for them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from schemas.events.proactive import DraftRefused, DraftRequested
from schemas.events.replies import ReplyDrafted
from schemas.events.threads import TurnOpened
from services.track_threads.marks import note
from services.track_threads.states import Events, about
from services.track_threads.thread import Pending, Thread

AGENT = "agent"


def turn_of(reply_id: UUID) -> UUID:
    """The turn that such a draft is."""
    return uuid5(reply_id, "turn")


def requested(thread: Thread, asked: DraftRequested, mail: Pending | None, now: datetime) -> Events:
    """The draft as the thread's turn, or why there is none; `mail` is the customer's newest proven one there."""
    refused = _refusal(thread, mail)
    if refused or mail is None:
        code, reason = refused or NOBODY
        whom = about(thread, asked.participant_id)
        yield DraftRefused(**whom, reply_id=asked.reply_id, code=code, reason=reason)
        if code == "person":
            yield note(thread, f"{asked.reason}:\n\n{asked.text}", AGENT, "system", asked.reply_id)
        return
    common = {
        "thread_id": thread.thread_id,
        "participant_id": mail.participant_id,
        "turn_id": turn_of(asked.reply_id),
        "inbox": thread.inbox,
        "mail_ids": (mail.mail_id,),
        "trusted": True,
    }
    yield TurnOpened(**common, mode="history", waiting_since=now)
    said: dict[str, Any] = {"text": asked.text, "reason": asked.reason, "state": thread.state, "approval": "review"}
    said |= {"proactive": True, "unsubscribe": asked.unsubscribe}
    yield ReplyDrafted.model_validate({**common, **said, "reply_id": asked.reply_id, "decision": "reply"})


NOBODY = ("nobody", "no mail of theirs in this thread is proven to be theirs")


def _refusal(thread: Thread, mail: Pending | None) -> tuple[str, str] | None:
    if thread.state == "escalated":
        return "person", "a person has the thread: the text is a note there"
    if thread.turn:
        return "busy", "a reply is on its way in this thread"
    if thread.pending:
        return "waits", "a mail of this thread waits for an answer"
    return None if mail else NOBODY
