"""The fixtures that every test may ask for; a test that asks for none touches no server."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, settings

from deploy.local import EmbeddedStack, Endpoints, running_endpoints
from services.core.db.migrate import migrate
from services.operations import idle
from tests.support.on_apache import runs_on_apache
from tests.support.once import worked_out_once
from tests.support.stack import create_database, fresh_database, session_stack

os.environ.pop("ANTHROPIC_API_KEY", None)  # no test asks a model that costs money
os.environ.pop("COLUMNS", None)  # a worker of pytest-xdist has a terminal of 80 columns; tests say how wide theirs is

# Hypothesis looks at the clock in two ways, and either fails a test that is right on a machine that is busy.
# `make test` draws the same examples each time, so that it judges the change and not chance; `make test-deep` looks for faults.
settings.register_profile(
    "busy machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    max_examples=50,
    derandomize=True,
)
settings.register_profile("deep", settings.get_profile("busy machine"), max_examples=500, derandomize=False)
settings.load_profile("busy machine")

idle.PATIENCE_S = 500  # a busy machine takes minutes; pytest's own limit guards against hanging

TEMPLATE = "migrated"
ROOT = Path(__file__).parents[1]
CHAOS = ROOT / "tests" / "chaos"
SLOWEST = 3  # a hired machine may be that much slower, and a hung test may end late
SLOW_UNTIL = "CORRESPONDENT_TEST_SLOW_UNTIL"  # seconds since 1970
_prefixes = count(1)

# A shell that starts pytest in the background has it, and all it starts, ignore Ctrl-C; tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Ten thousand collected tests live until the end: no collection of garbage looks through them again.

    Nor does one run after each 700 objects, which took a fifteenth of the time of tests that play mails.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Each process begins at another part of every folder, so that all together compile each module of tests once."""
    report = yield
    told = getattr(collector.config, "workerinput", None)
    if told and isinstance(collector, pytest.Directory):
        start = len(report.result) * int(told["workerid"].removeprefix("gw")) // told["workercount"]
        report.result = [*report.result[start:], *report.result[:start]]
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests for which the broker matters have the mark `broker`, chaos is `slow`; files that take longest come first, in every process alike."""
    for item in items:
        if item.path.is_relative_to(CHAOS):
            item.add_marker(pytest.mark.slow)
        if runs_on_apache(item.path.relative_to(ROOT), item.name) or item.get_closest_marker("kafka"):
            item.add_marker(pytest.mark.broker)
    longest: dict[Path, float] = {}
    for item in items:
        longest[item.path] = max(longest.get(item.path, 0.0), _patience(item))
        item.add_marker(pytest.mark.timeout(SLOWEST * _limit(item)), append=False)
    items.sort(key=lambda item: (-longest[item.path], item.path))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """CI may take so long and no longer: where a machine is too slow for all, tests of more than ten seconds are left out, and say so."""
    if item.get_closest_marker("slow") and time.time() > float(os.environ.get(SLOW_UNTIL, "inf")):
        pytest.skip(f"{SLOW_UNTIL} is over: no further test of more than ten seconds begins")


def _patience(item: pytest.Item) -> float:
    """How long a test may take, which is how long it takes compared with others: workers must not end with the longest."""
    folder = item.path.relative_to(ROOT).parts[1]
    usual = {"unit": 0.0, "contract": 1.0}.get(folder, 180.0 if item.get_closest_marker("slow") else 60.0)
    return _limit(item) if item.get_closest_marker("timeout") else usual


def _limit(item: pytest.Item) -> float:
    """After how many seconds a test hangs, on a machine that nothing slows."""
    limit = item.get_closest_marker("timeout")
    return float(limit.args[0] if limit else item.config.getini("timeout"))


@pytest.fixture(scope="session")
def embedded_stack() -> Iterator[EmbeddedStack]:
    """The session's stack itself, for chaos tests that kill and restart its parts; leave it running."""
    with session_stack() as stack:
        yield stack


@pytest.fixture(scope="session")
def stack(embedded_stack: EmbeddedStack) -> Endpoints:
    """Where the session's Kafka, Postgres, Valkey and SMTP sink answer."""
    endpoints = running_endpoints(embedded_stack.home)
    assert endpoints is not None
    return endpoints


@pytest.fixture(scope="session")
def template_database(stack: Endpoints) -> str:
    """The database that `database` copies: migrated once a session."""
    create_database(stack.database, TEMPLATE)
    migrate(urlsplit(stack.database)._replace(path=f"/{TEMPLATE}").geturl())
    return TEMPLATE


@pytest.fixture
def database(stack: Endpoints, template_database: str) -> Iterator[str]:
    """The URL of a database of this test's own."""
    with fresh_database(stack.database, template=template_database) as url, worked_out_once():
        yield url


@pytest.fixture
def topic_prefix() -> str:
    """A string with which this test's topics and groups begin, on a broker that outlives sessions too."""
    return f"t{os.getpid()}-{os.urandom(3).hex()}-{next(_prefixes)}."
