"""A circuit breaker per (workspace, provider, key): an outage pauses whom it hits, and nobody else.

Closed, every question passes. After `failures` in a row it opens: questions are turned away at once. When the
pause is over it is half open: one question passes as a probe, its success closes the circuit, its failure opens
it again for twice as long, up to a limit. `decide` is pure; time is seconds on any clock that never goes back.
Only `ModelUnavailable` is a failure: a server that refuses a request is alive. `ModelDenied` (a revoked key, an account
that cannot pay) opens the circuit at once, since every question would be denied.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from services.core.errors import ModelDenied, ModelRefused, ModelUnavailable
from services.core.retries import doubled_s
from services.model.port import Answer, Model, Request

Mode = Literal["closed", "open", "half_open"]
Event = Literal["asked", "succeeded", "failed", "denied", "abandoned"]


class ModelPaused(ModelUnavailable):
    """The model's service failed several times in a row; asking it is paused."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"{self.__doc__} Next try in {retry_after_s:.0f} s.")
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class Policy:
    """When the circuit opens, and for how many seconds."""

    failures: int = 5
    pause_s: float = 10.0
    longest_pause_s: float = 300.0


@dataclass(frozen=True, slots=True)
class State:
    """Where the circuit stands. `until` is the end of the pause, or when a probe counts as lost."""

    mode: Mode = "closed"
    failures: int = 0
    pause_s: float = 0.0
    until: float = 0.0


@dataclass(frozen=True, slots=True)
class Decision:
    """The next state; `admitted` says whether a question passes, `wait_s` when to come back if not."""

    state: State
    admitted: bool = True
    wait_s: float = 0.0


def decide(state: State, event: Event, now: float, policy: Policy) -> Decision:
    """What an event makes of the circuit at the time `now` (seconds)."""
    match event:
        case "asked":
            return _asked(state, now)
        case "succeeded":
            return Decision(State())
        case "failed":
            return Decision(_failed(state, now, policy))
        case "denied":
            return Decision(_opened(state, now, policy) if state.mode != "open" else state)
        case "abandoned":
            return Decision(replace(state, mode="open", until=now) if state.mode == "half_open" else state)


def _asked(state: State, now: float) -> Decision:
    if state.mode == "closed":
        return Decision(state)
    if now < state.until:
        return Decision(state, admitted=False, wait_s=state.until - now)
    return Decision(replace(state, mode="half_open", until=now + state.pause_s))


def _failed(state: State, now: float, policy: Policy) -> State:
    failures = state.failures + 1
    if state.mode == "open":
        return replace(state, failures=failures)
    if state.mode == "closed" and failures < policy.failures:
        return replace(state, failures=failures)
    return _opened(state, now, policy)


def _opened(state: State, now: float, policy: Policy) -> State:
    pause_s = doubled_s(state.pause_s, policy.pause_s, policy.longest_pause_s)
    return State("open", state.failures + 1, pause_s, now + pause_s)


class GuardedModel:
    """A model behind one circuit. `clock` gives seconds; it is called before and after each question."""

    def __init__(self, model: Model, clock: Callable[[], float], policy: Policy | None = None) -> None:
        self.state = State()
        self.error = ""
        self.noted: tuple[bool, float] | None = None  # what `outages.model.note` wrote last: whether open, and until
        self._answered = 0
        self._model = model
        self._clock = clock
        self._policy = policy or Policy()

    @property
    def name(self) -> str:
        """The name of the guarded provider."""
        return self._model.name

    @property
    def wait_s(self) -> float:
        """How long questions are still turned away, in seconds; 0.0 if one may pass."""
        return _asked(self.state, self._clock()).wait_s

    async def ask(self, request: Request) -> Answer:
        """Ask the model. Raises `ModelPaused` without asking while the circuit is open."""
        decision = self._note("asked")
        if not decision.admitted:
            raise self._counted(ModelPaused(decision.wait_s))
        outcome: Event = "abandoned"
        try:
            answer = await self._model.ask(request)
            outcome = "succeeded"
        except ModelUnavailable as error:
            outcome = "denied" if isinstance(error, ModelDenied) else "failed"
            self.error = str(error)
            raise self._counted(error) from error.__cause__
        except ModelRefused:
            outcome = "succeeded"
            raise
        finally:
            self._answered += outcome == "succeeded"
            self._note(outcome)
        return answer

    def _counted(self, error: ModelUnavailable) -> ModelUnavailable:
        error.answered = self._answered
        return error

    async def close(self) -> None:
        """Close the guarded model's connections."""
        await self._model.close()

    def _note(self, event: Event) -> Decision:
        decision = decide(self.state, event, self._clock(), self._policy)
        self.state = decision.state
        return decision


class Breakers:
    """The circuits of one process, one for each workspace, provider and key; the key itself is not kept."""

    def __init__(self, clock: Callable[[], float], policy: Policy | None = None) -> None:
        self._clock = clock
        self._policy = policy or Policy()
        self._guarded: dict[tuple[str, str, str], GuardedModel] = {}

    def guard(self, model: Model, *, workspace: str, key: str) -> GuardedModel:
        """The model behind the circuit of this workspace, provider and key; made with it the first time."""
        place = (workspace, model.name, hashlib.sha256(key.encode()).hexdigest())
        if place not in self._guarded:
            self._guarded[place] = GuardedModel(model, self._clock, self._policy)
        return self._guarded[place]
