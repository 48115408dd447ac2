"""Priority, tags, notes and goals of a thread: the events where a request changes anything. Pure.

Invariants
- A goal is of the person it was agreed with: what is agreed with one person of a thread is neither shown to another
  nor closed by them; our own people see and close all of them.
- A thread that is resolved has no open goal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from uuid import UUID, uuid5

from schemas.events.base import EventData
from schemas.events.marks import EntitiesNoted, NoteAdded, Priority, PrioritySet, TagsChanged, ThreadMarksRequested
from schemas.events.replies import ReplyDrafted
from schemas.events.threads import GoalAdded, GoalClosed, StateChanged, Trigger
from services.track_threads.states import Events, about
from services.track_threads.thread import Goal, Thread

MOST_TAGS = 20


def prioritise(thread: Thread, priority: Priority, trigger: Trigger, reason: str) -> Events:
    """Another priority; nothing where it is that already."""
    if priority != thread.priority:
        yield PrioritySet(
            **about(thread), from_priority=thread.priority, to_priority=priority, trigger=trigger, reason=reason
        )


def retag(thread: Thread, add: Iterable[str], remove: Iterable[str], trigger: Trigger, reason: str) -> Events:
    """Tags on and off; nothing where the thread has them so already. A thread has at most `MOST_TAGS`."""
    gone = thread.tags & set(remove)
    new = sorted(set(add) - thread.tags - set(remove))[: MOST_TAGS - len(thread.tags - gone)]
    if new or gone:
        yield TagsChanged(
            **about(thread), added=tuple(new), removed=tuple(sorted(gone)), trigger=trigger, reason=reason
        )


def note(
    thread: Thread, text: str, by: str, trigger: Trigger, source: UUID, mentions: tuple[str, ...] = ()
) -> NoteAdded:
    """A note; the same source gives the same note."""
    said = {"by": by, "trigger": trigger, "text": text, "mentions": mentions}
    return NoteAdded(**about(thread), note_id=uuid5(source, "note"), **said)


def entities_noted(thread: Thread, draft: ReplyDrafted, until: datetime) -> Events:
    """What the agent keeps in mind of a proven author whom it answers, whatever becomes of the draft."""
    if thread.exists and draft.trusted and draft.entities and draft.participant_id:
        yield EntitiesNoted(**about(thread, draft.participant_id), entities=draft.entities, until=until)


def requested(thread: Thread, asked: ThreadMarksRequested, source: UUID) -> Events:
    """What a person asked for."""
    reason = f"{asked.by}: {asked.reason}" if asked.reason else asked.by
    if asked.priority:
        yield from prioritise(thread, asked.priority, "human", reason)
    yield from retag(thread, asked.add_tags, asked.remove_tags, "human", reason)
    yield from goals_closed(thread.goals, asked.close_goals, thread)
    yield from goals_added(thread, asked.add_goals, thread.participant_id, source)
    if asked.note.strip():
        yield note(thread, asked.note.strip(), asked.by, asked.note_trigger, source, asked.mentions)


def goals_added(thread: Thread, texts: Iterable[str], whose: UUID | None, source: UUID) -> Iterator[GoalAdded]:
    """New goals with a person; one that is open with them already is not added again."""
    known = {goal.text.casefold() for goal in thread.goals if goal.participant_id == whose}
    for text in texts:
        if text.casefold() not in known:
            known.add(text.casefold())
            goal_id = uuid5(source, text)
            yield GoalAdded(thread_id=thread.thread_id, participant_id=whose, goal_id=goal_id, text=text)


def goals_closed(goals: Iterable[Goal], named: Collection[str], thread: Thread) -> Iterator[GoalClosed]:
    """The end of those of `goals` that are named, by their text or id."""
    wanted = {one.casefold() for one in named}
    for goal in goals:
        if goal.text.casefold() in wanted or str(goal.goal_id) in wanted:
            yield _end(thread, goal.goal_id, goal.participant_id)


def goals_of(thread: Thread, whose: UUID | None) -> tuple[Goal, ...]:
    """The open goals with one person."""
    return tuple(goal for goal in thread.goals if goal.participant_id == whose)


def goals_left(thread: Thread, decided: Iterable[EventData]) -> Iterator[GoalClosed]:
    """What is still open when the thread is resolved by what was decided, and so ends with it."""
    left = {goal.goal_id: goal.participant_id for goal in thread.goals}
    resolved = False
    for event in decided:
        if isinstance(event, GoalAdded):
            left[event.goal_id] = event.participant_id
        elif isinstance(event, GoalClosed):
            left.pop(event.goal_id, None)
        elif isinstance(event, StateChanged):
            resolved = event.to_state == "resolved"
    if resolved:
        yield from (_end(thread, goal_id, whose) for goal_id, whose in left.items())


def _end(thread: Thread, goal_id: UUID, whose: UUID | None) -> GoalClosed:
    return GoalClosed(thread_id=thread.thread_id, participant_id=whose, goal_id=goal_id)
