import psycopg
import pytest
import redis.exceptions
from aiokafka.errors import KafkaConnectionError, MessageSizeTooLargeError
from hypothesis import given
from hypothesis import strategies as st
from psycopg_pool import PoolTimeout

from services.core.blobs import BlobStoreFull
from services.core.bus.retry import Outage, RetryPolicy, classify, is_database_away
from services.core.errors import EmbedderDenied, EmbedderUnavailable, ModelDenied, ModelRefused, ModelUnavailable
from services.core.object_blobs import ObjectStoreAway


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


@pytest.mark.parametrize(
    ("error", "away"),
    [
        (psycopg.OperationalError("server closed the connection"), True),
        (PoolTimeout("couldn't get a connection after 30.00 sec"), True),
        (psycopg.errors.AdminShutdown(), True),
        (psycopg.errors.CannotConnectNow(), True),
        (psycopg.errors.TooManyConnections(), True),
        (psycopg.errors.DiskFull(), True),
        (ExceptionGroup("two layers", [psycopg.errors.AdminShutdown(), TimeoutError()]), True),
        (ExceptionGroup("two layers", [psycopg.errors.AdminShutdown(), ValueError("poison")]), False),
        (psycopg.errors.QueryCanceled(), False),
        (psycopg.errors.PipelineAborted(), False),
        (psycopg.errors.LockNotAvailable(), False),
        (psycopg.errors.UniqueViolation(), False),
        (TimeoutError(), False),
    ],
)
def test_postgres_is_away_where_it_works_for_nobody(error: BaseException, away: bool) -> None:
    """A statement that waited too long or was refused is its own failure; a server that takes nobody is not."""
    assert is_database_away(error) is away


@pytest.mark.parametrize("error", [BlobStoreFull("no space left"), ObjectStoreAway("no answer")])
def test_two_minutes_of_a_full_disk_made_dead_letters_of_the_mail_that_came(error: Exception) -> None:
    """What needs a blob waits for as long as the store has no room or does not answer."""
    assert classify(error) == "away"


@pytest.mark.parametrize("error", [EmbedderUnavailable("no answer"), EmbedderDenied("401")])
def test_two_minutes_without_the_embedding_service_failed_the_turns_that_came(error: Exception) -> None:
    """What needs a vector waits for as long as the service does not answer, or takes no key."""
    assert classify(error) == "away"


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
