"""The command line loads what it needs, when it needs it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from services.tools.cli import COMMANDS, app


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_loads_under_its_name_and_teaches(name: str) -> None:
    """Each name of the table leads to a command with a help of its own."""
    told = CliRunner().invoke(app, [name, "--help"])
    assert told.exit_code == 0, told.output
    assert f"{name} " in told.output


def test_the_help_lists_all_commands() -> None:
    """`correspondent --help` names every command."""
    told = CliRunner().invoke(app, ["--help"])
    assert [name for name in COMMANDS if f"│ {name} " not in told.output] == []


@pytest.mark.parametrize("command", ["turns", "reopen"])
def test_commands_about_failed_turns_speak_of_no_letters(command: str) -> None:
    """What is said of dead letters is not true of turns."""
    told = CliRunner().invoke(app, ["dlq", command, "--help"])
    assert "failed turn" in told.output or "turn failed" in told.output
    assert "letter" not in told.output


def test_a_misspelt_command_is_met_with_the_one_meant() -> None:
    """A name that is nearly right is answered with the right one."""
    told = CliRunner().invoke(app, ["deliverys"])
    assert told.exit_code == 2
    assert "deliveries" in told.output


def test_no_command_is_loaded_before_it_is_asked_for() -> None:
    """The entry point itself loads neither the stream processors nor the model's SDK."""
    code = "import sys, services.tools.cli; print([one for one in ('faust', 'anthropic') if one in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
