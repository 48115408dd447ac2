"""What `correspondent rebuild` says and refuses before it looks for a deployment."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from services.cli.main import app


def type_(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["rebuild", *arguments], env={"COLUMNS": "200"})
    return done.exit_code, " ".join(done.output.split())


def test_the_help_says_how_a_past_state_is_restored() -> None:
    """Looking is `--as-of`; a deployment that lives from a past moment comes out of a back-up."""
    code, said = type_("--help")
    assert code == 0
    assert "A past state is never swapped in" in said
    assert "correspondent restore --as-of TIME" in said


@pytest.mark.parametrize(
    "arguments", [("--check", "--as-of", "2026-05-15"), ("--into", "earlier"), ("--check", "--into", "earlier")]
)
def test_options_that_contradict_each_other_are_refused(arguments: tuple[str, ...]) -> None:
    """`--check` is about what is live, `--into` about a past state: neither is silently passed over."""
    code, said = type_(*arguments)
    assert code == 2
    assert "--as-of" in said
