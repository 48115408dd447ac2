"""Lifecycle, mood, risk and issues of a person."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise, product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.events.memory import MailSignals, ParticipantState, ParticipantStateChanged, ParticipantTransitionRefused
from services.core.settings import PeopleSettings
from services.learn_facts.participant import KnownIssue
from services.learn_facts.person import decide as decide_person
from services.learn_facts.person import issues
from services.learn_facts.person.decide import EDGES, path, refusal
from tests.unit.learn_facts.people import NOW, id_of, person

STATES: tuple[ParticipantState, ...] = get_args(ParticipantState)
LEGAL = {
    ("unknown", "prospect"),
    ("unknown", "customer"),
    ("prospect", "customer"),
    ("customer", "vip"),
    ("customer", "at_risk"),
    ("vip", "at_risk"),
    ("vip", "customer"),
    ("at_risk", "customer"),
    ("at_risk", "churned"),
    ("churned", "returning"),
    ("returning", "customer"),
    ("returning", "vip"),
    ("returning", "at_risk"),
}
THREAD = id_of("thread")


def test_the_table_covers_every_state() -> None:
    """Each of the seven states has its edges, and no other state is known."""
    assert set(EDGES) == set(STATES)
    assert {(one, other) for one in EDGES for other in EDGES[one]} == LEGAL


@pytest.mark.parametrize(("one", "other"), sorted(product(STATES, STATES)))
def test_a_step_is_made_exactly_where_there_is_an_edge(one: ParticipantState, other: ParticipantState) -> None:
    """A legal step is made, standing still is nothing, all else is refused and logged."""
    event = decide_person.transition(person(state=one), other, "human", "a person says so")
    if one == other:
        assert event is None
    elif (one, other) in LEGAL:
        assert isinstance(event, ParticipantStateChanged)
        assert (event.from_state, event.to_state, event.reason) == (one, other, "a person says so")
    else:
        assert isinstance(event, ParticipantTransitionRefused)
        assert event.refused_because == refusal(one, other) != ""


def walked(state: ParticipantState, intent: str, proposed: str = "") -> list[str]:
    """The states that a turn brings, those that are refused in brackets."""
    steps = decide_person.lifecycle_steps(person(state=state), proposed, "says so", intent)
    return [
        f"[{one.to_state}]" if isinstance(one, ParticipantTransitionRefused) else one.to_state
        for one in steps
        if isinstance(one, ParticipantStateChanged | ParticipantTransitionRefused)
    ]


@pytest.mark.parametrize(
    ("state", "intent", "proposed", "states"),
    [
        ("unknown", "pricing_question", "", ["prospect"]),
        ("prospect", "pricing_question", "", []),
        ("customer", "pricing_question", "", []),
        ("unknown", "renewal", "", ["customer"]),
        ("prospect", "purchase", "", ["customer"]),
        ("at_risk", "renewal", "", ["customer"]),
        ("vip", "renewal", "", []),
        ("churned", "purchase", "", ["returning", "customer"]),
        ("unknown", "competitor", "", ["customer", "at_risk"]),
        ("prospect", "cancellation", "", ["customer", "at_risk"]),
        ("vip", "competitor", "", ["at_risk"]),
        ("churned", "competitor", "", []),
        ("customer", "bug_report", "", []),
        ("unknown", "competitor", "at_risk", ["customer", "at_risk"]),
        ("unknown", "competitor", "customer", ["customer", "at_risk"]),
        ("unknown", "other", "vip", ["[vip]"]),
        ("unknown", "renewal", "vip", ["[vip]", "customer"]),
    ],
)
def test_what_a_mail_shows_of_its_author_is_a_rule_of_code(
    state: ParticipantState, intent: str, proposed: str, states: list[str]
) -> None:
    """Asking prices is a prospect, buying a customer, leaving a risk, from any state and over allowed edges only."""
    assert walked(state, intent, proposed) == states


@pytest.mark.parametrize("state", ["customer", "returning"])
@pytest.mark.parametrize("trigger", ["ai", "system"])
def test_only_a_person_makes_somebody_a_vip(state: ParticipantState, trigger: decide_person.Trigger) -> None:
    """No mail shows that its author is a very important customer, and no model says it."""
    refused = decide_person.transition(person(state=state), "vip", trigger, "they say so")
    assert isinstance(refused, ParticipantTransitionRefused)
    assert "only a person" in refused.refused_because
    assert isinstance(decide_person.transition(person(state=state), "vip", "human", "grace"), ParticipantStateChanged)


def test_each_step_says_who_saw_it() -> None:
    """A step of the rule is the system's with the intent as reason; a step that the model names is its own."""
    given = {"trigger": "system", "reason": "the mail shows it: competitor"}
    steps = decide_person.lifecycle_steps(person(state="unknown"), "", "", "competitor")
    assert [one.model_dump(include=set(given)) for one in steps] == [given, given]
    (step,) = decide_person.lifecycle_steps(person(state="customer"), "at_risk", "they leave", "competitor")
    assert (step.model_dump()["trigger"], step.model_dump()["reason"]) == ("ai", "they leave")


def test_the_shortest_way_is_on_edges() -> None:
    """Every way between two states goes step by step over the table."""
    for one, other in product(STATES, STATES):
        way = (one, *path(one, other))
        assert all(pair in LEGAL for pair in pairwise(way))
    assert path("unknown", "at_risk") == ("customer", "at_risk")
    assert path("customer", "unknown") == path("vip", "vip") == ()


def test_a_state_that_does_not_exist_is_refused() -> None:
    """What a model makes up changes nothing and is said."""
    event = decide_person.transition(person(), "emperor", "ai", "says so")
    assert isinstance(event, ParticipantTransitionRefused)
    assert event.refused_because == "there is no state 'emperor'"


def test_the_third_frustrated_mail_in_a_row_is_high_risk() -> None:
    """Two frustrated mails are a warning, three are high risk, and one calm mail ends the row."""
    risks, row = [], 0
    for frustrated in (True, True, True, True, False):
        noted = decide_person.note_signals(person(frustrated_in_row=row), MailSignals(frustrated=frustrated), THREAD)
        row = noted.frustrated_in_row
        risks.append(noted.risk)
    assert risks == ["medium", "medium", "high", "high", "low"]


def test_a_mood_that_is_not_known_moves_nothing() -> None:
    """A turn of which nobody could tell neither ends the row of frustrated mails nor calms the mood."""
    who = person(frustrated_in_row=2, sentiment=-0.6)
    noted = decide_person.note_signals(who, MailSignals(sentiment=None, frustrated=None), THREAD)
    assert (noted.frustrated_in_row, noted.sentiment) == (2, -0.6)


@pytest.mark.parametrize(
    ("row", "sentiment", "state", "risk"),
    [
        (0, 0.0, "customer", "low"),
        (0, -0.4, "customer", "low"),
        (0, -0.41, "customer", "medium"),
        (0, 1.0, "at_risk", "medium"),
        (3, 1.0, "vip", "high"),
    ],
)
def test_risk_is_read_from_mood_and_standing(row: int, sentiment: float, state: str, risk: str) -> None:
    """A bad mood over time or a customer at risk is medium, whatever today's mail sounds like."""
    assert decide_person.risk(row, sentiment, state) == risk


def test_the_fifth_report_of_a_trouble_is_known_as_the_fifth() -> None:
    """The same issue key counts up; another one begins at one; no issue counts nothing."""
    who = person(issues=(KnownIssue("csv export", 4, True, THREAD),))

    def repeats(key: str) -> int:
        return decide_person.note_signals(who, MailSignals(issue_key=key), THREAD).issue_repeats

    assert [repeats("csv export"), repeats("login"), repeats("")] == [5, 1, 0]


def test_a_trouble_in_other_words_keeps_its_key() -> None:
    """The fifth report counts as the fifth under the key that is known, however it is worded."""
    who = person(issues=(KnownIssue("csv export timeout", 4, False, id_of("other thread")),))
    noted = decide_person.note_signals(who, MailSignals(issue_key="csv export times out"), THREAD)
    assert (noted.issue_key, noted.issue_repeats) == ("csv export timeout", 5)


def test_a_mail_of_before_they_left_brings_nobody_back() -> None:
    """Whoever churned is `returning` with the first mail from then on; in every other state a mail moves nobody."""
    gone = person(state="churned", standing_at=NOW)
    assert decide_person.come_back(gone, NOW - timedelta(seconds=1)) is None
    step = decide_person.come_back(gone, NOW)
    assert isinstance(step, ParticipantStateChanged)
    assert (step.to_state, step.trigger) == ("returning", "system")
    others = set(get_args(ParticipantState)) - {"churned"}
    assert [decide_person.come_back(person(state=one), NOW) for one in others] == [None] * len(others)


def test_what_is_older_than_what_is_known_moves_no_standing() -> None:
    """Imported mail from before the standing was last said is refused once; later mail moves it and keeps its date."""
    who = person(state="customer", standing_at=NOW)
    (late,) = decide_person.lifecycle_steps(who, "at_risk", "they leave", "", NOW - timedelta(days=1))
    assert isinstance(late, ParticipantTransitionRefused)
    assert (late.to_state, late.refused_because) == ("at_risk", decide_person.TOO_LATE)
    (moved,) = decide_person.lifecycle_steps(who, "at_risk", "they leave", "", NOW + timedelta(days=1))
    assert isinstance(moved, ParticipantStateChanged)
    assert moved.said_at == NOW + timedelta(days=1)


def test_a_thank_you_is_no_report_of_what_is_over() -> None:
    """A known trouble that is said to be over keeps its count; one that nobody knows of becomes none."""
    who = person(issues=(KnownIssue("csv export timeout", 4, False, id_of("other thread"), NOW),))
    thanks = MailSignals(issue_key="csv export times out", issue_resolved=True)
    noted = decide_person.note_signals(who, thanks, THREAD)
    assert (noted.issue_key, noted.issue_repeats, noted.issue_resolved) == ("", 0, False)
    over = issues.trouble_over(who, thanks)
    assert over is not None
    assert (over.issue_key, over.thread_id) == ("csv export timeout", id_of("other thread"))
    assert issues.trouble_over(who, thanks, NOW - timedelta(days=1)) is None
    assert issues.trouble_over(person(), thanks) is None
    assert decide_person.note_signals(person(), thanks, THREAD).issue_resolved


def test_tags_are_kept_newest_first_without_doubles() -> None:
    """Tags of the newest mail come first, none twice, and at most twenty stay."""
    who = person(tags=tuple(f"t{number}" for number in range(20)))
    noted = decide_person.note_signals(who, MailSignals(tags=("t5", "new")), THREAD)
    assert noted.tags[:3] == ("t5", "new", "t0")
    assert len(noted.tags) == len(set(noted.tags)) == PeopleSettings().tags


@given(st.lists(st.floats(-1, 1), max_size=30))
def test_sentiment_stays_in_range_and_follows_the_mails(told: list[float]) -> None:
    """The mood is a fading mean: within the range of what was said, and moved towards the newest mail."""
    mood = 0.0
    for one in told:
        after = decide_person.note_signals(person(sentiment=mood), MailSignals(sentiment=one), THREAD).sentiment
        assert min(mood, one) - 0.001 <= after <= max(mood, one) + 0.001
        mood = after


def test_an_operator_says_what_worries_them() -> None:
    """When the risk is high, how low a mood is and how long it lasts are settings."""
    strict = PeopleSettings(high_risk_after=1, low_mood=0.0, mood_memory=0.0, tags=1)
    noted = decide_person.note_signals(
        person(sentiment=1.0, tags=("old",)), MailSignals(sentiment=-0.1, tags=("new",)), THREAD, strict
    )
    assert (noted.sentiment, noted.risk, noted.tags) == (-0.1, "medium", ("new",))
    assert decide_person.note_signals(person(), MailSignals(frustrated=True), THREAD, strict).risk == "high"


@pytest.mark.parametrize(
    ("before", "frustrated", "newest", "mails", "after"),
    [
        (0, True, 0, 3, 3),  # nobody says which: all of the burst
        (1, True, 2, 2, 3),
        (2, True, 1, 3, 1),  # a calm one stands before the newest
        (2, True, 9, 1, 3),  # no more than there are
        (2, False, 0, 2, 0),
        (2, True, 1, 0, 2),  # counted already
    ],
)
def test_frustrated_mails_are_counted_not_turns(
    before: int, frustrated: bool, newest: int, mails: int, after: int
) -> None:
    """A burst, or a thread that a person has, is one turn of several mails: each of them counts, and each once."""
    signals = MailSignals(frustrated=frustrated, frustrated_mails=newest)
    noted = decide_person.note_signals(person(frustrated_in_row=before), signals, THREAD, mails=mails)
    assert noted.frustrated_in_row == after


def test_mood_moves_with_each_mail_of_a_turn() -> None:
    """Two mails of one turn weigh as two turns of one mail; a turn whose mails were counted before moves nothing."""
    once = decide_person.note_signals(person(), MailSignals(sentiment=-1), THREAD).sentiment
    twice = decide_person.note_signals(person(sentiment=once), MailSignals(sentiment=-1), THREAD).sentiment
    assert decide_person.note_signals(person(), MailSignals(sentiment=-1), THREAD, mails=2).sentiment == twice
    assert (
        decide_person.note_signals(person(sentiment=0.3), MailSignals(sentiment=-1), THREAD, mails=0).sentiment == 0.3
    )


def test_a_resolved_thread_leaves_no_trouble_open() -> None:
    """What was reported in it is over, whoever resolved it, also where we learn of the trouble after that."""
    issue = KnownIssue("csv export timeout", 1, False, THREAD)
    over = issues.issues_over(person(issues=(issue,)), THREAD)
    assert over is not None
    assert over.thread_id == THREAD
    assert issues.issues_over(person(issues=(issue,)), id_of("other thread")) is None
    late = decide_person.note_signals(person(), MailSignals(issue_key="csv export timeout"), THREAD, thread_over=True)
    assert late.issue_resolved
