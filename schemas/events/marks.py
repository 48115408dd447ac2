"""What is put on a thread beside its mails: priority, tags, notes and deadlines. All carry the thread's version."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from schemas.events.base import EventData
from schemas.events.replies import Entity
from schemas.events.threads import ThreadEvent, Trigger

Priority = Literal["low", "normal", "high", "urgent"]
Tag = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_:-]{0,39}$")]
_ONE_LINE = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$"
GoalText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300, pattern=_ONE_LINE)]
DeadlineKind = Literal["first_response", "next_response", "resolution"]
DeadlineStatus = Literal["running", "paused", "met", "missed", "dropped", "breached"]


class PrioritySet(ThreadEvent):
    """The thread's priority changed, which its deadlines follow."""

    TYPE: ClassVar[str] = "thread.priority_set.v1"

    from_priority: Priority
    to_priority: Priority
    trigger: Trigger
    reason: str


class TagsChanged(ThreadEvent):
    """Tags were put on the thread or taken off: only those that changed."""

    TYPE: ClassVar[str] = "thread.tags_changed.v1"

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    trigger: Trigger
    reason: str


class NoteAdded(ThreadEvent):
    """A note for people, never sent: a colleague's, or what the agent suggests while a person has the thread."""

    TYPE: ClassVar[str] = "thread.note_added.v1"
    WORDS: ClassVar[frozenset[str]] = frozenset({"text"})

    note_id: UUID
    by: str
    trigger: Trigger
    text: str
    mentions: tuple[str, ...] = Field((), description="names of colleagues whom it asks to look")


class EntitiesNoted(ThreadEvent):
    """What the agent keeps in mind of a person's matter in this thread, until a moment; an empty value ends one."""

    TYPE: ClassVar[str] = "thread.entities_noted.v1"
    WORDS: ClassVar[frozenset[str]] = frozenset({"entities"})

    entities: tuple[Entity, ...]
    until: datetime


class DeadlineChanged(ThreadEvent):
    """One of the thread's deadlines began, paused, went on, was met, was missed, was dropped or was breached.

    `breached`: it has passed, and what it is about has not come. `missed`: that came, too late.
    """

    TYPE: ClassVar[str] = "thread.deadline_changed.v1"

    kind: DeadlineKind
    status: DeadlineStatus
    since: datetime = Field(description="when the clock began: for a response, when the oldest unanswered mail came")
    allowed_s: float = Field(description="the time that the service level allows, in seconds of office hours")
    due_at: datetime | None = Field(None, description="while it is running or breached: when it is, or was, due")
    left_s: float | None = Field(None, description="while it is paused: what is left, in seconds of office hours")
    priority: Priority = "normal"
    reason: str = ""
    ended_at: datetime | None = Field(None, description="once it is met or missed: when what it is about came")


class ThreadMarksRequested(EventData):
    """A person asks for a priority, for tags or goals, or leaves a note; track_threads decides."""

    TYPE: ClassVar[str] = "thread.marks_requested.v1"
    TOPIC: ClassVar[str] = "thread-events"

    thread_id: UUID
    priority: Priority | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    add_goals: tuple[str, ...] = ()
    close_goals: tuple[str, ...] = Field((), description="texts or ids of open goals")
    note: str = ""
    mentions: tuple[str, ...] = Field((), description="names of colleagues whom the note asks to look")
    note_trigger: Trigger = Field("human", description="whose note it is: `ai` where an investigation leaves it")
    reason: str = ""
    by: str
