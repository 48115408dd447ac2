"""What a customer says of an answer, by the link in it. Pure.

Invariants: each turn has one rating. It is changed for a day after it was first given, and `MOST_CHANGES` times at
most, so that whoever has a link makes a bounded number of events.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from schemas.events.ratings import RatingRequested, ReplyRated
from services.track_threads.states import Events, about
from services.track_threads.thread import Thread

CHANGED_FOR = timedelta(days=1)
MOST_CHANGES = 10


@dataclass(frozen=True, slots=True)
class Rated:
    """A reply that left, and the rating of its turn: None, None and 0 before there is one."""

    turn_id: UUID
    inbox: str
    good: bool | None = None
    comment: str = ""
    rated_at: datetime | None = None
    changes: int = 0

    def counts(self, now: datetime) -> bool:
        """Whether a rating of now counts."""
        if self.rated_at is None:
            return True
        return now < self.rated_at + CHANGED_FOR and self.changes < MOST_CHANGES

    def says(self, good: bool, comment: str) -> bool:
        """Whether that was said last."""
        return (self.good, self.comment) == (good, comment)


def rated(thread: Thread, asked: RatingRequested, reply: Rated | None, now: datetime) -> Events:
    """The rating, the first or another; nothing where it counts no more, or says the same."""
    if reply is None or not reply.counts(now) or reply.says(asked.good, asked.comment):
        return
    said = asked.model_dump(include={"reply_id", "good", "comment"})
    yield ReplyRated(**about(thread), **said, turn_id=reply.turn_id, inbox=reply.inbox)
