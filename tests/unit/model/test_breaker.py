"""The circuit breaker as a table, and around a model."""

from __future__ import annotations

import asyncio

import pytest

from services.core.errors import ModelRefused, ModelUnavailable
from services.model.breaker import Breakers, Event, GuardedModel, ModelPaused, Policy, State, decide
from services.model.port import Answer, Request

POLICY = Policy(failures=3, pause_s=10.0, longest_pause_s=35.0)
NOW = 100.0
CLOSED = State()
TIRED = State(failures=2)
OPEN = State("open", 3, 10.0, 110.0)
RESTED = State("open", 3, 10.0, 100.0)
PROBING = State("half_open", 3, 10.0, 110.0)
LONG = State("half_open", 9, 30.0, 130.0)


@pytest.mark.parametrize(
    ("state", "event", "after", "admitted"),
    [
        (CLOSED, "asked", CLOSED, True),
        (CLOSED, "failed", State(failures=1), True),
        (TIRED, "succeeded", CLOSED, True),
        (CLOSED, "denied", State("open", 1, 10.0, 110.0), True),
        (PROBING, "denied", State("open", 4, 20.0, 120.0), True),
        (OPEN, "denied", OPEN, True),
        (TIRED, "failed", OPEN, True),
        (TIRED, "abandoned", TIRED, True),
        (OPEN, "asked", OPEN, False),
        (OPEN, "failed", State("open", 4, 10.0, 110.0), True),
        (OPEN, "succeeded", CLOSED, True),
        (RESTED, "asked", PROBING, True),
        (PROBING, "asked", PROBING, False),
        (PROBING, "succeeded", CLOSED, True),
        (PROBING, "failed", State("open", 4, 20.0, 120.0), True),
        (PROBING, "abandoned", RESTED, True),
        (LONG, "failed", State("open", 10, 35.0, 135.0), True),
    ],
)
def test_every_edge_of_the_circuit(state: State, event: Event, after: State, admitted: bool) -> None:
    """Each state takes each event to one state, and turns questions away only while open or probing."""
    decision = decide(state, event, NOW, POLICY)
    assert decision.state == after
    assert decision.admitted is admitted


def test_lost_probe_is_sent_again() -> None:
    """A probe that never came back does not keep the circuit half open for ever."""
    decision = decide(PROBING, "asked", 110.0, POLICY)
    assert decision.admitted
    assert decision.state == State("half_open", 3, 10.0, 120.0)


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class _Patient:
    """A model that raises what it is told to, and counts the questions that reach it."""

    name = "patient"

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.asked = 0

    async def ask(self, request: Request) -> Answer:
        self.asked += 1
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        return Answer("Hi", (), "end_turn", "patient")


QUESTION = Request("reply", "s", (), "t")


async def _fails(model: GuardedModel, times: int) -> None:
    for _ in range(times):
        with pytest.raises(ModelUnavailable):
            await model.ask(QUESTION)


async def test_outage_pauses_and_a_probe_ends_it() -> None:
    """After three failures nothing is asked; after the pause one question is, and its success reopens the way."""
    clock, patient = _Clock(), _Patient()
    model = GuardedModel(patient, clock, POLICY)
    patient.error = ModelUnavailable()
    await _fails(model, 3)
    with pytest.raises(ModelPaused) as paused:
        await model.ask(QUESTION)
    assert (patient.asked, paused.value.retry_after_s, model.wait_s) == (3, 10.0, 10.0)
    clock.now, patient.error = 10.0, None
    answers = await asyncio.gather(*(model.ask(QUESTION) for _ in range(3)), return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in answers) == ["Answer", "ModelPaused", "ModelPaused"]
    assert (await model.ask(QUESTION)).text == "Hi"
    assert model.wait_s == 0.0


async def test_refusals_do_not_open_the_circuit() -> None:
    """A server that refuses requests is alive, so others are still asked."""
    patient = _Patient()
    model = GuardedModel(patient, _Clock(), POLICY)
    patient.error = ModelRefused()
    for _ in range(5):
        with pytest.raises(ModelRefused):
            await model.ask(QUESTION)
    assert patient.asked == 5


async def test_refused_probe_closes_the_circuit() -> None:
    """A probe that is refused shows that the service is back, so the next question passes at once."""
    clock, patient = _Clock(), _Patient()
    model = GuardedModel(patient, clock, POLICY)
    patient.error = ModelUnavailable()
    await _fails(model, 3)
    clock.now, patient.error = 10.0, ModelRefused()
    with pytest.raises(ModelRefused):
        await model.ask(QUESTION)
    assert model.state == State()


async def test_cancelled_probe_frees_its_place() -> None:
    """A probe whose handler was cancelled lets the next question be the probe, at once."""
    clock, patient = _Clock(), _Patient()
    model = GuardedModel(patient, clock, POLICY)
    patient.error = ModelUnavailable()
    await _fails(model, 3)
    clock.now, patient.error = 10.0, asyncio.CancelledError()
    with pytest.raises(asyncio.CancelledError):
        await model.ask(QUESTION)
    patient.error = None
    assert (await model.ask(QUESTION)).text == "Hi"


async def test_outage_of_one_pauses_nobody_else() -> None:
    """Another workspace, another key: another circuit; the same ones: the same circuit."""
    breakers, broken = Breakers(_Clock(), POLICY), _Patient()
    broken.error = ModelUnavailable()
    await _fails(breakers.guard(broken, workspace="w1", key="k1"), 3)
    assert breakers.guard(broken, workspace="w1", key="k1").wait_s == 10.0
    assert breakers.guard(_Patient(), workspace="w1", key="k2").wait_s == 0.0
    assert breakers.guard(_Patient(), workspace="w2", key="k1").wait_s == 0.0
