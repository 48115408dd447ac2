"""What outsiders wrote does nothing to the operator's terminal."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from services.tools.shown import age, cell, lines, plain


@given(st.text())
def test_no_control_sequence_reaches_the_terminal(text: str) -> None:
    """Every character is printable or a space, and none is lost without a mark."""
    assert all(one.isprintable() or one.isspace() for one in plain(text))
    assert len(plain(text)) == len(text)
    assert len(plain(text, 10)) <= 10
    assert "\x1b" not in lines(text)


def test_markup_and_escapes_are_shown_as_they_are() -> None:
    """Neither rich's markup nor an escape sequence nor a reversed text changes how a line looks."""
    console = Console(width=80, force_terminal=False)
    with console.capture() as captured:
        console.print(cell("[bold]\x1b[2J[/nothing] \u202egnp.exe"))
    assert captured.get() == "[bold]·[2J[/nothing] ·gnp.exe\n"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-5, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h"), (172_800, "2 d")],
)
def test_an_age_is_said_in_one_unit(seconds: int, said: str) -> None:
    """Two of a unit is where it begins."""
    assert age(timedelta(seconds=seconds)) == said
