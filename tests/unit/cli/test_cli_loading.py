"""The command line loads what it needs, when it needs it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from services.cli import main as cli
from services.cli.command_table import SUB_COMMANDS
from services.cli.main import COMMANDS, app
from services.core.settings import CONFIG_FILE
from tests.support.queries import HEAVY
from tests.support.vocabulary import DIALECT


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_loads_under_its_name_and_teaches(name: str) -> None:
    """Each name of the table leads to a command with a help of its own."""
    told = CliRunner().invoke(app, [name, "--help"])
    assert told.exit_code == 0, told.output
    assert f"{name} " in told.output


def test_the_help_lists_all_commands() -> None:
    """`correspondent --help` names every command, each in one line of a terminal of 80 columns."""
    told = CliRunner().invoke(app, ["--help"], terminal_width=80, env={"COLUMNS": "80"})
    lines = told.output.splitlines()
    assert [name for name, entry in COMMANDS.items() if f"  {name:<12}  {entry.line}" not in lines] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_of_a_command_is_the_first_of_its_own_help(name: str) -> None:
    """The line that the table says without loading the command is the one that the command says."""
    told = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200"})
    assert told.output.split("\n\n")[1].strip().splitlines()[0].strip() == COMMANDS[name].line


def _every_help() -> Iterator[tuple[str, str]]:
    """Each help page of the program, sub-commands too."""
    for name in COMMANDS:
        told = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200"})
        yield name, told.output
        for sub in re.findall(r"^  ([a-z-]+)(?=  )", told.output.partition("Commands:")[2], re.M):
            yield f"{name} {sub}", CliRunner().invoke(app, [name, sub, "--help"], env={"COLUMNS": "200"}).output


def test_help_pages_speak_the_words_of_the_field() -> None:
    """No page uses a word of the dialect that the vocabulary has struck out."""
    assert {name: found for name, page in _every_help() if (found := DIALECT.findall(page))} == {}


@pytest.mark.parametrize("command", ["turns", "reopen"])
def test_commands_about_failed_turns_speak_of_no_letters(command: str) -> None:
    """What is said of dead letters is not true of turns."""
    told = CliRunner().invoke(app, ["dlq", command, "--help"])
    assert "failed turn" in told.output or "turn failed" in told.output
    assert "letter" not in told.output


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_knows_the_sub_commands(name: str) -> None:
    """What is suggested of a group without loading it is what the group has."""
    assert SUB_COMMANDS.get(name, ()) == tuple(getattr(cli._load(name), "commands", ()))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("deliverys", "correspondent deliveries"),
        ("mial", "correspondent mails"),
        ("people", "correspondent memory people"),
        ("redrive", "correspondent dlq redrive"),
        ("list drafts", "correspondent drafts"),
        ("show memory", "correspondent memory show"),
        ("list inbox", "correspondent inbox list"),
        ("start", "correspondent up"),
        ("send", "correspondent write"),
        ("xyzzy", "correspondent --help"),
        ("inbox tset", "'test'"),
        ("drafts list", "lists by itself"),
        ("status mails", "correspondent mails"),
        ("write Hello there", "between quotes"),
        ("mails --home var/demo", "correspondent --home ... mails"),
        ("thread", "as `correspondent mails` shows it"),
        ("deliveries --state unkown", "is not one of 'draft', 'approved'"),
    ],
)
def test_what_is_typed_wrong_is_met_with_what_was_meant(typed: str, meant: str) -> None:
    """A misspelt or mixed-up command is answered with the right one, in one plain sentence and with exit code 2."""
    told = CliRunner().invoke(app, typed.split(), prog_name="correspondent", env={"COLUMNS": "200"})
    assert told.exit_code == 2
    said = told.output.partition("Error: ")[2]
    assert meant in said
    assert "Value error" not in said
    assert said.count("\n") == 1


def test_a_misspelt_command_loads_none() -> None:
    """What was meant is known from names: no command is imported to compare with."""
    modules = loaded("from services.cli.main import app\ntry: app(['mial'])\nexcept SystemExit: pass")
    assert modules_of_cli(modules) <= {"main", "command_table", "usage"}
    assert modules & (HEAVY | {"aiokafka", "psycopg", "pydantic_settings", "rich"}) == set()


def modules_of_cli(modules: set[str]) -> set[str]:
    """The modules of `services.cli` among these."""
    return {name.removeprefix("services.cli.") for name in modules if name.startswith("services.cli.")}


def loaded(code: str) -> set[str]:
    """The modules that a fresh process has loaded after `code`."""
    told = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint('loaded', *sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "80"},
    )
    return set(told.stdout.rpartition("loaded ")[2].split())


def test_the_help_page_loads_nothing_heavy() -> None:
    """`correspondent --help` takes less than a tenth of a second: no settings, database, broker, or what draws tables."""
    modules = loaded("from services.cli.main import app\ntry: app(['--help'])\nexcept SystemExit: pass")
    assert modules & (HEAVY | {"aiokafka", "psycopg", "pydantic", "rich", "structlog", "yaml"}) == set()
    assert modules_of_cli(modules) <= {"main", "command_table", "usage"}


def test_the_garbage_collector_looks_through_no_module() -> None:
    """What modules make stays: looking through it while they load, and at the end, took a quarter of a query's CPU."""
    done = subprocess.run([sys.executable, "-c", COUNTED], capture_output=True, text=True, check=True)
    looks, objects = map(int, done.stderr.split())
    assert looks < 10  # before: 89 in this command, 171 in `mails`
    assert objects == 0  # before: 49,000


COUNTED = """
import atexit, gc, sys
from services.cli.main import main
looks = []
gc.callbacks.append(lambda phase, info: looks.append(phase))
atexit.register(lambda: print(len(looks), len(gc.get_objects()), file=sys.stderr))
sys.argv = ["correspondent", "settings"]
main()
"""


def test_models_that_a_query_does_not_use_are_not_built() -> None:
    """What the model may say is loaded with threads and built later; what a request to the API may hold is not loaded."""
    modules = "import sys, services.cli.threads, services.cli.profile\nfrom schemas.model_output import _Said"
    built = "print(*(one.__name__ for one in _Said.__subclasses__() if one.__pydantic_complete__))"
    loaded = "print(*(one for one in ('services.web.bodies',) if one in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", f"{modules}\n{built}\n{loaded}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["Signals"]  # the default of a field


def test_status_loads_a_client_of_the_broker_and_no_processor() -> None:
    """What asks the broker for offsets loads its client; no processor's code, and nothing that a processor needs."""
    modules = loaded("from services.cli.main import _load\n_load('status')")
    assert modules & (HEAVY | {"rich.traceback"}) == set()
    assert "services.pipeline" not in modules
    assert "schemas.events.documents" not in modules, "the classes of all events take a tenth of a second"


def test_the_configuration_file_has_one_name() -> None:
    """The command line, which does not load the settings, names the same file."""
    assert cli.CONFIG_FILE == CONFIG_FILE
