"""When an intent opens, and when it closes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle
from uuid import UUID

import pytest

from schemas.events.approvals import ApprovalClosed, ApprovalCounted, ApprovalOpened, ApprovalRequested, Outcome
from services.core.settings import ApprovalSettings
from services.earn_approval.decide import requested, step_after
from services.earn_approval.pattern import Decision, Pattern, evolve
from services.mail.sender import sender_of

ID = UUID(int=7)
EARNS = ApprovalSettings(earn=True, bound=0.8, over=40)
SENDERS = ("a.example", "b.example", "c.example")
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def counted(outcome: Outcome, intent: str = "how_to") -> ApprovalCounted:
    return ApprovalCounted(approval_id=ID, inbox="support", intent=intent, reply_id=UUID(int=1), outcome=outcome)


def pattern(is_open: bool, outcomes: Sequence[Outcome], senders: Collection[str] = ()) -> Pattern:
    """An intent after these decisions, the newest first, of drafts to each of the senders in turn."""
    to = cycle(senders or ("",))
    decisions = (Decision(AT - timedelta(hours=n), UUID(int=n), one, next(to)) for n, one in enumerate(outcomes))
    return Pattern(over=40, is_open=is_open, decisions=tuple(decisions))


def test_sixteen_approvals_unchanged_reach_a_bound_of_four_fifths_and_fifteen_do_not() -> None:
    """The step carries the numbers that it rests on."""
    assert step_after(counted("unchanged"), pattern(False, ("unchanged",) * 15, SENDERS), EARNS) is None
    step = step_after(counted("unchanged"), pattern(False, ("unchanged",) * 16, SENDERS), EARNS)
    assert isinstance(step, ApprovalOpened)
    assert (step.count.unchanged, step.count.of, step.count.bound, step.count.threshold) == (16, 16, 0.8064, 0.8)


def test_what_is_rounded_for_people_opened_an_intent_below_the_bound() -> None:
    """16 of 16 have a bound of 0.80638..., which is told as 0.8064 and is less than that."""
    asked = EARNS.model_copy(update={"bound": 0.8064})
    assert step_after(counted("unchanged"), pattern(False, ("unchanged",) * 16, SENDERS), asked) is None


def test_only_the_last_decisions_count() -> None:
    """With the 41st of forty the oldest is forgotten, good or bad."""
    outcomes: tuple[Outcome, ...] = ("unchanged",) * 39 + ("rejected",)
    before = replace(pattern(False, outcomes, SENDERS), sender="d.example")
    after = evolve(before, counted("unchanged"), AT + timedelta(hours=1))
    assert [one.outcome for one in after.decisions] == ["unchanged"] * 40
    assert after.decisions[0].sender == "d.example"


@pytest.mark.parametrize("outcome", ["edited", "rejected", "answered_by_hand", "reopened"])
def test_the_first_correction_closes(outcome: Outcome) -> None:
    """However good the share is."""
    step = step_after(counted(outcome), pattern(True, (outcome, *("unchanged",) * 39), SENDERS), EARNS)
    assert isinstance(step, ApprovalClosed)
    assert step.reason.startswith(outcome.replace("_", " "))


@pytest.mark.parametrize("outcome", ["unchanged", "held"])
def test_what_is_no_correction_leaves_it_open(outcome: Outcome) -> None:
    """An approval unchanged, and a resolution that held."""
    assert step_after(counted(outcome), pattern(True, ("unchanged",) * 16, SENDERS), EARNS) is None


@pytest.mark.parametrize("outcome", ["held", "edited"])
def test_nothing_but_an_approval_unchanged_opens(outcome: Outcome) -> None:
    """Even where the bound is reached."""
    assert step_after(counted(outcome), pattern(False, ("unchanged",) * 40, SENDERS), EARNS) is None


def test_nothing_opens_unless_the_settings_say_so_nor_what_is_alike_in_nothing() -> None:
    """It is off by default, and `other` names no intent."""
    earned = pattern(False, ("unchanged",) * 40, SENDERS)
    assert step_after(counted("unchanged"), earned, ApprovalSettings()) is None
    assert step_after(counted("unchanged", "other"), earned, EARNS) is None


@pytest.mark.parametrize("is_open", [True, False])
def test_a_person_opens_and_closes_once(is_open: bool) -> None:
    """What stands so already is no step."""
    asked = ApprovalRequested(approval_id=ID, inbox="support", intent="how_to", open=is_open, by="grace", reason="!")
    step = requested(asked, pattern(not is_open, ()), ApprovalSettings())
    assert isinstance(step, ApprovalOpened if is_open else ApprovalClosed)
    assert (step.by, step.reason) == ("grace", "!")
    assert requested(asked, pattern(is_open, ()), ApprovalSettings()) is None


def test_one_sender_earned_an_intent_for_everybody() -> None:
    """Many easy mails of one sender are approved unread; then comes the one that should not leave."""
    decisions: tuple[Outcome, ...] = ("unchanged",) * 40
    senders = {sender_of(f"eve{number}@mail{number}.evil.example") for number in range(40)}
    senders |= {sender_of("eve@gmail.com")}
    assert step_after(counted("unchanged"), pattern(False, decisions, senders), EARNS) is None
    senders |= {sender_of("ann@gmail.com")}
    assert isinstance(step_after(counted("unchanged"), pattern(False, decisions, senders), EARNS), ApprovalOpened)
