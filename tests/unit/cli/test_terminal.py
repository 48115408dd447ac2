"""What outsiders wrote does nothing to the operator's terminal."""

import io
import re
import unicodedata
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.markup import escape
from rich.pretty import Pretty
from rich.table import Table
from rich.text import Text

from services.cli.terminal import Terminal, age, cell, lines
from tests.support.workers import ROOT


@given(st.text())
def test_no_control_sequence_reaches_the_terminal(text: str) -> None:
    """Every character is printable or a space, and none is lost without a mark."""
    assert all(one.isprintable() or one.isspace() for one in str(cell(text)))
    assert len(cell(text)) == len(text)
    assert len(cell(text, 10)) <= 10
    assert "\x1b" not in lines(text)


def test_markup_and_escapes_are_shown_as_they_are() -> None:
    """Neither rich's markup nor an escape sequence nor a reversed text changes how a line looks."""
    console = Console(width=80, force_terminal=False)
    with console.capture() as captured:
        console.print(cell("[bold]\x1b[2J[/nothing] \u202egnp.exe"))
    assert captured.get() == "[bold]·[2J[/nothing] ·gnp.exe\n"


@given(st.text())
def test_nothing_that_is_printed_steers_the_terminal(text: str) -> None:
    """However a command prints, with markup, in a table, as data: no control or format character gets through."""
    console = Terminal(width=200, force_terminal=False, file=io.StringIO())
    table = Table("a")
    table.add_row(Text(text))
    for one in (Text(text), table, Pretty({"a": text}), escape(text)):
        console.print(one)
    said = console.file.getvalue()
    assert not {unicodedata.category(one) for one in said.replace("\n", "")} & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def test_every_command_prints_through_the_one_console() -> None:
    """No module of the tools makes a console of its own that would let characters through."""
    made = [
        path.name
        for path in ROOT.joinpath("services/operations").rglob("*.py")
        if re.search(
            r"(?<![\w.])(?:Console\((?!\)\.is_terminal)|print\(|typer\.echo\()", path.read_text(encoding="utf-8")
        )
    ]
    assert made == []


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-5, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h"), (172_800, "2 d")],
)
def test_an_age_is_said_in_one_unit(seconds: int, said: str) -> None:
    """Two of a unit is where it begins."""
    assert age(timedelta(seconds=seconds)) == said
