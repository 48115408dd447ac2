"""When to try again, as a value: which errors pass by themselves, and how long a lane may wait for that.

Invariant: the attempts after the first, and the pauses before them, never exceed `RetryPolicy.budget_s`. A lane is held
for one attempt and that budget at most; a rebalance never waits for it, as what pauses is dropped (`lanes`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import psycopg
import redis.exceptions
from aiokafka.errors import KafkaError

from services.core.errors import Away, Permanent, Temporary
from services.core.retries import pause_s

Verdict = Literal["away", "temporary", "permanent"]

PASSING = (
    Temporary,
    psycopg.OperationalError,
    psycopg.InterfaceError,
    redis.exceptions.ConnectionError,
    redis.exceptions.TimeoutError,
    ConnectionError,
    TimeoutError,
)


# SQLSTATEs of a server that takes nobody: connection exceptions, insufficient resources, shutting down or starting up.
_NO_SERVICE = ("08", "53", "57P")


def is_database_away(error: BaseException) -> bool:
    """Whether Postgres does not work for anybody, and it is not what it was asked for that failed.

    Of a group of errors: whether any is that, and none is permanent.
    """
    if isinstance(error, BaseExceptionGroup):
        return classify(error) != "permanent" and any(map(is_database_away, error.exceptions))
    if not isinstance(error, psycopg.OperationalError) or isinstance(error, psycopg.errors.PipelineAborted):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(_NO_SERVICE)


def classify(error: BaseException) -> Verdict:
    """Say whether the same call may succeed later; what is unknown is permanent.

    A group of errors is temporary only when every one of them is. `away` is temporary for as long as it takes.
    """
    if isinstance(error, BaseExceptionGroup):
        verdicts = {classify(inner) for inner in error.exceptions}
        return "permanent" if "permanent" in verdicts else "temporary"
    if isinstance(error, Away):
        return "away"
    if isinstance(error, Permanent):
        return "permanent"
    if isinstance(error, KafkaError):
        return "temporary" if error.retriable else "permanent"
    return "temporary" if isinstance(error, PASSING) else "permanent"


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential back-off within a budget that begins when the first attempt has failed.

    All figures are seconds, the factor is a ratio. The budget has room for a question to the model, so that a handler
    which used up its first attempt is tried again (`LaneSettings` says how the figures hold each other).
    """

    first_pause_s: float = 0.5
    factor: float = 2.0
    longest_pause_s: float = 15.0
    budget_s: float = 60.0

    def pause_after(self, attempts: int, spent_s: float) -> float | None:
        """Give the pause after that many failed attempts, or None when the budget would not hold another one."""
        pause = self.uncapped_pause(attempts)
        return pause if spent_s + pause < self.budget_s else None

    def uncapped_pause(self, attempts: int) -> float:
        """Give the pause after that many failed attempts, whatever has been spent."""
        return pause_s(attempts, self.first_pause_s, self.longest_pause_s, self.factor)


MOST_STRIKES = 10  # failures of one event at a service that answers others in between


@dataclass(slots=True)
class Outage:
    """What one event has met of a service that is away: how often, and how often the service answered others since."""

    failures: int = 0
    _strikes: int = 0
    _answered: int | None = None

    def lasts(self, error: Away) -> bool:
        """Whether the service, and not the event, is at fault; the event then waits on."""
        self.failures += 1
        if self._answered is not None and error.answered > self._answered:
            self._strikes += 1
        self._answered = error.answered
        return self._strikes < MOST_STRIKES
