"""The stack that a test session runs on, and fresh databases on it.

One embedded stack serves the whole session. `CORRESPONDENT_TEST_KAFKA` puts Apache Kafka in its broker's place:
`apache` has the stack run it from its jars, so that chaos tests can kill it; `host:port` uses one that runs already.
Databases are made from a template, so that a migrated one costs a file copy.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from deploy.local import EmbeddedStack
from tests.support.places import public_folder

KAFKA = "CORRESPONDENT_TEST_KAFKA"
EMPTY = "template1"
_numbers = count(1)


@contextmanager
def temporary_home(*, in_memory: bool = False) -> Iterator[Path]:
    """A folder for a stack, removed afterwards. Not pytest's: as root, Postgres' user must be able to enter it.

    A copy of the template is a thousand small files: in memory it costs a fifth of the CPU that it costs on a disk.
    """
    with public_folder("correspondent-", in_memory=in_memory) as home:
        yield home


@contextmanager
def session_stack() -> Iterator[EmbeddedStack]:
    """A running stack in a temporary folder, with Apache Kafka where the environment names one."""
    with temporary_home(in_memory=True) as home:
        stack = EmbeddedStack(home, kafka=broker_under_test(), throwaway=True)
        with stack:
            yield stack


def broker_under_test() -> str:
    """`embedded`, `apache`, or the `host:port` of an Apache Kafka that runs already."""
    return os.environ.get(KAFKA, "embedded")


def uses_apache_kafka() -> bool:
    """Whether this session runs on Apache Kafka and not on the embedded broker."""
    return broker_under_test() != "embedded"


@contextmanager
def fresh_database(server: str, *, template: str = EMPTY) -> Iterator[str]:
    """The URL of a new database copied from `template` on the server of the URL `server`, dropped afterwards."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    create_database(server, name, template=template)
    try:
        yield urlsplit(server)._replace(path=f"/{name}").geturl()
    finally:
        drop_database(server, name)


def create_database(server: str, name: str, *, template: str = EMPTY) -> None:
    """Make the database `name`; nobody may be connected to `template`."""
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
        sql.Identifier(name), sql.Identifier(template)
    )
    _execute(server, statement)


def drop_database(server: str, name: str) -> None:
    """Remove the database `name`, whoever is still connected to it."""
    statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    _execute(server, statement)


def _execute(server: str, statement: sql.Composed) -> None:
    """On this process' one connection to the server, made again where the server was restarted since."""
    try:
        _connected(server).execute(statement)
    except psycopg.OperationalError:
        _connected.cache_clear()
        _connected(server).execute(statement)


@cache
def _connected(server: str) -> psycopg.Connection:
    return psycopg.connect(server, autocommit=True)
