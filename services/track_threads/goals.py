"""Goals of a thread: what is to be reached in it, with whom. Pure.

Invariants
- A goal is of the person it was agreed with: what is agreed with one person of a thread is neither shown to another
  nor closed by them; our own people see and close all of them.
- A thread that is resolved has no open goal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from uuid import UUID, uuid5

from schemas.events.base import EventData
from schemas.events.threads import GoalAdded, GoalClosed, StateChanged
from services.track_threads.thread import Goal, Thread


def added(thread: Thread, texts: Iterable[str], whose: UUID | None, source: UUID) -> Iterator[GoalAdded]:
    """New goals with a person; one that is open with them already is not added again."""
    known = {goal.text.casefold() for goal in thread.goals if goal.participant_id == whose}
    for text in texts:
        if text.casefold() not in known:
            known.add(text.casefold())
            goal_id = uuid5(source, text)
            yield GoalAdded(thread_id=thread.thread_id, participant_id=whose, goal_id=goal_id, text=text)


def closed(goals: Iterable[Goal], named: Collection[str], thread: Thread) -> Iterator[GoalClosed]:
    """The end of those of `goals` that are named, by their text or id."""
    wanted = {one.casefold() for one in named}
    for goal in goals:
        if goal.text.casefold() in wanted or str(goal.goal_id) in wanted:
            yield _end(thread, goal.goal_id, goal.participant_id)


def of(thread: Thread, whose: UUID | None) -> tuple[Goal, ...]:
    """The open goals with one person."""
    return tuple(goal for goal in thread.goals if goal.participant_id == whose)


def settled(thread: Thread, decided: Iterable[EventData]) -> Iterator[GoalClosed]:
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
