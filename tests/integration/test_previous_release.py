"""A database that the previous release wrote is rebuilt to the same rows, and cases that it saved are replayed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deploy.local import Endpoints
from schemas.events.memory import BriefWritten
from services.core.app import open_app
from services.core.db.migrate import migrate
from services.core.settings import Settings
from services.operations.mailboxes import give_mailbox_keys
from services.operations.rebuild import run
from services.operations.rebuild.scopes import scope
from services.operations.replay.model import Asking
from services.operations.replay.result import Result
from services.operations.replay.run import replay, saved_cases
from tests.support.app import settings_for
from tests.support.previous_release import play_in, previous_release
from tests.support.stack import fresh_database, temporary_home

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SAME = ("read_email", "track_threads", "reflect")  # what these decide, the release decided likewise
MORE = ("generate_reply", "learn_facts")  # these say more than they did, and a brief otherwise


@pytest.fixture(scope="module")
async def written(stack: Endpoints, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Settings, Path]]:
    """The settings of a deployment whose database the previous release wrote, and the folder of its saved cases."""
    folder = tmp_path_factory.mktemp("previous")
    _, tree = previous_release(folder)
    with temporary_home(in_memory=True) as home, fresh_database(stack.database) as url:
        settings = settings_for(stack, url, "previous.", home)
        await play_in(tree, stack, settings, folder / "cases", (*SAME, *MORE))
        yield settings, folder / "cases"


async def test_what_the_previous_release_wrote_is_what_its_events_make_today(written: tuple[Settings, Path]) -> None:
    """After the migrations and the first start, each live table has the hash of one that this tree makes of the events."""
    settings, _ = written
    assert migrate(settings.database_url), "the database is as the previous release left it"
    async with open_app(settings) as app:
        await give_mailbox_keys(app)
    found = await run.check(settings, scope("all"), lambda count: None)
    assert found.events > 50
    assert found.differences == ()


@pytest.mark.parametrize("processor", SAME)
async def test_cases_that_the_previous_release_saved_happen_again(
    written: tuple[Settings, Path], database: str, stack: Endpoints, processor: str
) -> None:
    """With their recordings, nothing differs from what that release recorded."""
    results = await _replayed(written, database, stack, processor)
    assert [one.model_dump() for one in results if one.code] == []


@pytest.mark.parametrize("processor", MORE)
async def test_cases_that_the_previous_release_saved_lose_nothing(
    written: tuple[Settings, Path], database: str, stack: Endpoints, processor: str
) -> None:
    """No case fails; what that release recorded is recorded again, with fields that it did not have."""
    results = await _replayed(written, database, stack, processor)
    assert [one.error for one in results if one.error] == []
    counted = [one for result in results for one in result.differences if one.counts and one.event != BriefWritten.TYPE]
    assert [one.model_dump() for one in counted if one.before] == []


async def _replayed(written: tuple[Settings, Path], database: str, stack: Endpoints, processor: str) -> list[Result]:
    """The results of the cases up to a processor, in a database of this tree's."""
    settings, cases = written
    files = sorted((cases / processor).glob("*.json"))
    assert len(files) >= 4  # each of the mails
    here = settings_for(stack, database, "previous.", settings.home)
    return [result async for _, result, _ in replay(here, saved_cases(files), Asking())]
