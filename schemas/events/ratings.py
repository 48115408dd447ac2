"""What a customer says of an answer: good or bad, by a link in it. Each turn has one rating."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.threads import ThreadEvent


class RatingRequested(EventData):
    """Somebody with the link of a reply rates it; track_threads decides whether it still counts."""

    TYPE: ClassVar[str] = "thread.rating_requested.v1"
    TOPIC: ClassVar[str] = "thread-events"
    WORDS: ClassVar[frozenset[str]] = frozenset({"comment"})

    thread_id: UUID
    reply_id: UUID
    good: bool
    comment: str = ""


class ReplyRated(ThreadEvent):
    """A reply was rated, or rated again within a day of the first time."""

    TYPE: ClassVar[str] = "thread.reply_rated.v1"
    WORDS: ClassVar[frozenset[str]] = frozenset({"comment"})

    turn_id: UUID
    reply_id: UUID
    inbox: str
    good: bool
    comment: str = ""
