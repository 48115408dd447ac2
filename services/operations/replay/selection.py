"""Which of the past is replayed, and by which processors: from a topic to the processor where it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.mail import EmailRead, MailReceived
from schemas.events.memory import TurnReflected
from schemas.events.replies import MemoryLoaded, ReplyDiscarded, ReplyDrafted, ReplyFailed, ReplySent, ReplyUnknown
from schemas.events.suggestions import SuggestionAsked, SuggestionDrafted
from schemas.events.threads import ThreadTransitionRequested, TimerElapsed, TurnClosed, TurnFailed, TurnOpened
from services.core.errors import Permanent

STARTS: Mapping[str, tuple[type[EventData], ...]] = MappingProxyType(
    {
        "read_email": (MailReceived,),
        "track_threads": (
            EmailRead, TimerElapsed, ReplyDrafted, ReplySent, ReplyFailed, ReplyUnknown, ReplyDiscarded, TurnFailed,
            SuggestionDrafted, ThreadTransitionRequested,
        ),
        "load_memory": (TurnOpened, SuggestionAsked),
        "generate_reply": (MemoryLoaded,),
        "reflect": (TurnClosed,),
        "learn_facts": (EmailRead, ReplyDrafted, TurnReflected),
        "summarize_threads": (TurnReflected,),
    }
)  # fmt: skip
CHAINS = (
    ("read_email", "track_threads", "load_memory", "generate_reply"),
    ("reflect", "learn_facts"),
    ("reflect", "summarize_threads"),
)


class NotReplayable(Permanent):
    """The processor cannot be replayed."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which of the past is replayed; None filters nothing. `since` <= event time < `before`.

    With a `topic` its events are where it begins, and every processor on the way to `until` takes part. Without, only
    `until` does, with the context loaded again before it where `rebuild_context` says so. `processors` are they, in
    order. Raises `NotReplayable`, with the reason.
    """

    until: str = "generate_reply"
    rebuild_context: bool = False
    event: UUID | None = None
    thread: UUID | None = None
    participant: UUID | None = None
    since: datetime | None = None
    before: datetime | None = None
    topic: str = ""
    processors: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "processors", self._way())

    def _way(self) -> tuple[str, ...]:
        if self.until == "send_email":
            raise NotReplayable("send_email refuses replays: a replay sends no mail")
        if self.until not in STARTS:
            raise NotReplayable(f"{self.until!r} cannot be replayed; there are: {', '.join(STARTS)}")
        if self.topic:
            return self._from_topic()
        if self.rebuild_context and self.until == "generate_reply":
            return ("load_memory", "generate_reply")
        return (self.until,)

    @property
    def types(self) -> list[str]:
        """The types of the events that it begins with."""
        starts = STARTS[self.processors[0]]
        return [event.TYPE for event in starts if self.topic in ("", event.TOPIC)]

    def _from_topic(self) -> tuple[str, ...]:
        """The shortest way from the topic to `until`."""
        ways = [chain[: chain.index(self.until) + 1] for chain in (*CHAINS, (self.until,)) if self.until in chain]
        for length in range(1, max(map(len, ways)) + 1):
            for way in ways:
                if any(self.topic == event.TOPIC for event in STARTS[way[-length:][0]]):
                    return way[-length:]
        topics = sorted({event.TOPIC for way in ways for name in way for event in STARTS[name]})
        raise NotReplayable(f"no way leads from {self.topic!r} to {self.until}; there are: {', '.join(topics)}")
