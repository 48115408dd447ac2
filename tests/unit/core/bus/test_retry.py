import psycopg
import pytest
import redis.exceptions
from aiokafka.errors import KafkaConnectionError, MessageSizeTooLargeError
from hypothesis import given
from hypothesis import strategies as st

from services.core.bus.retry import Outage, RetryPolicy, classify
from services.core.errors import ModelDenied, ModelRefused, ModelUnavailable


@pytest.mark.parametrize(
    "error",
    [
        psycopg.OperationalError("server closed the connection"),
        psycopg.errors.SerializationFailure(),
        psycopg.InterfaceError("the connection is closed"),
        redis.exceptions.ConnectionError(),
        redis.exceptions.BusyLoadingError(),
        ConnectionResetError(),
        TimeoutError(),
        KafkaConnectionError(),
        ExceptionGroup("both", [TimeoutError(), ModelUnavailable()]),
    ],
)
def test_what_may_pass_by_itself_is_temporary(error: BaseException) -> None:
    """Errors of connections, time and overload are tried again."""
    assert classify(error) == "temporary"


def test_an_event_that_fails_while_others_are_answered_is_at_fault_in_the_end() -> None:
    """A service that answers nobody is waited for without an end; one that answers others ten times in between is not."""
    silent, selective = Outage(), Outage()
    assert all(silent.lasts(_unavailable(7)) for _ in range(1000))
    assert [selective.lasts(_unavailable(n)) for n in range(11)] == [True] * 10 + [False]


def _unavailable(answered: int) -> ModelUnavailable:
    error = ModelDenied()
    assert classify(error) == "away"
    error.answered = answered
    return error


@pytest.mark.parametrize(
    "error",
    [
        ModelRefused(),
        ValueError("poison"),
        KeyError("field"),
        FileNotFoundError(),
        psycopg.errors.UniqueViolation(),
        psycopg.errors.UndefinedColumn(),
        redis.exceptions.ResponseError(),
        MessageSizeTooLargeError(),
        ExceptionGroup("mixed", [TimeoutError(), ValueError()]),
    ],
)
def test_what_fails_every_time_is_permanent(error: BaseException) -> None:
    """Errors of the data or of the code are given up at once, also in company of temporary ones."""
    assert classify(error) == "permanent"


@given(
    attempt_s=st.floats(0, 100),
    policy=st.builds(
        RetryPolicy,
        first_pause_s=st.floats(0.01, 5),
        factor=st.floats(1, 4),
        longest_pause_s=st.floats(0.1, 30),
        budget_s=st.floats(0, 60),
    ),
)
def test_the_last_attempt_starts_within_the_budget(attempt_s: float, policy: RetryPolicy) -> None:
    """Whatever the attempts take, no attempt starts after the budget is spent, and attempts come to an end."""
    spent, attempts = attempt_s, 1
    while (pause := policy.pause_after(attempts, spent)) is not None:
        assert pause <= policy.longest_pause_s
        spent += pause
        assert spent < policy.budget_s
        spent, attempts = spent + attempt_s, attempts + 1
        assert attempts <= 6002


def test_pauses_grow_up_to_the_longest() -> None:
    """The pause doubles from half a second and stays at the longest, however many attempts there were."""
    policy = RetryPolicy(first_pause_s=0.5, factor=2, longest_pause_s=15)
    assert [policy.uncapped_pause(n) for n in (1, 2, 3, 6, 7, 100_000)] == [0.5, 1, 2, 15, 15, 15]
