"""The log: lines that a person reads on a terminal, JSON for everything else."""

from __future__ import annotations

import json
import logging
import os
import pty
import subprocess
import sys
from pathlib import Path

from services.core.logging import Repeats, _visible, plain_line

CODE = """
import logging, structlog
from pathlib import Path
from services.core.logging import configure
configure(level="INFO"{file})
structlog.get_logger("services.process").info("running", processors=["reflect"])
logging.getLogger("services.x").warning("a %s is late", "timer")
try:
    raise ValueError("no")
except ValueError:
    structlog.get_logger("y").exception("it failed", thread="t-1")
"""


def logged(*, terminal: bool = False, file: str = "") -> str:
    """What a process that logs three lines writes to its stderr."""
    reading, writing = pty.openpty() if terminal else os.pipe()
    code = CODE.replace("{file}", f", file=Path({file!r})" if file else "")
    subprocess.run([sys.executable, "-c", code], stderr=writing, check=True)
    os.close(writing)
    said = b""
    try:
        while part := os.read(reading, 65536):
            said += part
    except OSError:  # how a terminal says that nobody writes any more
        pass
    finally:
        os.close(reading)
    return said.decode().replace("\r\n", "\n")


def test_a_terminal_gets_plain_lines() -> None:
    """Time, what happened, and values; a level only where it is worth one, and a traceback below."""
    first, second, third, *below = logged(terminal=True).splitlines()
    assert first[8:] == " running  processors=['reflect']"
    assert second[8:] == " warning: a timer is late"
    assert third[8:] == " error: it failed  thread=t-1"
    assert below[-1] == "  ValueError: no"
    assert "\x1b" not in first


def test_what_a_stranger_wrote_began_a_line_of_the_log() -> None:
    """A value, a message or an error of several lines is one entry: a path of `%0a` forged what the deployment said."""
    forged = "x\n20:31:07 error: the key of the model was refused\r20:31:08 \x1b[2J\x9b2J\u2028\u202e"
    event = {
        "timestamp": "2026-01-01T10:00:00Z",
        "level": "warning",
        "event": forged,
        "path": forged,
        "exception": forged,
    }
    lines = plain_line(None, "", _visible(None, "", event)).splitlines()  # type: ignore[arg-type]
    assert lines[0].startswith("10:00:00 warning: x")
    assert all(line.startswith("  ") for line in lines[1:])
    assert len(lines) == 5
    assert not {"\x1b", "\x9b", "\r", "\u2028", "\u202e"} & set("".join(lines))


def test_everything_else_gets_json() -> None:
    """A line is an object with the same things in it."""
    lines = [json.loads(line) for line in logged().splitlines()]
    assert [(one["level"], one["event"]) for one in lines] == [
        ("info", "running"),
        ("warning", "a timer is late"),
        ("error", "it failed"),
    ]
    assert lines[0]["processors"] == ["reflect"]
    assert "ValueError: no" in lines[2]["exception"]


def test_the_client_of_the_model_wrote_a_line_for_each_of_its_requests() -> None:
    """At `info` the program speaks, not its libraries, whatever their names are; what is wrong they do say."""
    code = """
import logging
from services.core.logging import configure
configure(level="INFO")
for name in ("httpx2", "anthropic", "httpx", "a.library.of.tomorrow"):
    logging.getLogger(name).info("HTTP Request: POST")
logging.getLogger("httpx2").warning("retried")
logging.getLogger("services.process").info("running")
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr
    assert [json.loads(line)["event"] for line in said.splitlines()] == ["retried", "running"]


def test_a_log_in_a_file_leaves_the_terminal_alone(tmp_path: Path) -> None:
    """What the demo shows is not broken by a line of the log."""
    path = tmp_path / "log"
    assert logged(terminal=True, file=str(path)) == ""
    assert [json.loads(line)["event"] for line in path.read_text().splitlines()] == [
        "running",
        "a timer is late",
        "it failed",
    ]


def test_a_late_line_went_to_a_stream_that_was_closed() -> None:
    """What is logged goes to the stderr of that moment: one that was replaced and closed since is never written to."""
    code = """
import io, logging, sys
from services.core.logging import configure
real, sys.stderr = sys.stderr, io.StringIO()
configure()
sys.stderr.close()
sys.stderr = real
logging.getLogger("services.x").warning("late")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stderr)["event"] == "late"
    assert "closed file" not in done.stderr


def line(name: str, said: str, *args: object) -> logging.LogRecord:
    """A line of a library's log."""
    return logging.LogRecord(name, logging.ERROR, "", 0, said, args, None)


def test_a_broker_that_starts_made_two_thousand_lines() -> None:
    """Of lines that differ in their values only, one a minute is written; the next says how many were left out."""
    seconds = [0.0]
    repeats = Repeats(now=lambda: seconds[0])
    written = []
    for number in range(2_135):
        record = line("aiokafka.consumer.group_coordinator", "Group Coordinator Request failed: %s", f"node {number}")
        if repeats.filter(record):
            written.append(record.getMessage())
        seconds[0] += 0.225
    assert len(written) == 8
    assert written[0] == "Group Coordinator Request failed: node 0"
    assert "lines like this were left out" in written[1]


def test_lines_of_our_own_are_never_left_out() -> None:
    """Nor is a library's first line of another kind."""
    repeats = Repeats(now=lambda: 0.0)
    assert all(repeats.filter(line("services.core.bus.lanes", "it is tried again: %s", n)) for n in range(5))
    assert repeats.filter(line("faust.transport", "one"))
    assert repeats.filter(line("faust.transport", "another"))
    assert not repeats.filter(line("faust.transport", "one"))
