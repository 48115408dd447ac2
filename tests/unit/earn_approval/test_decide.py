"""When an intent opens, and when it closes."""

from __future__ import annotations

from uuid import UUID

import pytest

from schemas.events.approvals import ApprovalClosed, ApprovalCounted, ApprovalOpened, ApprovalRequested, Outcome
from services.core.settings import ApprovalSettings
from services.earn_approval.decide import Pattern, requested, step_after
from services.mail.sender import sender_of

ID = UUID(int=7)
EARNS = ApprovalSettings(earn=True, bound=0.8, over=40)
SENDERS = frozenset({"a.example", "b.example", "c.example"})


def counted(outcome: Outcome, intent: str = "how_to") -> ApprovalCounted:
    return ApprovalCounted(approval_id=ID, inbox="support", intent=intent, reply_id=UUID(int=1), outcome=outcome)


def test_sixteen_approvals_unchanged_reach_a_bound_of_four_fifths_and_fifteen_do_not() -> None:
    """The step carries the numbers that it rests on."""
    assert step_after(counted("unchanged"), Pattern(False, ("unchanged",) * 15, SENDERS), EARNS) is None
    step = step_after(counted("unchanged"), Pattern(False, ("unchanged",) * 16, SENDERS), EARNS)
    assert isinstance(step, ApprovalOpened)
    assert (step.count.unchanged, step.count.of, step.count.bound, step.count.threshold) == (16, 16, 0.8064, 0.8)


def test_only_the_last_decisions_count() -> None:
    """What lies before them is forgotten, good or bad."""
    decisions: tuple[Outcome, ...] = ("unchanged",) * 40 + ("rejected",) * 40
    assert isinstance(step_after(counted("unchanged"), Pattern(False, decisions, SENDERS), EARNS), ApprovalOpened)


@pytest.mark.parametrize("outcome", ["edited", "rejected", "answered_by_hand", "reopened"])
def test_the_first_correction_closes(outcome: Outcome) -> None:
    """However good the share is."""
    step = step_after(counted(outcome), Pattern(True, (outcome, *("unchanged",) * 39), SENDERS), EARNS)
    assert isinstance(step, ApprovalClosed)
    assert step.reason.startswith(outcome.replace("_", " "))


@pytest.mark.parametrize("outcome", ["unchanged", "held"])
def test_what_is_no_correction_leaves_it_open(outcome: Outcome) -> None:
    """An approval unchanged, and a resolution that held."""
    assert step_after(counted(outcome), Pattern(True, ("unchanged",) * 16, SENDERS), EARNS) is None


@pytest.mark.parametrize("outcome", ["held", "edited"])
def test_nothing_but_an_approval_unchanged_opens(outcome: Outcome) -> None:
    """Even where the bound is reached."""
    assert step_after(counted(outcome), Pattern(False, ("unchanged",) * 40, SENDERS), EARNS) is None


def test_nothing_opens_unless_the_settings_say_so_nor_what_is_alike_in_nothing() -> None:
    """It is off by default, and `other` names no intent."""
    pattern = Pattern(False, ("unchanged",) * 40, SENDERS)
    assert step_after(counted("unchanged"), pattern, ApprovalSettings()) is None
    assert step_after(counted("unchanged", "other"), pattern, EARNS) is None


@pytest.mark.parametrize("is_open", [True, False])
def test_a_person_opens_and_closes_once(is_open: bool) -> None:
    """What stands so already is no step."""
    asked = ApprovalRequested(approval_id=ID, inbox="support", intent="how_to", open=is_open, by="grace", reason="!")
    step = requested(asked, Pattern(not is_open, ()), ApprovalSettings())
    assert isinstance(step, ApprovalOpened if is_open else ApprovalClosed)
    assert (step.by, step.reason) == ("grace", "!")
    assert requested(asked, Pattern(is_open, ()), ApprovalSettings()) is None


def test_one_sender_earned_an_intent_for_everybody() -> None:
    """Many easy mails of one sender are approved unread; then comes the one that should not leave."""
    decisions: tuple[Outcome, ...] = ("unchanged",) * 40
    senders = {sender_of(f"eve{number}@mail{number}.evil.example") for number in range(40)}
    senders |= {sender_of("eve@gmail.com")}
    assert step_after(counted("unchanged"), Pattern(False, decisions, senders), EARNS) is None
    senders |= {sender_of("ann@gmail.com")}
    assert isinstance(step_after(counted("unchanged"), Pattern(False, decisions, senders), EARNS), ApprovalOpened)
