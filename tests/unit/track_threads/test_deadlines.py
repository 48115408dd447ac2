"""Deadlines: when a thread's clocks begin, stand still, go on and end, and what a breach does."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from schemas.events.base import EventData
from schemas.events.marks import DeadlineChanged
from schemas.events.threads import ActionLogged, ReplyAttached, TimerElapsed, TurnClosed
from services.core.settings import OfficeHours, ServiceLevels, Settings
from services.track_threads import mails, marks, states, turns
from services.track_threads.deadlines import Terms, breached, follow, terms_of
from services.track_threads.mails import took_over
from services.track_threads.thread import Deadline, Thread
from tests.unit.track_threads.threads import (
    NOW,
    draft,
    evolved,
    id_of,
    kinds,
    mail,
    moves,
    pending,
    reply,
    thread,
    turn,
)

HOUR = timedelta(hours=1)
TERMS = Terms(
    ServiceLevels.model_validate(
        {
            "normal": {"first_response_hours": 4, "next_response_hours": 8, "resolution_hours": 48},
            "urgent": {"first_response_hours": 1, "next_response_hours": 1, "resolution_hours": 8},
        }
    ),
    OfficeHours(),
)


def deadline(kind: str = "first_response", status: str = "running", hours: float = 4, **given: Any) -> Deadline:
    fields: dict[str, Any] = {"since": NOW, "allowed": hours * HOUR, "priority": "normal", "due_at": NOW + hours * HOUR}
    return Deadline(kind=kind, status=status, **{**fields, **given})  # type: ignore[arg-type]


def fired(at: datetime = NOW + 4 * HOUR) -> TimerElapsed:
    """The timer of the first response."""
    before = thread()
    timer_id = before.deadline_timer("first_response")
    return TimerElapsed(timer_id=timer_id, thread_id=before.thread_id, purpose="sla", due_at=at)


def clocks(changes: list[DeadlineChanged]) -> list[tuple[str, str]]:
    return [(one.kind, one.status) for one in changes]


def after(before: Thread, events: list[EventData], now: datetime = NOW) -> list[DeadlineChanged]:
    return follow(before, events, now, TERMS)


def test_a_first_mail_starts_the_clocks() -> None:
    """With the first live mail the first response and the resolution are due, counted from that mail."""
    before = thread(exists=False)
    first, resolution = after(before, list(mails.attach(before, mail())))
    assert (first.kind, first.status, first.since, first.due_at) == ("first_response", "running", NOW, NOW + 4 * HOUR)
    assert (resolution.kind, resolution.due_at) == ("resolution", NOW + 48 * HOUR)


def test_a_mail_for_a_human_starts_them_too() -> None:
    """Who is not answered by the agent waits all the same."""
    before = thread(exists=False)
    assert clocks(after(before, list(mails.attach(before, mail(kind="human")))))[0] == (
        "first_response",
        "running",
    )


def test_imported_mail_has_no_clock() -> None:
    """History is learned from: neither the mail nor the turn that is closed with it starts or ends a clock."""
    old = mail("old", mode="history", sent_at=NOW)
    before = thread(exists=False)
    attached = list(mails.attach(before, old))
    assert after(before, [*attached, *mails.history(evolved(before, attached), old)]) == []
    escalated = thread(state="escalated", deadlines=(deadline(),))
    assert after(escalated, [*mails.attach(escalated, old), *mails.history(escalated, old)]) == []
    colleague = mail("sent", kind="colleague", mode="history", sent_at=NOW)
    assert after(thread(deadlines=(deadline(),)), list(took_over(thread(), colleague, NOW))) == []


def test_where_nothing_is_promised_nothing_is_due() -> None:
    """By default there are no service levels, and no mail starts a clock."""
    before = thread(exists=False)
    assert follow(before, list(mails.attach(before, mail())), NOW, Terms(ServiceLevels(), OfficeHours())) == []


def test_a_superseded_turn_keeps_the_clock_of_the_oldest_mail() -> None:
    """A newer mail replaces the turn and not the deadline: that of the oldest unanswered mail stands."""
    before = thread(state="in_progress", turn=turn(), pending=(pending(),), deadlines=(deadline(),))
    events = list(mails.attach(before, mail("next")))
    assert [one.outcome for one in events if isinstance(one, TurnClosed)] == ["superseded"]
    assert clocks(after(before, events, NOW + HOUR)) == [("resolution", "running")]


def test_a_reply_meets_the_response_and_pauses_the_resolution() -> None:
    """Once we answered and wait for the customer, nobody is late; what is left of the resolution is kept."""
    before = thread(
        state="in_progress",
        turn=turn(),
        pending=(pending(),),
        deadlines=(deadline(), deadline("resolution", hours=48)),
    )
    events = list(turns.sent(before, reply(state="awaiting_reply")))
    met, paused = after(before, events, NOW + 2 * HOUR)
    assert (met.kind, met.status, met.due_at) == ("first_response", "met", None)
    assert (paused.kind, paused.status, paused.left_s) == ("resolution", "paused", (46 * HOUR).total_seconds())


def test_the_next_mail_lets_the_resolution_go_on() -> None:
    """A customer's answer starts the next response, and the resolution goes on with what was left of it."""
    before = thread(
        state="awaiting_reply",
        answered=True,
        deadlines=(
            deadline(status="met", due_at=None),
            deadline("resolution", "paused", 48, due_at=None, left=46 * HOUR),
        ),
    )
    later = NOW + timedelta(days=3)
    response, resolution = after(before, list(mails.attach(before, mail("next"))), later)
    assert (response.kind, response.due_at) == ("next_response", later + 8 * HOUR)
    assert (resolution.kind, resolution.status, resolution.due_at) == ("resolution", "running", later + 46 * HOUR)
    assert resolution.since == NOW


def test_a_mail_that_came_while_the_reply_was_leaving_waits_on_its_own_clock() -> None:
    """The reply did not cover it: the next response counts from that mail, not from our reply."""
    late = pending("late", at=NOW + HOUR)
    before = thread(
        state="in_progress", turn=turn(leaving=True), pending=(pending(), late), deadlines=(deadline(hours=4),)
    )
    changes = after(before, list(turns.sent(before, reply(state="in_progress"))), NOW + 2 * HOUR)
    assert clocks(changes) == [("first_response", "met"), ("next_response", "running")]
    assert (changes[1].since, changes[1].due_at) == (NOW + HOUR, NOW + 9 * HOUR)


def test_a_colleagues_answer_counts_as_ours() -> None:
    """Whoever answers the customer keeps the deadline."""
    before = thread(state="in_progress", turn=turn(), pending=(pending(),), deadlines=(deadline(),))
    sent = mail("by hand", kind="colleague", sent_at=NOW)
    changes = after(before, list(took_over(before, sent, NOW)))
    assert clocks(changes)[0] == ("first_response", "met")


def test_thanks_needs_no_response() -> None:
    """`no_reply_needed` ends the clock of the response, and resolving that of the resolution."""
    before = thread(
        state="in_progress",
        turn=turn(),
        pending=(pending(),),
        deadlines=(deadline("next_response"), deadline("resolution")),
    )
    changes = after(before, list(turns.no_reply(before, draft())))
    assert sorted(clocks(changes)) == [("next_response", "met"), ("resolution", "met")]


def test_a_thread_that_a_person_resolves_owes_no_response() -> None:
    """Resolved without an answer: the resolution is met, the response dropped, with the reason."""
    before = thread(state="in_progress", pending=(pending(),), deadlines=(deadline(), deadline("resolution")))
    changes = after(before, [states.transition(before, "resolved", "human", "grace: settled by telephone")])
    assert clocks(changes) == [("resolution", "met"), ("first_response", "dropped")]


@pytest.mark.parametrize("outcome", ["failed", "escalated"])
def test_a_turn_without_an_answer_keeps_nobody_from_waiting(outcome: str) -> None:
    """A failure or an escalation is no answer: the clock runs on for the person who has the thread now."""
    before = thread(state="in_progress", turn=turn(), pending=(pending(),), deadlines=(deadline(),))
    closed = turns.close_turn(before, outcome, "no answer")  # type: ignore[arg-type]
    assert after(before, [closed, *states.escalate(before, "system", "no answer")]) == []


def test_a_closed_thread_that_is_taken_up_again_is_promised_anew() -> None:
    """A customer who comes back after the thread was resolved starts new clocks."""
    before = thread(state="resolved", answered=True, deadlines=(deadline("resolution", "met", due_at=None),))
    changes = after(before, list(mails.attach(before, mail("again"))), NOW + timedelta(days=9))
    assert clocks(changes) == [("next_response", "running"), ("resolution", "running")]
    assert {one.since for one in changes} == {NOW + timedelta(days=9)}


def test_a_higher_priority_brings_the_deadline_forward() -> None:
    """What was used of the old time counts toward the new one; a lower one without a promise drops the clock."""
    before = thread(state="in_progress", pending=(pending(),), deadlines=(deadline(),))
    at = NOW + HOUR / 2
    (sooner,) = after(before, list(marks.prioritise(before, "urgent", "human", "a launch")), at)
    assert (sooner.priority, sooner.since, sooner.due_at) == ("urgent", NOW, at + HOUR / 2)
    (overdue,) = after(before, list(marks.prioritise(before, "urgent", "human", "a launch")), NOW + 3 * HOUR)
    assert overdue.due_at == NOW + 3 * HOUR
    (dropped,) = after(before, list(marks.prioritise(before, "low", "human", "can wait")), at)
    assert (dropped.status, dropped.reason) == ("dropped", "not promised at priority low")


def test_a_priority_with_a_promise_starts_the_clock_that_was_missing() -> None:
    """Where nothing was promised before, the oldest mail that waits is what the clock counts from."""
    before = thread(state="in_progress", priority="low", pending=(pending(),))
    (began,) = after(before, list(marks.prioritise(before, "normal", "human", "vip")), NOW + HOUR)
    assert (began.kind, began.since, began.due_at) == ("first_response", NOW, NOW + 4 * HOUR)


URGENT_ONLY = Terms(ServiceLevels.model_validate({"urgent": {"resolution_hours": 8}}), OfficeHours())


def raised(before: Thread, priority: str = "urgent", now: datetime = NOW + HOUR) -> list[DeadlineChanged]:
    command = list(marks.prioritise(before, priority, "human", "an outage"))  # type: ignore[arg-type]
    return follow(before, command, now, URGENT_ONLY)


def test_a_resolution_that_was_promised_later_never_began() -> None:
    """A priority that promises a resolution starts its clock, from when the thread began; one without drops it again."""
    before = thread(state="in_progress", began_at=NOW)
    (began,) = raised(before)
    assert (began.kind, began.status, began.since, began.due_at) == ("resolution", "running", NOW, NOW + 8 * HOUR)
    urgent = deadline("resolution", hours=8, priority="urgent")
    (dropped,) = raised(replace(before, priority="urgent", deadlines=(urgent,)), "normal")
    assert (dropped.kind, dropped.status) == ("resolution", "dropped")
    (again,) = raised(replace(before, deadlines=(replace(urgent, status="dropped", due_at=None),)))
    assert (again.status, again.since, again.due_at) == ("running", NOW, NOW + 8 * HOUR)


def test_a_resolution_that_is_promised_while_we_wait_stands_still() -> None:
    """In a thread that waits for the customer the clock begins and is paused at once, with what is left of it."""
    began, paused = raised(thread(state="awaiting_reply", began_at=NOW))
    assert (began.status, paused.status, paused.left_s) == ("running", "paused", (7 * HOUR).total_seconds())


@pytest.mark.parametrize(
    "before",
    [
        thread(state="resolved", began_at=NOW),
        thread(state="closed", began_at=NOW),
        thread(state="in_progress"),
        thread(state="in_progress", began_at=NOW, deadlines=(deadline("resolution", "breached"),)),
    ],
    ids=["resolved", "closed", "imported", "breached"],
)
def test_a_resolution_is_promised_once_and_only_where_something_is_open(before: Thread) -> None:
    """A thread that is over, or that no live mail opened, has no clock; one that ran out does not begin again."""
    assert raised(before) == []


@pytest.mark.parametrize(
    ("state", "steps"),
    [
        ("new", [("new", "in_progress"), ("in_progress", "escalated")]),
        ("in_progress", [("in_progress", "escalated")]),
        ("awaiting_reply", [("awaiting_reply", "in_progress"), ("in_progress", "escalated")]),
    ],
)
def test_a_breach_escalates_over_legal_logged_steps(state: str, steps: list[tuple[str, str]]) -> None:
    """A missed deadline is an event, and a human is called over separate legal steps, with the reason."""
    before = thread(state=state, deadlines=(deadline(),))
    breach = breached(before, fired())
    assert breach is not None
    events = list(turns.missed(before, breach, "", id_of("timer")))
    assert isinstance(events[0], DeadlineChanged)
    assert events[0].status == "breached"
    assert moves(events) == steps
    assert "the first response was due within 4 h (priority normal)" in events[-1].detail  # type: ignore[attr-defined]


def test_a_breach_ends_the_turn_that_did_not_keep_it() -> None:
    """An open turn closes as escalated, unless its reply is at the server's door already."""
    late = thread(state="in_progress", turn=turn(), deadlines=(deadline(),))
    leaving = thread(state="in_progress", turn=turn(leaving=True), deadlines=(deadline(),))
    for before, outcomes in ((late, ["escalated"]), (leaving, [])):
        breach = breached(before, fired())
        assert breach is not None
        events = list(turns.missed(before, breach, "", id_of("timer")))
        assert [one.outcome for one in events if isinstance(one, TurnClosed)] == outcomes


def test_a_breach_while_a_human_looks_is_logged() -> None:
    """An escalated thread stays escalated, and the log says that the deadline passed."""
    before = thread(state="escalated", deadlines=(deadline(),))
    breach = breached(before, fired())
    assert breach is not None
    events = list(turns.missed(before, breach, "", id_of("timer")))
    assert kinds(events) == ["DeadlineChanged", "ActionLogged"]
    assert isinstance(events[1], ActionLogged)
    assert events[1].action == "missed a deadline"


def test_a_timer_that_fired_before_its_deadline_was_moved_breaches_nothing() -> None:
    """The deadline is later now than what the timer was set for: the timer that was set since will come."""
    before = thread(deadlines=(deadline(),))
    assert breached(before, fired(NOW + 3 * HOUR)) is None
    assert breached(before, fired(NOW + 4 * HOUR)) is not None


@pytest.mark.parametrize("status", ["paused", "met", "dropped", "breached"])
def test_a_clock_that_does_not_run_is_not_breached(status: str) -> None:
    """A timer that comes late for a clock that stands still or has ended does nothing, twice neither."""
    assert breached(thread(deadlines=(deadline(status=status),)), fired()) is None
    assert breached(thread(), fired()) is None


def answer(before: Thread, at: datetime | None = None) -> ReplyAttached:
    ids = {"thread_id": before.thread_id, "participant_id": before.participant_id}
    return ReplyAttached(**ids, reply_id=id_of("reply"), text="sorry", tokens=1, role="human", replied_at=at)


def test_an_answer_that_came_late_was_called_met() -> None:
    """A response after its deadline missed it, also where the answer is heard of before the deadline's timer."""
    for status in ("running", "breached"):
        before = thread(state="in_progress", deadlines=(deadline(status=status),))
        (over,) = after(before, [answer(before, NOW + 4 * HOUR + timedelta(seconds=1))], NOW + 5 * HOUR)
        assert (over.status, over.reason) == ("missed", "we answered (late)")
        assert over.ended_at == NOW + 4 * HOUR + timedelta(seconds=1)


def test_an_answer_that_left_in_time_is_met_whenever_it_is_heard_of() -> None:
    """A reply that turns out to have been sent before its deadline kept it, though the deadline was breached meanwhile."""
    before = thread(state="escalated", deadlines=(deadline(status="breached"),))
    (over,) = after(before, [answer(before, NOW + HOUR)], NOW + 30 * HOUR)
    assert (over.status, over.reason, over.ended_at) == ("met", "we answered", NOW + HOUR)


def test_a_resolution_after_its_deadline_is_missed_and_one_that_stood_still_is_not() -> None:
    """What is promised is the time until the thread is resolved; a clock that stands still has no deadline to miss."""
    for given, status in (({}, "missed"), ({"status": "paused", "due_at": None, "left": HOUR}, "met")):
        before = thread(state="in_progress", deadlines=(deadline("resolution", **given),))
        step = states.transition(before, "resolved", "human", "done")
        (over,) = [one for one in after(before, [step], NOW + 5 * HOUR) if one.kind == "resolution"]
        assert (over.status, over.ended_at) == (status, NOW + 5 * HOUR)


def test_a_reply_of_an_earlier_release_is_judged_by_the_moment_of_its_event() -> None:
    """Without a moment of its own, the event's time says whether it was late."""
    before = thread(state="in_progress", deadlines=(deadline(),))
    assert clocks(after(before, [answer(before)], NOW + HOUR)) == [("first_response", "met")]
    assert clocks(after(before, [answer(before)], NOW + 5 * HOUR)) == [("first_response", "missed")]


def test_a_late_answer_ends_a_breached_clock_and_says_so() -> None:
    """After a breach the clock waits for the answer; no second one begins with the customer's next mail."""
    before = thread(state="escalated", deadlines=(deadline(status="breached"), deadline("resolution")))
    assert after(before, list(mails.attach(before, mail("where is it?")))) == []
    (over,) = after(before, [answer(before)], NOW + 5 * HOUR)
    assert (over.status, over.reason) == ("missed", "we answered (late)")


def test_a_mailboxs_own_terms_stand_in_place_of_the_workspaces() -> None:
    """Levels and hours of an inbox replace those of the workspace, each for itself; a lost inbox has the workspace's."""
    said = Settings.model_validate(
        {
            "service_levels": {"normal": {"first_response_hours": 4}},
            "office_hours": {"hours": {"mon": "09:00-17:00"}},
            "inboxes": [
                {"name": "vip", "address": "v@x.example", "service_levels": {"normal": {"first_response_hours": 1}}},
                {"name": "night", "address": "n@x.example", "office_hours": {}},
            ],
        }
    )
    assert terms_of(said, "vip").allowed("first_response", "normal") == HOUR
    assert terms_of(said, "vip").hours == said.office_hours
    assert terms_of(said, "night").hours == OfficeHours()
    assert terms_of(said, "gone").allowed("first_response", "normal") == 4 * HOUR
    assert terms_of(said, "gone").allowed("resolution", "normal") is None


def test_another_persons_mail_that_waits_keeps_a_clock_of_its_own() -> None:
    """One of two people is answered, or needs no answer, and the other waits: that response is owed since their mail."""
    bob = pending("bob", by=id_of("bob"), at=NOW + HOUR)
    before = thread(state="in_progress", turn=turn(), pending=(pending(), bob), deadlines=(deadline(hours=4),))
    for ended in (turns.sent(before, reply()), turns.no_reply(before, draft(state="awaiting_reply"))):
        changes = after(before, list(ended), NOW + 2 * HOUR)
        assert [one.status for one in changes if one.kind != "resolution"] == ["met", "running"]
        assert changes[-1].since == NOW + HOUR


def test_a_mail_that_waits_in_a_resolved_thread_has_its_clock_again_when_its_turn_opens() -> None:
    """The thread was resolved for one person; taking up the other's mail owes them a response since they wrote."""
    bob = pending("bob", by=id_of("bob"))
    before = thread(state="resolved", pending=(bob,))
    changes = after(before, list(turns.open_turn(before, id_of("timer"))), NOW + HOUR)
    assert clocks(changes) == [("first_response", "running"), ("resolution", "running")]
    assert changes[0].since == NOW
