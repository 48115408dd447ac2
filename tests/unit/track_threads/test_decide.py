"""Decisions about mails, turns, replies and goals of a thread."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from schemas.events.mail import Identity, Verdict
from schemas.events.replies import ReplyDiscarded
from schemas.events.threads import (
    ActionLogged,
    BounceNoted,
    GoalAdded,
    GoalClosed,
    MailAttached,
    ThreadState,
    TransitionRefused,
    TurnClosed,
    TurnOpened,
)
from services.track_threads import mails, marks, turns
from services.track_threads.thread import Goal, Thread
from tests.unit.track_threads.threads import (
    NOW,
    PERSON,
    THREAD,
    draft,
    evolved,
    id_of,
    kinds,
    mail,
    moves,
    pending,
    reply,
    report,
    thread,
    turn,
)


def test_a_first_mail_opens_the_thread() -> None:
    """A thread begins with its first mail, in the state `new`, and the mail waits for an answer."""
    unborn = Thread(thread_id=THREAD, participant_id=PERSON, inbox="support")
    opened, attached = mails.attach(unborn, mail())
    assert kinds([opened, attached]) == ["ThreadOpened", "MailAttached"]
    assert isinstance(attached, MailAttached)
    assert attached.waits


def test_a_thread_that_continues_an_older_one_says_so() -> None:
    """A link to the older thread is logged when the new one opens."""
    unborn = Thread(thread_id=THREAD, participant_id=PERSON, inbox="support")
    assert kinds(mails.attach(unborn, mail(linked_from=id_of("older")))) == [
        "ThreadOpened",
        "ThreadLinked",
        "MailAttached",
    ]


def test_a_link_that_a_later_mail_showed_was_lost() -> None:
    """A mail that joins two threads comes into one, which then names the other; a thread names one, the first."""
    joins = mail(linked_from=id_of("other"))
    assert kinds(mails.attach(thread(), joins)) == ["ThreadLinked", "MailAttached"]
    assert kinds(mails.attach(thread(linked=True), joins)) == ["MailAttached"]


@pytest.mark.parametrize(
    ("kind", "mode", "waits"),
    [("answer", "live", True), ("human", "live", True), ("answer", "history", False), ("human", "history", False)],
)
def test_only_a_live_mail_waits(kind: str, mode: str, waits: bool) -> None:
    """A mail waits for an answer, the agent's or a person's; imported mail never does."""
    (attached,) = mails.attach(thread(), mail(kind=kind, mode=mode))
    assert isinstance(attached, MailAttached)
    assert attached.waits is waits


@pytest.mark.parametrize("given", [{"identity": Identity(level="failed")}, {"participant_id": None}])
def test_nobody_is_answered_who_cannot_be_held_to_it(given: dict[str, object]) -> None:
    """A mail whose sender failed, or has no one address, does not wait: no machine answers it, even when handed back."""
    (attached,) = mails.attach(thread(), mail(kind="human", **given))
    assert isinstance(attached, MailAttached)
    assert not attached.waits


def test_a_mail_for_a_person_is_learned_of_at_once_and_waits_for_them() -> None:
    """A turn of its author is closed as escalated with its mails still waiting; the thread is a person's."""
    before = thread(pending=(pending(),))
    events = list(turns.for_a_person(before, mail(kind="human"), id_of("cause")))
    assert kinds(events) == ["StateChanged", "TurnOpened", "TurnClosed", "StateChanged", "ActionLogged"]
    assert moves(events) == [("new", "in_progress"), ("in_progress", "escalated")]
    (closed,) = [one for one in events if isinstance(one, TurnClosed)]
    assert (closed.outcome, closed.still_waits) == ("escalated", True)
    assert evolved(before, events).pending == before.pending


def test_a_second_mail_for_a_person_waits_in_the_thread_that_they_have() -> None:
    """While a person has the thread no turn opens."""
    before = thread(state="escalated", pending=(pending(),))
    assert list(turns.for_a_person(before, mail(kind="human"), id_of("cause"))) == []


@pytest.mark.parametrize(
    ("state", "steps"),
    [
        ("new", []),
        ("in_progress", []),
        ("awaiting_reply", [("awaiting_reply", "in_progress")]),
        ("resolved", [("resolved", "in_progress")]),
        ("closed", [("closed", "new")]),
        ("escalated", []),
    ],
)
def test_a_customers_mail_wakes_the_thread(state: ThreadState, steps: list[tuple[str, str]]) -> None:
    """A mail takes up a waiting, resolved or closed thread, and leaves an escalated one with its human."""
    assert moves(mails.attach(thread(state=state), mail("next"))) == steps


def test_a_newer_mail_supersedes_the_open_turn() -> None:
    """A draft that does not know the newest mail is not sent: its turn closes as superseded."""
    events = list(mails.attach(thread(state="in_progress", turn=turn()), mail("next")))
    (closed,) = [one for one in events if isinstance(one, TurnClosed)]
    assert (closed.turn_id, closed.outcome, closed.mail_ids) == (id_of("turn"), "superseded", (id_of("mail"),))


def test_a_turn_that_is_leaving_is_not_superseded() -> None:
    """Once the reply is at the server's door its turn ends by what becomes of it, and the newer mail waits."""
    events = list(mails.attach(thread(state="in_progress", turn=turn(leaving=True)), mail("next")))
    assert kinds(events) == ["MailAttached"]


def test_history_supersedes_nothing_and_wakes_nothing() -> None:
    """An imported mail changes neither a running turn nor the state of the thread."""
    assert kinds(mails.attach(thread(state="resolved", turn=turn()), mail("old", mode="history"))) == ["MailAttached"]


def test_history_is_learned_from_and_never_answered() -> None:
    """An imported mail makes a turn of mode history that is closed in the same breath."""
    old = mail("old", mode="history", sent_at=NOW - timedelta(days=400))
    opened, closed, *rest = mails.history(thread(), old)
    assert isinstance(opened, TurnOpened)
    assert isinstance(closed, TurnClosed)
    assert (opened.mode, opened.waiting_since) == ("history", old.sent_at)
    assert (closed.turn_id, closed.outcome) == (opened.turn_id, "no_reply")
    assert moves(rest) == [("new", "in_progress"), ("in_progress", "resolved")]


def test_history_does_not_disturb_an_open_turn() -> None:
    """While a live mail is being answered, an imported one opens no second turn."""
    assert list(mails.history(thread(turn=turn()), mail("old", mode="history", sent_at=NOW))) == []


@pytest.mark.parametrize("state", ["new", "in_progress", "awaiting_reply", "resolved", "closed"])
def test_a_turn_opens_over_legal_steps(state: ThreadState) -> None:
    """Whatever the state in which the quiet period ends, the thread walks to in_progress and nothing is refused."""
    events = list(turns.open_turn(thread(state=state, pending=(pending(),)), id_of("timer")))
    assert not [one for one in events if isinstance(one, TransitionRefused)]
    assert [state, *(to for _, to in moves(events))][-1] == "in_progress"
    assert kinds(events)[-1] == "TurnOpened"


def test_a_burst_gets_one_turn() -> None:
    """All waiting mails are answered together, and the clock is that of the oldest."""
    late, early = pending("late"), pending("early", at=NOW - timedelta(minutes=9))
    *_, opened = turns.open_turn(thread(pending=(late, early)), id_of("timer"))
    assert isinstance(opened, TurnOpened)
    assert opened.mail_ids == (id_of("early"), id_of("late"))
    assert opened.waiting_since == NOW - timedelta(minutes=9)


def test_a_turn_is_of_one_author_who_has_waited_longest() -> None:
    """Mails of two people open two turns, one after the other, each with its author's id and nobody else's mails."""
    bob, ada = id_of("bob"), id_of("ada")
    mails = (
        pending("b1", by=bob, at=NOW - timedelta(minutes=9)),
        pending("a1", by=ada, at=NOW - timedelta(minutes=8)),
        pending("b2", by=bob),
    )
    now = thread(participant_id=ada, pending=mails)
    *_, first = turns.open_turn(now, id_of("timer"))
    assert isinstance(first, TurnOpened)
    assert (first.participant_id, first.mail_ids) == (bob, (id_of("b1"), id_of("b2")))
    taken = evolved(now, [first])
    closed = turns.close_turn(taken, "sent", "")
    assert closed.participant_id == bob
    *_, second = turns.open_turn(evolved(taken, [closed]), id_of("timer 2"))
    assert isinstance(second, TurnOpened)
    assert (second.participant_id, second.mail_ids) == (ada, (id_of("a1"),))


def test_who_only_claims_to_be_the_author_does_not_share_the_authors_turn() -> None:
    """A mail that is not authenticated under somebody's address neither rides on their turn nor takes its trust."""
    theirs, forged = pending("theirs"), pending("forged", trusted=False, at=NOW + timedelta(seconds=1))
    *_, opened = turns.open_turn(thread(pending=(theirs, forged)), id_of("timer"))
    assert isinstance(opened, TurnOpened)
    assert (opened.mail_ids, opened.trusted) == ((id_of("theirs"),), True)


def test_an_imported_mail_is_learned_of_for_its_own_author() -> None:
    """Its turn names who wrote it, not whoever began the thread."""
    opened, closed, *_ = mails.history(thread(), mail("old", mode="history", sent_at=NOW, participant_id=id_of("bob")))
    assert isinstance(opened, TurnOpened)
    assert isinstance(closed, TurnClosed)
    assert opened.participant_id == closed.participant_id == id_of("bob")


@pytest.mark.parametrize(
    "given",
    [
        thread(state="escalated", pending=(pending(),)),
        thread(state="in_progress", pending=(pending(),), turn=turn()),
        thread(state="in_progress"),
    ],
    ids=["escalated", "a turn is open", "nothing waits"],
)
def test_no_turn_opens(given: Thread) -> None:
    """While escalated, while another turn is open, or without a waiting mail, no turn opens."""
    assert list(turns.open_turn(given, id_of("timer"))) == []


@pytest.mark.parametrize(
    ("kind", "escalates"),
    [("hard", True), ("complaint", True), ("soft", False), ("delayed", False), ("other", False)],
)
def test_a_bounce_is_noted_and_a_final_one_calls_a_human(kind: str, escalates: bool) -> None:
    """Every report is noted; only a mail that will never arrive, or a complaint, escalates."""
    events = list(mails.note_report(thread(state="awaiting_reply"), report(kind)))
    noted = events[0]
    assert isinstance(noted, BounceNoted)
    assert (noted.kind, noted.mail_id) == (kind, id_of("bounce"))
    assert (("in_progress", "escalated") in moves(events)) is escalates


def test_a_report_about_no_thread_of_ours_is_nothing() -> None:
    """A bounce opens no thread, and a mail without a report notes nothing."""
    unborn = Thread(thread_id=THREAD, participant_id=None, inbox="support")
    assert list(mails.note_report(unborn, report("hard"))) == []
    assert list(mails.note_report(thread(), mail(kind="bounce"))) == []


def test_a_long_diagnostic_is_cut() -> None:
    """What a foreign server says fits a log line."""
    (noted, *_) = mails.note_report(thread(), report("soft", "x" * 9000))
    assert isinstance(noted, BounceNoted)
    assert len(noted.diagnostic) == 500


def test_no_reply_closes_the_turn_with_its_reason() -> None:
    """'Thanks, solved!' needs no answer: the thread resolves, the goals that were reached close."""
    before = thread(state="in_progress", turn=turn(), goals=(Goal(id_of("goal"), "Ada confirms", PERSON, NOW),))
    events = list(turns.no_reply(before, draft(goals_close=("ada CONFIRMS",))))
    assert kinds(events) == ["GoalClosed", "StateChanged", "TurnClosed"]
    assert moves(events) == [("in_progress", "resolved")]
    closed = events[-1]
    assert isinstance(closed, TurnClosed)
    assert (closed.outcome, closed.reason) == ("no_reply", "thanks only")


@pytest.mark.parametrize("given", [thread(state="in_progress"), thread(state="escalated")])
def test_a_draft_for_a_turn_that_is_over_changes_nothing(given: Thread) -> None:
    """What the agent decided for a superseded turn has no effect."""
    assert list(turns.no_reply(given, draft())) == []


def test_a_sent_reply_brings_its_state_and_goals() -> None:
    """State and goals ride on the draft and take effect when the reply has been sent."""
    before = thread(
        state="in_progress",
        turn=turn(),
        goals=(Goal(id_of("old"), "Old goal", PERSON, NOW), Goal(id_of("kept"), "Kept", PERSON, NOW)),
    )
    sent = reply(state="awaiting_reply", goals_add=("New goal", "KEPT"), goals_close=(str(id_of("old")),))
    events = list(turns.sent(before, sent))
    assert kinds(events) == ["ReplyAttached", "GoalClosed", "GoalAdded", "StateChanged", "TurnClosed"]
    assert [one.text for one in events if isinstance(one, GoalAdded)] == ["New goal"]
    assert [one.goal_id for one in events if isinstance(one, GoalClosed)] == [id_of("old")]
    assert moves(events) == [("in_progress", "awaiting_reply")]
    assert [one.outcome for one in events if isinstance(one, TurnClosed)] == ["sent"]


def unproven_turn() -> Thread:
    """A thread with an open goal, in the turn of an author whom nothing proves."""
    goals = (Goal(id_of("goal"), "Ada confirms", PERSON, NOW),)
    return thread(state="in_progress", turn=replace(turn(), trusted=False), goals=goals, pending=(pending(),))


def test_a_reply_to_who_is_not_proven_changes_no_goal_and_resolves_nothing() -> None:
    """What a mail made the model ask for in somebody's name has no effect, even where it came as far as this."""
    asked = reply(state="resolved", goals_add=("pay 5000",), goals_close=("Ada confirms",))
    events = list(turns.sent(unproven_turn(), asked))
    assert kinds(events) == ["ReplyAttached", "StateChanged", "TurnClosed"]
    assert moves(events) == [("in_progress", "awaiting_reply")]


def test_of_who_is_not_proven_nothing_is_kept_in_mind() -> None:
    """What the draft carries is dropped, even where it came as far as this."""
    kept = draft(entities=({"name": "order", "value": "4471"},))
    assert kinds(list(marks.entities_noted(thread(), kept, NOW))) == ["EntitiesNoted"]
    assert list(marks.entities_noted(thread(), kept.model_copy(update={"trusted": False}), NOW)) == []


def test_that_no_reply_is_needed_is_a_persons_word_where_nobody_is_proven() -> None:
    """The agent resolves nothing, closes no goal and drops no mail on the word of whom nothing proves."""
    before = unproven_turn()
    events = list(turns.no_reply(before, draft(goals_close=("Ada confirms",))))
    assert moves(events) == [("in_progress", "escalated")]
    assert [one.outcome for one in events if isinstance(one, TurnClosed)] == ["escalated"]
    assert evolved(before, events).pending == before.pending


@pytest.mark.parametrize(
    ("level", "filter_name", "learned"),
    [
        ("verified", "asks_for_person", True),
        ("verified", "rates", False),
        ("unverified", "x", False),
        ("failed", "x", False),
    ],
)
def test_a_mail_for_a_person_is_learned_of_only_where_its_author_is_proven(
    level: str, filter_name: str, *, learned: bool
) -> None:
    """No turn, and so no model, for the mail of nobody proven, nor for each mail of a flood; it waits for the person."""
    verdict = Verdict(kind="human", reason="because", filter=filter_name)
    came = mail(identity=Identity(level=level), verdict=verdict)  # type: ignore[arg-type]
    events = list(turns.for_a_person(thread(pending=(pending(),)), came, id_of("cause")))
    assert moves(events)[-1][1] == "escalated"
    assert any(isinstance(one, TurnOpened) for one in events) is learned


def test_a_reply_sent_after_its_turn_ended_is_kept_and_closes_nothing() -> None:
    """A mail that did go out is part of the conversation, whatever became of its turn."""
    assert kinds(turns.sent(thread(state="escalated"), reply())) == ["ReplyAttached"]


def test_an_escalating_reply_hands_the_thread_to_a_human() -> None:
    """The message to the customer goes out, then the thread is escalated and its turn closes so."""
    before = thread(state="in_progress", turn=turn())
    events = list(turns.sent(before, reply(decision="escalate", reason="a refund is asked for")))
    assert moves(events) == [("in_progress", "escalated")]
    assert [one.outcome for one in events if isinstance(one, TurnClosed)] == ["escalated"]
    assert [one.trigger for one in events if isinstance(one, ActionLogged)] == ["ai"]


def test_a_failed_turn_calls_a_human() -> None:
    """No customer meets silence: what cannot be answered escalates."""
    events = list(turns.failed(thread(state="in_progress", turn=turn()), id_of("turn"), "retries used up"))
    assert kinds(events) == ["TurnClosed", "StateChanged", "ActionLogged"]
    assert moves(events) == [("in_progress", "escalated")]


def test_a_draft_discarded_while_a_person_has_the_thread_took_its_mail_with_it() -> None:
    """What was overtaken by an escalation has answered nothing: its mails wait for whoever has the thread."""
    before = thread(state="escalated", turn=turn(), pending=(pending(),))
    ids = {"thread_id": THREAD, "participant_id": PERSON, "turn_id": id_of("turn"), "reply_id": id_of("reply")}
    discarded = ReplyDiscarded(**ids, attempt=0, reason="a person has the thread", overtaken=True)
    events = list(turns.discarded(before, discarded))
    assert [one.outcome for one in events if isinstance(one, TurnClosed)] == ["escalated"]
    assert evolved(before, events).pending == before.pending


@pytest.mark.parametrize(("may_have_left", "waits"), [(False, True), (True, False)])
def test_a_reply_that_was_refused_for_good_left_its_mail_with_nobody(may_have_left: bool, waits: bool) -> None:
    """Where nothing can have left, the mail waits for the person; what may have arrived is not answered twice."""
    before = thread(state="in_progress", turn=turn(), pending=(pending(),))
    events = turns.failed(before, id_of("turn"), "550", id_of("reply"), may_have_left=may_have_left)
    assert bool(evolved(before, events).pending) is waits


def test_a_turn_fails_once() -> None:
    """A failure of a turn that is over is late, and ignored."""
    assert list(turns.failed(thread(state="in_progress"), id_of("turn"), "late")) == []


def test_the_same_goal_added_by_the_same_reply_has_the_same_id() -> None:
    """Ids of goals come from the reply and the words, so a second attempt is the same goal."""

    def goals() -> list[GoalAdded]:
        events = turns.sent(thread(state="in_progress", turn=turn()), reply(goals_add=("One", "Two")))
        return [one for one in events if isinstance(one, GoalAdded)]

    assert goals() == goals()
    assert len({one.goal_id for one in goals()}) == 2


def test_what_the_agent_did_is_logged_as_its_own() -> None:
    """Acts of a draft stand in the thread's log, by the agent, about the one it wrote to; also once the turn is over."""
    did = ({"action": "noted a fact", "detail": "note/plan"}, {"action": "looked in memory", "detail": "2 facts"})
    given = draft(acts=did, participant_id=id_of("bob"), decision="reply", text="Hi")
    logged = list(turns.acts(thread(), given))
    assert [(one.action, one.trigger, one.participant_id) for one in logged if isinstance(one, ActionLogged)] == [
        ("noted a fact", "ai", id_of("bob")),
        ("looked in memory", "ai", id_of("bob")),
    ]
    assert list(turns.acts(thread(exists=False), given)) == []
