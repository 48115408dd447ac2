"""Decisions when a colleague answers by hand."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from schemas.events.mail import EmailRead
from schemas.events.threads import ReplyAttached, ThreadState, TurnClosed, TurnOpened
from services.track_threads.mails import took_over
from services.track_threads.thread import Thread
from services.track_threads.turns import handed_back
from tests.unit.track_threads.threads import (
    NOW,
    PERSON,
    THREAD,
    evolved,
    id_of,
    kinds,
    mail,
    moves,
    pending,
    thread,
    turn,
)

LATER = NOW + timedelta(minutes=5)


def by_hand(**given: Any) -> EmailRead:
    return mail("by-hand", kind="colleague", **given)


def test_a_colleagues_reply_joins_the_conversation_and_ends_the_open_turn() -> None:
    """The turn closes as human_took_over, its mails wait no longer, and the customer is the next to write."""
    before = thread(state="in_progress", turn=turn("mail"), pending=(pending("mail"),))
    events = list(took_over(before, by_hand(), LATER))
    assert kinds(events) == ["ReplyAttached", "TurnClosed", "StateChanged"]
    row, closed = events[0], events[1]
    assert isinstance(row, ReplyAttached)
    assert (row.role, row.text) == ("human", "the text of by-hand")
    assert isinstance(closed, TurnClosed)
    assert closed.outcome == "human_took_over"
    assert moves(events) == [("in_progress", "awaiting_reply")]
    after = evolved(before, events)
    assert (after.pending, after.turn, after.state) == ((), None, "awaiting_reply")


def test_in_the_quiet_period_the_waiting_mail_counts_as_answered() -> None:
    """Before a turn has opened, one is opened and closed at once, so that the agent never takes the mail up."""
    before = thread(state="new", pending=(pending("mail"),))
    events = list(took_over(before, by_hand(), LATER))
    opened = next(one for one in events if isinstance(one, TurnOpened))
    assert opened.mode == "history"
    assert opened.mail_ids == (id_of("mail"),)
    assert moves(events) == [("new", "in_progress"), ("in_progress", "awaiting_reply")]
    assert evolved(before, events).pending == ()


def test_a_mail_that_came_after_the_colleague_wrote_goes_on_waiting() -> None:
    """Nobody meets silence: only what was there when the colleague wrote counts as answered."""
    newer = pending("newer", at=NOW + timedelta(minutes=4))
    before = thread(state="in_progress", turn=turn("mail", "newer"), pending=(pending("mail"), newer))
    events = list(took_over(before, by_hand(sent_at=NOW + timedelta(minutes=2)), LATER))
    closed = [one for one in events if isinstance(one, TurnClosed)]
    assert [(one.outcome, one.mail_ids) for one in closed] == [
        ("superseded", (id_of("mail"), id_of("newer"))),
        ("human_took_over", (id_of("mail"),)),
    ]
    after = evolved(before, events)
    assert (after.pending, after.state) == ((newer,), "in_progress")


@pytest.mark.parametrize("said", [None, NOW + timedelta(days=400), NOW - timedelta(days=30)])
def test_a_date_that_cannot_be_counts_as_now(said: object) -> None:
    """A colleague's clock that is off, or silent, leaves no mail of before unanswered twice."""
    before = thread(state="in_progress", turn=turn("mail"), pending=(pending("mail"),))
    assert evolved(before, took_over(before, by_hand(sent_at=said), LATER)).pending == ()


def test_a_reply_of_ours_that_is_leaving_is_not_called_back() -> None:
    """At the SMTP server's door the turn ends with our reply; the colleague's is one more row."""
    before = thread(state="in_progress", turn=turn("mail", leaving=True), pending=(pending("mail"),))
    assert kinds(took_over(before, by_hand(), LATER)) == ["ReplyAttached"]


def test_an_escalated_thread_stays_escalated() -> None:
    """Only a person's word hands it back; but what the colleague answered waits no longer."""
    before = thread(state="escalated", pending=(pending("mail"),))
    events = list(took_over(before, by_hand(), LATER))
    assert moves(events) == []
    assert evolved(before, events).pending == ()


@pytest.mark.parametrize("state", ["awaiting_reply", "resolved", "closed"])
def test_where_nothing_waits_a_further_mail_of_ours_changes_no_state(state: ThreadState) -> None:
    """It is one more row of the conversation, and nothing else."""
    assert kinds(took_over(thread(state=state), by_hand(), LATER)) == ["ReplyAttached"]


def test_history_and_unknown_threads_change_nothing() -> None:
    """An old mail of the Sent folder ends no turn, and one for a thread that is not there does nothing."""
    before = thread(state="in_progress", turn=turn("mail"), pending=(pending("mail"),))
    assert kinds(took_over(before, by_hand(mode="history"), LATER)) == ["ReplyAttached"]
    unborn = Thread(thread_id=THREAD, participant_id=PERSON, inbox="support")
    assert kinds(took_over(unborn, by_hand(), LATER)) == []


@pytest.mark.parametrize("named", ["in_reply_to", "references"])
def test_a_mail_that_the_colleague_names_is_answered_however_late_we_read_it(named: str) -> None:
    """They had it before them: that our deployment got it after they wrote does not make it wait."""
    late = pending("late", at=LATER + timedelta(minutes=9))
    before = thread(state="in_progress", turn=turn("late"), pending=(late,))
    events = list(took_over(before, by_hand(sent_at=NOW, **{named: ("late@example.org",)}), LATER))
    after = evolved(before, events)
    assert (after.pending, after.turn, after.state) == ((), None, "awaiting_reply")


def test_a_reply_that_stands_in_the_thread_is_not_told_twice() -> None:
    """Read again because of a customer's mail that came late, it answers that one and is no second row."""
    late = pending("late", at=LATER + timedelta(minutes=9))
    before = thread(state="in_progress", turn=turn("late"), pending=(late,))
    again = by_hand(sent_at=NOW, in_reply_to=("late@example.org",))
    events = list(took_over(before, again, LATER, known=True))
    assert kinds(events) == ["TurnClosed", "StateChanged"]
    assert evolved(before, events).pending == ()


def test_read_again_it_ends_no_turn_about_another_mail() -> None:
    """What it neither names nor came after goes on being answered by the agent, undisturbed."""
    other = pending("other", at=LATER)
    before = thread(state="in_progress", turn=turn("other"), pending=(other,))
    assert kinds(took_over(before, by_hand(sent_at=NOW), LATER + timedelta(minutes=1), known=True)) == []


def test_a_colleagues_answer_to_two_people_is_learned_of_for_each() -> None:
    """What waited of two authors is closed as two turns: nobody is remembered for what another one wrote."""
    bob, ada = id_of("bob"), id_of("ada")
    mails = (pending("a1", by=ada), pending("b1", by=bob))
    events = list(took_over(thread(pending=mails), by_hand(), NOW))
    closed = [one for one in events if isinstance(one, TurnClosed)]
    assert [(one.participant_id, one.mail_ids) for one in closed] == [(ada, (id_of("a1"),)), (bob, (id_of("b1"),))]
    assert len({one.turn_id for one in closed}) == 2


def test_a_thread_that_a_colleague_had_answered_stayed_ours_when_handed_back() -> None:
    """Where a colleague wrote last and nothing waits, we wait for the customer, by a step that is logged."""
    (step,) = handed_back(thread(state="escalated", by_hand=True))
    assert moves([step]) == [("in_progress", "awaiting_reply")]


@pytest.mark.parametrize(
    "before",
    [
        thread(state="escalated", by_hand=True, pending=(pending(),)),
        thread(state="escalated", by_hand=True, turn=turn()),
        thread(state="escalated", answered=True),
    ],
    ids=["a mail waits", "a turn is open", "the agent said that a person takes over"],
)
def test_where_we_still_owe_an_answer_a_thread_handed_back_is_ours(before: Thread) -> None:
    """What waits, what is being written, and what only was promised keeps the thread in progress."""
    assert list(handed_back(before)) == []
