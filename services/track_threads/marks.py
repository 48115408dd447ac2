"""Priority, tags, notes and goals of a thread. Pure: who wants what, and the events where that changes anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID, uuid5

from schemas.events.marks import NoteAdded, Priority, PrioritySet, TagsChanged, ThreadMarksRequested
from schemas.events.threads import Trigger
from services.track_threads import goals
from services.track_threads.decide_steps import Events
from services.track_threads.thread import Thread

MOST_TAGS = 20


def prioritise(thread: Thread, priority: Priority, trigger: Trigger, reason: str) -> Events:
    """Another priority; nothing where it is that already."""
    if priority != thread.priority:
        yield PrioritySet(
            **_of(thread), from_priority=thread.priority, to_priority=priority, trigger=trigger, reason=reason
        )


def retag(thread: Thread, add: Iterable[str], remove: Iterable[str], trigger: Trigger, reason: str) -> Events:
    """Tags on and off; nothing where the thread has them so already. A thread has at most `MOST_TAGS`."""
    gone = thread.tags & set(remove)
    new = sorted(set(add) - thread.tags - set(remove))[: MOST_TAGS - len(thread.tags - gone)]
    if new or gone:
        yield TagsChanged(**_of(thread), added=tuple(new), removed=tuple(sorted(gone)), trigger=trigger, reason=reason)


def with_tags(thread: Thread, tags: frozenset[str]) -> Thread:
    """The thread as it is with other tags."""
    return replace(thread, tags=tags)


def note(thread: Thread, text: str, by: str, trigger: Trigger, source: UUID) -> NoteAdded:
    """A note; the same source gives the same note."""
    return NoteAdded(**_of(thread), note_id=uuid5(source, "note"), by=by, trigger=trigger, text=text)


def requested(thread: Thread, command: ThreadMarksRequested, source: UUID) -> Events:
    """What a person asked for."""
    reason = f"{command.by}: {command.reason}" if command.reason else command.by
    if command.priority:
        yield from prioritise(thread, command.priority, "human", reason)
    yield from retag(thread, command.add_tags, command.remove_tags, "human", reason)
    yield from goals.closed(thread.goals, command.close_goals, thread)
    yield from goals.added(thread, command.add_goals, thread.participant_id, source)
    if command.note.strip():
        yield note(thread, command.note.strip(), command.by, "human", source)


def _of(thread: Thread) -> dict[str, UUID | None]:
    return {"thread_id": thread.thread_id, "participant_id": thread.participant_id}
