"""Exit code 1 is an answer of some commands, so nothing that goes wrong may end with it."""

from __future__ import annotations

from typing import NoReturn

import psycopg
import pytest

from services.cli import main as cli
from services.core.errors import Temporary


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Temporary("the broker is away"), "correspondent: the broker is away\n"),
        (OSError("no room"), "correspondent: no room\n"),
        (psycopg.OperationalError("the server closed the connection"), "correspondent: the server closed the conn"),
        (psycopg.errors.InsufficientPrivilege("permission denied for database x"), "correspondent: permission denied"),
    ],
)
def test_what_can_go_wrong_is_said_in_words_with_code_2(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, and no traceback."""
    assert _run(error, monkeypatch) == 2
    told = capsys.readouterr().err
    assert told.startswith(said)
    assert "Traceback" not in told


def test_what_nobody_foresaw_is_said_with_its_place_and_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A fault of the code is no difference between two replays."""
    assert _run(KeyError("oh"), monkeypatch) == 2
    assert "test_exit_codes.py" in capsys.readouterr().err


def _run(error: Exception, monkeypatch: pytest.MonkeyPatch) -> object:
    def app() -> NoReturn:
        raise error

    monkeypatch.setattr(cli, "app", app)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code
