"""The fixtures that every test may ask for; a test that asks for none touches no server."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from itertools import count
from urllib.parse import urlsplit

import pytest

from deploy.local import EmbeddedStack, Endpoints, running_endpoints
from services.core.db.migrate import migrate
from tests.support.stack import create_database, fresh_database, session_stack

os.environ.pop("ANTHROPIC_API_KEY", None)  # no test asks a model that costs money
os.environ.pop("COLUMNS", None)  # a worker of pytest-xdist has a terminal of 80 columns; tests say how wide theirs is

TEMPLATE = "migrated"
_prefixes = count(1)

# A shell that starts pytest in the background has it, and all it starts, ignore Ctrl-C; tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
    with fresh_database(stack.database, template=template_database) as url:
        yield url


@pytest.fixture
def topic_prefix() -> str:
    """A string with which this test's topics and groups begin, on a broker that outlives sessions too."""
    return f"t{os.getpid()}-{os.urandom(3).hex()}-{next(_prefixes)}."
