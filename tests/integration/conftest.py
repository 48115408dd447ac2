"""What several files stand on: a deployment that has lived through the demo's world, and a mail server."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.settings import Settings
from tests.support.lived_in import keep_lived_in, lived_in_copy
from tests.support.smtp_server import SmtpServer


@pytest.fixture(scope="session")
async def kept_life(stack: Endpoints, template_database: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the world is kept, which every process of the session shares."""
    own = tmp_path_factory.getbasetemp()
    kept = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "lived-in"
    await keep_lived_in(stack, template_database, kept)
    return kept


@pytest.fixture(scope="module")
def lived_in(stack: Endpoints, kept_life: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The settings of a copy for one file; nobody is at work in it."""
    with lived_in_copy(stack, tmp_path_factory.mktemp("home"), kept_life) as settings:
        yield settings


@pytest.fixture
async def server() -> AsyncIterator[SmtpServer]:
    """A mail server that takes and keeps what it is given."""
    async with SmtpServer() as one:
        yield one
