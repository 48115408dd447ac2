"""What an operator sets under [learning] reaches every decision about facts, and stands in the event that decides it."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from schemas.events.memory import FactCorroborated, FactRecorded, FactRefused
from schemas.events.threads import StateChanged
from services.core.settings import ConfidenceSettings, LearningSettings
from services.learn_facts.facts import consequences
from services.learn_facts.facts import decide as decide_facts
from services.learn_facts.facts import requests as decide_requests
from services.learn_facts.facts.policy import extended
from tests.unit.learn_facts.people import NOW, PERSON, asked, id_of, known, person, proposal, source, support

LEARNING = LearningSettings(
    quote_characters=20,
    date_before_days=30,
    date_after_hours=5,
    alike_from=0.95,
    importance_by_hand=4,
    importance_of_acts=3,
    confidence=ConfidenceSettings(
        inferred=0.2, ours=0.3, authenticated=0.4, human=0.6, further_message=0.5, further_thread=0.5
    ),
)
POLICY = extended(learning=LEARNING)
NEW = id_of("new")


def test_a_first_source_makes_as_sure_as_is_said() -> None:
    """The confidence of a mail, of a person and of our own act is that of the settings."""
    (mail,) = decide_facts.propose(person(), proposal(quote="the Enterprise plan"), source(), NEW, POLICY)
    (hand,) = decide_requests.request(person(), asked("add", value="Team"), NEW, NOW, POLICY)
    step = StateChanged(
        thread_id=UUID(int=1), participant_id=PERSON, from_state="in_progress", to_state="resolved", trigger="human",
        reason="grace: with a credit",
    )  # fmt: skip
    act = decide_facts.resolved_by_hand(person(), step, NEW, NOW, POLICY)
    assert isinstance(mail, FactRecorded)
    assert isinstance(hand, FactRecorded)
    assert act is not None
    assert [one.confidence for one in (mail, hand, act)] == [0.4, 0.6, 0.3]
    assert [one.importance for one in (hand, act)] == [0.4, 0.3]


def test_further_sources_take_what_is_said_of_the_doubt() -> None:
    """A second message in a second thread halves the doubt twice, where both take half of it."""
    fact = known("Enterprise", supports=(support("first"),))
    said = proposal(quote="the Enterprise plan")
    events = list(decide_facts.propose(person(fact), said, source(), NEW, POLICY))
    (again,) = (one for one in events if isinstance(one, FactCorroborated))
    assert again.confidence == pytest.approx(1 - 0.6 * 0.5 * 0.5)


def test_a_quote_that_is_too_long_proves_nothing() -> None:
    """The refusal says how long a quote may be."""
    said = proposal(quote="on the Enterprise plan now, 40 seats")
    (event,) = decide_facts.propose(person(), said, source(), NEW, POLICY)
    assert isinstance(event, FactRefused)
    assert event.reason == "the quote has more than 20 characters"


@pytest.mark.parametrize(
    ("away", "believed"),
    [
        (timedelta(days=-30), True),
        (timedelta(days=-31), False),
        (timedelta(hours=5), True),
        (timedelta(hours=6), False),
    ],
)
def test_the_date_is_believed_as_far_as_is_said(away: timedelta, believed: bool) -> None:
    """Valid time is the mail's Date within the slack of the settings, else the receipt."""
    mail = source(sent_at=NOW + away)
    (event,) = decide_facts.propose(person(), proposal(quote="the Enterprise plan"), mail, NEW, POLICY)
    assert isinstance(event, FactRecorded)
    assert event.valid_from == (NOW + away if believed else mail.received_at)


@pytest.mark.parametrize(("near", "merges"), [(0.94, False), (0.95, True)])
def test_facts_become_one_from_the_nearness_that_is_said(near: float, merges: bool) -> None:
    """Below `alike_from` two facts that agree in all else stay two."""
    given = {"kind": "issue_history", "key": "export", "single_valued": False}
    one = known("times out", text="The CSV export times out.", **given)
    other = known("times out too", text="Exporting as CSV times out.", **given)
    found = consequences.merge(person(one, other), other.fact_id, lambda a, b: near, LEARNING)
    assert (found is not None) is merges
