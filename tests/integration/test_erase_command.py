"""`correspondent forget --prove` and `scrub` as an operator types them, on the embedded stack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deploy.local import Endpoints
from services.cli.main import app as command_line
from services.core.app import App
from services.operations import deployment as running
from tests.support.app import running_app, settings_for
from tests.support.remembered_people import write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
EVE, FINN = "eve@typed-away.example", "finn@left-there.example"
WORD = "gobbledygooker"


async def typed(*arguments: str) -> Result:
    """Run `correspondent` in a thread of its own, as it starts its own loop."""
    return await asyncio.to_thread(CliRunner().invoke, command_line, list(arguments), env={"COLUMNS": "220"})


@pytest.fixture
async def app(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[App]:
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    monkeypatch.setattr(running, "settings_here", lambda home: settings)
    async with running_app(settings) as one:
        await one.cache.drop_all()
        await write(one, EVE, f"My order number is 88123. The {WORD} export is slow.", "<e1@typed-away.example>")
        await write(one, FINN, "My order number is 88123, too. Ask eve@typed-away.example.", "<f1@x.example>")
        yield one


async def test_forget_erases_scrubs_and_proves_and_says_what_others_keep(app: App) -> None:
    """Exit 0; what Finn said too is named and not searched for; again, nothing is held and nothing is left to scrub."""
    done = await typed("forget", "--participant", EVE, "--prove", "--yes", "--by", "the test")
    assert done.exit_code == 0, done.output
    assert "tables rewritten" in done.output
    assert f"keep it: {EVE}, 88123" in done.output
    assert "pieces of the server's files" in done.output
    assert "Proved: none of them is anywhere." in done.output
    again = await typed("forget", "--participant", EVE, "--prove", "--yes")
    assert (again.exit_code, "Nothing is held" in again.output, "rewritten" in again.output) == (0, True, False)
    assert "Nothing to scrub" in (await typed("scrub")).output
    assert "tables rewritten" in (await typed("scrub", "--all")).output


async def test_forget_without_a_scrub_is_not_proved_until_the_scrub_came(app: App) -> None:
    """Tables are not locked at noon: `--no-scrub` leaves them, the proof says so, `scrub` makes it true."""
    done = await typed("forget", "--participant", EVE, "--prove", "--yes", "--no-scrub")
    assert done.exit_code == 1, done.output
    assert "not rewritten since: mails" in done.output
    assert (await typed("scrub")).exit_code == 0
    done = await typed("forget", "--participant", EVE, "--prove", "--yes", "--also", WORD)
    assert done.exit_code == 0, done.output
