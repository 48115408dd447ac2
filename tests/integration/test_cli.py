"""The command line as a person meets it, against a deployment that `correspondent up` runs in processes of its own."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from deploy.local.ownership import Ownership
from tests.support.commands import Done, loaded_commands, run
from tests.support.stack import temporary_home
from tests.support.workers import READY

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from services.cli.main import main; main()"]
SETTINGS = """
[threads]
quiet_s = 0

[web]
port = 0

[[inboxes]]
name = "support"
address = "support@ourcompany.example"
vouched_by = "the test"

[[inboxes]]
name = "held"
address = "held@ourcompany.example"
"""


def environment(**changes: str) -> dict[str, str]:
    """Ours without settings of the deployment, 80 columns wide."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CORRESPONDENT_", "ANTHROPIC"))}
    return {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "NO_COLOR": "1", **changes}


def correspondent(folder: Path, *arguments: str, **changes: str) -> Done:
    """Run one command in `folder` to its end."""
    return run(loaded_commands(), folder, arguments, **{"COLUMNS": "80", **changes})


@contextmanager
def up(folder: Path, *options: str) -> Iterator[list[str]]:
    """`correspondent up` in `folder`, running, with the lines of its start; Ctrl-C ends it well."""
    lines: list[str] = []
    process = subprocess.Popen(
        [*COMMAND, "up", *options],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if READY in line:
                break
        else:
            pytest.fail("".join(lines)[-3000:])
        rest: list[str] = []
        reading = threading.Thread(target=lambda out: rest.extend(out), args=(process.stdout,), daemon=True)
        reading.start()
        yield lines
        process.send_signal(signal.SIGINT)
        process.wait(60)
        reading.join(60)
        ended_well(folder, "".join([*lines, *rest]))
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def ended_well(folder: Path, seen: str) -> None:
    """What Ctrl-C ends says nothing that only a programmer understands, and leaves the folder free for the next start."""
    assert "Traceback" not in seen, seen[-3000:]
    assert not (folder / "var" / "processes.json").exists()


@pytest.fixture(scope="module")
def started() -> Iterator[tuple[Path, list[str]]]:
    """The folder of a running deployment, and the lines of its start."""
    with temporary_home() as folder:
        (folder / "correspondent.toml").write_text(SETTINGS)
        with up(folder) as lines:
            yield folder, lines


@pytest.fixture
def app(started: tuple[Path, list[str]]) -> Path:
    """The folder of a running deployment."""
    return started[0]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in which nothing runs."""
    with temporary_home() as empty:
        yield empty


def said(done: Done) -> str:
    """Everything a command wrote, in one line; no command may end in a traceback."""
    assert "Traceback" not in done.printed, done.printed[-3000:]
    return done.line


def processes_of(folder: Path, processor: str) -> int:
    """How many processes run it, as `status` says."""
    counted = re.search(rf"^ *{processor} +(\d+) *$", correspondent(folder, "status").printed, re.MULTILINE)
    return int(counted[1]) if counted else 0


def pids_beside(folder: Path) -> list[int]:
    """Of the further processes of the deployment in `folder`."""
    lines = {one.pid: one.info["cmdline"] or () for one in psutil.process_iter(["cmdline"])}
    return [pid for pid, line in lines.items() if str(folder / "var") in line and "run" in line]


@pytest.mark.slow
def test_a_further_process_that_was_killed_left_its_share_of_the_work(folder: Path) -> None:
    """`up --processes 2`: both take part; where the second is killed another one takes its place."""
    (folder / "correspondent.toml").write_text(SETTINGS)
    with up(folder, "--processes", "2"):
        wait_for(lambda: processes_of(folder, "read_email") == 2)
        [killed] = pids_beside(folder)
        os.kill(killed, signal.SIGKILL)
        wait_for(lambda: pids_beside(folder) not in ([], [killed]))
        wait_for(lambda: processes_of(folder, "read_email") == 2)
        written = correspondent(folder, "write", "Hello, are you there?", "--from", "Kim <kim@customer.example>")
        assert "Hi Kim" in said(written)


def wait_for(happened: Callable[[], bool]) -> None:
    """Look until it has. Fails after three minutes."""
    deadline = time.monotonic() + 180
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.5)


def test_a_mail_is_answered_shown_and_found_by_the_beginning_of_its_id(app: Path) -> None:
    """What `write` sends is answered; `mails` shows it, and the short id that it shows is one `thread` takes."""
    (app / "plans.md").write_text("# Plans\n\nThe Team plan costs 29 dollars a month.\n")
    added = correspondent(app, "knowledge", "add", "plans.md")
    assert added.code == 0, said(added)
    written = correspondent(app, "write", "What does the Team plan cost?", "--from", "Ann <ann@customer.example>")
    assert "29 dollars" in said(written)
    listed = correspondent(app, "mails")
    line = next(one for one in listed.printed.splitlines() if "ann@customer" in one)
    short = line.split()[2]
    assert re.fullmatch("[0-9a-f]{8}", short)
    shown = said(correspondent(app, "thread", short))
    assert "What does the Team plan cost?" in shown
    assert "29 dollars" in shown
    assert "ann@customer.example" in said(correspondent(app, "deliveries", "--state", "sent"))


def test_what_a_customer_writes_is_neither_markup_nor_terminal_commands(app: Path) -> None:
    """Square brackets are shown as they are, and an escape character never reaches the terminal."""
    text = "Is [/b] [red]this[/red] \x1b[2J\x9b2J\u202e all right?"
    written = correspondent(app, "write", text, "--from", "Eve <eve@customer.example>", "--subject", "[/] hello")
    assert written.code == 0, said(written)
    line = next(one for one in correspondent(app, "mails").printed.splitlines() if "eve@customer" in one)
    shown = correspondent(app, "thread", line.split()[2])
    assert "[/b] [red]this[/red]" in said(shown)
    everything = written.printed + shown.printed + correspondent(app, "mails").printed
    assert not set(everything) & {"\x1b", "\x9b", "\u202e"}


def test_no_table_is_wider_than_the_terminal(app: Path) -> None:
    """At 80 columns each line of `mails` and `deliveries` fits, ids and times whole."""
    for command in ("mails", "deliveries"):
        lines = correspondent(app, command).printed.splitlines()
        assert all(len(line) <= 80 for line in lines)
        assert any(re.match(r" ?\d{4}-\d\d-\d\d \d\d:\d\d +[0-9a-f]{8}", line) for line in lines), lines


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("thread", "ffffffff"), "there is no thread ffffffff; `correspondent mails` shows them"),
        (("thread", "%"), "'%' is no thread id"),
        (("move", "ffffffff", "closed"), "there is no thread ffffffff"),
        (("move", "ffffffff", "sideways"), "'sideways' is not one of"),
        (("approve", "ffffffff"), "there is no reply ffffffff"),
        (("deliveries", "--state", "lost"), "'lost' is not one of"),
        (("mails", "--outcome", "eaten"), "No mail ended as 'eaten'"),
        (("write", "hello", "--inbox", "nope"), "there is no inbox named 'nope' (known: support, held)"),
        (("write", "hello", "--from", "nobody"), "is not one address"),
        (("import", "nowhere"), "does not exist"),
        (("knowledge", "add", "nowhere.md"), "is no file, no folder"),
        (("run", "nosuch"), "there is no processor 'nosuch'; there are: all"),
        (("--log-level", "loud", "mails"), "'loud' is not one of"),
        (("--home", "correspondent.toml", "up"), "is a file"),
        (("up",), "is already run by process"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_argument_is_said_in_words(app: Path, arguments: tuple[str, ...], words: str) -> None:
    """Whatever is mistyped, the answer says what is wrong or what there is, and no traceback."""
    done = correspondent(app, *arguments)
    assert words in said(done).replace("│ ", "")
    assert done.code == (0 if arguments[0] == "mails" else 2)


def test_without_a_deployment_the_answer_says_how_to_start_one(folder: Path) -> None:
    """A command in a folder where nothing runs names the folder and what to do, within the connection's few seconds."""
    done = correspondent(folder, "mails")
    assert done.code == 2
    assert said(done).startswith(f"correspondent: nothing runs in {folder}/var. Start it in another terminal")


@pytest.mark.parametrize("arguments", [("mails",), ("replay",), ("replay", "--check", ".")], ids=" ".join)
def test_a_database_that_is_not_there_is_named_without_its_password(folder: Path, arguments: tuple[str, ...]) -> None:
    """The place of the database is said, and what the driver found; the password is not."""
    url = "postgresql://me:s3cret@127.0.0.1:1/mail"
    done = correspondent(folder, *arguments, CORRESPONDENT_DATABASE_URL=url)
    assert done.code == 2
    assert "the database mail on 127.0.0.1:1 cannot be used" in said(done)
    assert "s3cret" not in said(done)


def test_what_cannot_be_replayed_is_said_before_a_deployment_is_looked_for(folder: Path) -> None:
    """A wrong name is the call's fault, wherever it is typed: exit code 2, and not 1, which means differences."""
    for arguments, words in (
        (("--until", "send_email"), "a replay sends no mail"),
        (("--until", "nonsense"), "'nonsense' cannot be replayed; there are: read_email, "),
    ):
        done = correspondent(folder, "replay", *arguments)
        assert words in said(done)
        assert done.code == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[[inboxes]\n", "cannot be read"),
        (b"\xff\xfe\x00", "cannot be read"),
        (b"[smtp]\nprot = 25\n", "smtp.prot: there is no such setting"),
        (b'[threads]\nquiet_s = "soon"\n', "threads.quiet_s"),
    ],
    ids=["syntax", "bytes", "misspelt", "type"],
)
def test_wrong_settings_are_said_before_anything_starts(folder: Path, content: bytes, words: str) -> None:
    """`up` reads its settings first: with wrong ones no server is started."""
    (folder / "correspondent.toml").write_bytes(content)
    done = correspondent(folder, "up")
    assert done.code == 2
    assert words in said(done)
    assert "ready on" not in done.printed


def test_settings_that_cannot_be_a_file_are_said(folder: Path) -> None:
    """A folder of that name, or a CORRESPONDENT_CONFIG that names nothing, is an error and not silently nothing."""
    (folder / "correspondent.toml").mkdir()
    assert "correspondent.toml is a folder" in said(correspondent(folder, "up"))
    assert "/nope.toml does not exist" in said(correspondent(folder, "up", CORRESPONDENT_CONFIG="/nope.toml"))


def test_ctrl_c_while_it_starts_ends_a_deployment_without_a_traceback(folder: Path) -> None:
    """Before it is ready, too, Ctrl-C stops the stack in words; that it does afterwards is seen where each test's `up` ends."""
    (folder / "correspondent.toml").write_text(SETTINGS)
    process = subprocess.Popen(
        [*COMMAND, "up"], cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if "database: ready" in line:
            process.send_signal(signal.SIGINT)
            break
    seen += process.stdout.read()
    process.wait(60)
    ended_well(folder, seen)


def test_up_says_in_plain_lines_on_a_terminal_what_it_waits_for(folder: Path) -> None:
    """On a terminal no line is JSON; each inbox is named with the place of its replies, and each wait before the end."""
    own_server = '[inboxes.smtp]\nhost = "smtp.held.example"\nport = 2525\n'
    (folder / "correspondent.toml").write_text(SETTINGS + own_server)
    reading, writing = pty.openpty()
    process = subprocess.Popen([*COMMAND, "up"], cwd=folder, env=environment(), stdout=writing, stderr=writing)
    os.close(writing)
    seen = ""
    with suppress(OSError):  # how a terminal says that nobody writes any more
        while part := os.read(reading, 4096):
            seen += part.decode()
            if "Running." in seen:
                process.send_signal(signal.SIGINT)
    os.close(reading)
    assert process.wait(60) in (0, 130), seen
    ended_well(folder, seen)
    lines = [line.strip() for line in seen.splitlines()]
    assert not [line for line in lines if line.startswith("{")]
    sink = f"{folder.resolve() / 'var' / 'outbox'}, a folder: no SMTP server is set"
    assert f"Inbox support <support@ourcompany.example>: replies go to {sink}" in lines
    assert "Inbox held <held@ourcompany.example>: replies go to smtp.held.example:2525" in lines
    waits = [line for line in lines if line.startswith("waiting for")]
    assert [wait.split()[3] for wait in waits[:4]] == ["database,", "broker", "events", "partitions"]
    assert lines.index(waits[-1]) < lines.index("Running. Press Ctrl-C to stop.")


def test_up_writes_json_where_nobody_watches(started: tuple[Path, list[str]]) -> None:
    """Elsewhere than on a terminal every line, of the start too, is an object that a log collector reads."""
    events = [json.loads(line)["event"] for line in started[1]]
    assert any(one.startswith("database: ready") for one in events)
    assert [one for one in events if one.startswith("waiting for the database")]


def test_a_second_demo_leaves_the_first_ones_data_alone(folder: Path) -> None:
    """While one process owns the demo's folder, another `demo` ends with a word and removes nothing there."""
    kept = folder / "var" / "demo" / "postgres" / "kept"
    kept.parent.mkdir(parents=True)
    kept.touch()
    owner = Ownership(folder / "var" / "demo")
    owner.take()
    try:
        done = correspondent(folder, "demo", "--once")
    finally:
        owner.release()
    assert done.code == 2
    assert "a demo runs in var/demo already" in said(done)
    assert kept.exists()
