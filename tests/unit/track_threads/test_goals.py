"""Goals are of the person they were agreed with, and end with the thread."""

from __future__ import annotations

from schemas.events.base import EventData
from schemas.events.threads import GoalAdded, GoalClosed
from services.track_threads import marks, turns
from services.track_threads.thread import Goal
from tests.unit.track_threads.threads import NOW, PERSON, draft, id_of, reply, thread, turn

ADDRESS = Goal(id_of("address"), "Confirm the address", PERSON, NOW)
BOBS = Goal(id_of("bobs"), "Confirm the address", id_of("bob"), NOW)


def ended(events: list[EventData]) -> list[object]:
    """The ids of the goals that were closed."""
    return [one.goal_id for one in events if isinstance(one, GoalClosed)]


def test_a_reply_closes_and_adds_goals_of_its_reader_alone() -> None:
    """Two people of a thread may have the same goal: each one's is reached by what is said to them."""
    before = thread(state="in_progress", turn=turn(), goals=(ADDRESS, BOBS))
    said = reply(goals_close=("confirm THE address",), goals_add=("Send the invoice", "send the invoice"))
    events = list(turns.sent(before, said))
    assert ended(events) == [ADDRESS.goal_id]
    added = [one for one in events if isinstance(one, GoalAdded)]
    assert [(one.text, one.participant_id) for one in added] == [("Send the invoice", PERSON)]


def test_needing_no_reply_may_reach_a_goal() -> None:
    """ "Here is the address" needs no answer, and the goal is closed."""
    before = thread(state="in_progress", turn=turn(), goals=(ADDRESS,))
    given = draft(goals_close=(str(ADDRESS.goal_id),), state="awaiting_reply")
    assert ended(list(turns.no_reply(before, given))) == [ADDRESS.goal_id]


def test_a_resolved_thread_has_no_open_goal() -> None:
    """Whoever resolves it: what is still open, also what was added in the same breath, ends with the thread."""
    before = thread(state="in_progress", turn=turn(), goals=(ADDRESS, BOBS))
    events: list[EventData] = list(
        turns.sent(before, reply(state="resolved", goals_add=("More",), goals_close=("confirm the address",)))
    )
    left = [one.goal_id for one in marks.goals_left(before, events)]
    added = [one.goal_id for one in events if isinstance(one, GoalAdded)]
    assert left == [BOBS.goal_id, *added]
    assert list(marks.goals_left(before, turns.sent(before, reply(state="awaiting_reply")))) == []
