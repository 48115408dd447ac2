"""A run that proves little does not pass for one that proves much."""

from __future__ import annotations

from collections import Counter

from tests.chaos.run import UNASKED, WORKED, Ran
from tests.chaos.schedule import draw
from tests.oracle.judge import Judged


def ran(felt: Counter[str], sent: int = 150) -> Ran:
    judged = Judged(200, {"sent": sent, "park": 200 - sent}, sent, 0, sent, 0, ())
    return Ran(draw(7), judged, felt, 100.0)


FELT = Counter(fault.kind for fault in draw(7).faults) + Counter(WORKED)


def test_a_run_in_which_every_fault_met_somebody_proves_enough() -> None:
    """Most mails answered and each kind of fault done: there is nothing to say."""
    assert ran(Counter(FELT)).shortfalls == ()


def test_a_deployment_that_answers_nobody_is_named() -> None:
    """Every mail parked is no pass, although no promise is broken."""
    assert ran(Counter(FELT), sent=0).shortfalls == ("0 of 200 mails were answered",)


def test_faults_that_met_nothing_are_named() -> None:
    """A kill that was not done, SMTP faults that no mail met, and model faults that no question met."""
    felt = Counter(FELT) - Counter({"kill": 1, "smtp-never": 1}) + Counter({UNASKED: 3})
    said = ran(felt).shortfalls
    assert f"kill was done {FELT['kill'] - 1} of {FELT['kill']} times" in said
    assert {"smtp-never met nobody", "3 faults of the model met no question"} <= set(said)


def test_processors_that_had_nothing_to_do_are_named() -> None:
    """A run in which nothing was proposed, decided or opened proves nothing of who does that."""
    assert set(ran(Counter(FELT) - Counter(WORKED)).shortfalls) == {f"there were no {kind}" for kind in WORKED}
