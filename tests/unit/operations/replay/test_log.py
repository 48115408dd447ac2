"""The log of a replay: an interrupted call goes on, and no call takes another one's results for its own."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from services.operations.replay.difference import Difference
from services.operations.replay.log import LogOfAnotherCall, LogUnreadable, call_of, open_log
from services.operations.replay.model import OFFLINE, Asking
from services.operations.replay.result import Result
from services.operations.replay.selection import Selection

CALL = call_of(Selection(), Asking(), None)
RESULTS = (
    Result(name="one", differences=(Difference(0, "a.v1", "text", "then\u2028\x85", "now\n"),)),
    Result(name="two"),
)


def written(path: Path) -> Path:
    log = open_log(path, CALL)
    for result in RESULTS:
        log.add(result)
    return path


def test_the_same_call_finds_what_it_has_done(tmp_path: Path) -> None:
    """Results come back as they were, in order."""
    assert open_log(written(tmp_path / "log"), CALL).done == RESULTS


def test_a_line_that_was_cut_off_is_done_again_and_spoils_nothing(tmp_path: Path) -> None:
    """What a crash left of a line goes, so the next result has a line of its own."""
    path = written(tmp_path / "log")
    path.write_bytes(path.read_bytes()[:-7])
    log = open_log(path, CALL)
    assert log.done == RESULTS[:1]
    log.add(RESULTS[1])
    assert open_log(path, CALL).done == RESULTS


def test_a_first_line_that_was_cut_off_is_no_call(tmp_path: Path) -> None:
    """A log that a crash left with less than its first line begins anew."""
    path = tmp_path / "log"
    path.write_text(CALL.model_dump_json()[:40])
    assert open_log(path, CALL).done == ()
    assert open_log(path, CALL).done == ()


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (call_of(Selection(), Asking(OFFLINE), None), "model"),
        (call_of(Selection(), Asking("live", "Be brief."), None), "prompt"),
        (call_of(Selection(rebuild_context=True), Asking(), None), "rebuild_context"),
        (call_of(Selection(topic="inbound-email"), Asking(), None), "topic"),
        (call_of(Selection(until="reflect"), Asking(), None), "until"),
        (call_of(Selection(thread=UUID(int=1)), Asking(), None), "thread"),
        (call_of(Selection(since=datetime(2026, 1, 1, tzinfo=UTC)), Asking(), None), "from"),
        (call_of(Selection(), Asking(), Path("cases")), "check"),
        (CALL.model_copy(update={"code": "another"}), "code"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_another_call_is_refused_with_what_is_other(tmp_path: Path, other: object, named: str) -> None:
    """A log is not gone on with by a call that asks somebody else, or for something else, or of other code."""
    path = written(tmp_path / "log")
    before = path.read_bytes()
    with pytest.raises(LogOfAnotherCall, match=rf"\W{named} was"):
        open_log(path, other)  # type: ignore[arg-type]
    assert path.read_bytes() == before


def test_times_of_another_call_are_said_as_they_are_typed(tmp_path: Path) -> None:
    """Under the names of the options, and not as Python writes them."""
    path = tmp_path / "log"
    open_log(path, call_of(Selection(since=datetime(2026, 5, 1, tzinfo=UTC)), Asking(), None))
    with pytest.raises(LogOfAnotherCall, match=re.escape("(from was 2026-05-01T00:00:00Z, to was not given)")):
        open_log(path, call_of(Selection(before=datetime(2026, 5, 1, tzinfo=UTC)), Asking(), None))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00\n", b"{}\n", b'{"name": "one"}\n', b"shopping list\nmilk\n"])
def test_a_file_that_is_no_log_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    """Nothing is appended to somebody's file, nor taken away from it."""
    path = tmp_path / "log"
    path.write_bytes(content + b"half a line")
    with pytest.raises(LogUnreadable, match="log"):
        open_log(path, CALL)
    assert path.read_bytes() == content + b"half a line"


def test_a_line_that_is_no_result_is_named(tmp_path: Path) -> None:
    """A line in the middle that somebody has changed is said with its number."""
    path = written(tmp_path / "log")
    path.write_text(path.read_text().replace('"name":"one"', '"name":1'))
    with pytest.raises(LogUnreadable, match="line 2"):
        open_log(path, CALL)
