"""A demo that stays after its story, for the commands that the documentation suggests."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

from tests.integration.test_cli import COMMAND, environment
from tests.support.commands import Done, loaded_commands, run
from tests.support.stack import temporary_home

HOME = "var/demo"
PATIENCE_S = 150  # guards against hanging: what a step left behind is handled within seconds
# Replies to this one person wait for approval, three customers open an incident, webhooks may go to this machine, and hard
# cases may be investigated: no other setting of the demo is touched.
HELD = "Eve Held <eve@held.example>"
SETTINGS = {
    "CORRESPONDENT_PARTICIPANTS": json.dumps([{"match": "eve@held.example", "reply": {"approval": "review"}}]),
    "CORRESPONDENT_INCIDENTS": json.dumps({"customers": 3}),
    "CORRESPONDENT_OUTGOING_WEBHOOKS": json.dumps({"private_hosts": True}),
    "CORRESPONDENT_INVESTIGATE": json.dumps({"enabled": True}),
}


@dataclass(frozen=True, slots=True)
class Demo:
    """The folder in which it was started, and all that it printed; `kept` is what steps leave to later ones."""

    folder: Path
    printed: str
    server: ForkServerContext
    kept: dict[str, str] = field(default_factory=dict)

    def run(self, command: str, **how: Any) -> Done:
        """A command as it is documented, of this demo unless it names another `--home`."""
        program, *words = shlex.split(command)
        assert program == "correspondent"
        home = [] if "--home" in words or words[0] == "run" else ["--home", HOME]
        return run(self.server, self.folder, [*home, *words], **{**SETTINGS, **how})

    def found(self, command: str, pattern: str) -> str:
        """The first group of `pattern` in what the command prints, lines kept; asked again while that is on its way."""
        deadline = time.monotonic() + PATIENCE_S
        while not (match := re.search(pattern, printed := self.run(command).printed, re.M)):
            assert time.monotonic() < deadline, f"{command}: {pattern} is not in\n{printed}"
            time.sleep(0.2)
        return match[1]

    def write(self, text: str, sender: str) -> Done:
        """A mail to the demo."""
        return self.run(shlex.join(["correspondent", "write", text, "--from", sender]))

    def servers(self) -> dict[str, str]:
        """The variables that name the demo's servers, as an operator of `run` sets them."""
        ends = json.loads((self.folder / HOME / "endpoints.json").read_text())
        return {
            "CORRESPONDENT_CONFIG": str(self.folder / HOME / "correspondent.toml"),
            "CORRESPONDENT_HOME": str(self.folder / HOME),
            "CORRESPONDENT_DATABASE_URL": ends["database"],
            "CORRESPONDENT_REDIS_URL": ends["redis"],
            "CORRESPONDENT_KAFKA__BROKERS": ends["kafka"],
            "CORRESPONDENT_KAFKA__EMBEDDED": "true",
            "CORRESPONDENT_SMTP__HOST": ends["smtp_host"],
            "CORRESPONDENT_SMTP__PORT": str(ends["smtp_port"]),
            "CORRESPONDENT_WEB__PORT": "0",
        }


@contextmanager
def running_demo() -> Iterator[Demo]:
    """`correspondent demo` in a folder of its own, after its story; ended as Ctrl-C ends it."""
    with temporary_home(in_memory=True) as folder:
        process = subprocess.Popen(
            [*COMMAND, "demo"],
            cwd=folder,
            env=environment(**SETTINGS),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout is not None
        try:
            lines = []
            for line in process.stdout:
                lines.append(line)
                if line.startswith("Ctrl-C ends"):
                    break
            yield Demo(folder, "".join(lines), loaded_commands())
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
