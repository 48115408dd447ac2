"""kill -9 of the whole embedded stack and of the deployment's process; started again on the same home, it goes on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from services.core.app import open_app
from services.core.db import fetch_all
from services.operations.deployment import settings_here
from services.operations.idle import unfinished, until_idle
from tests.chaos.traffic import deliver, make_mails, offered
from tests.oracle.collect import judged
from tests.support.bus import PATIENCE_S
from tests.support.smtp_server import SmtpServer
from tests.support.stack import temporary_home, uses_apache_kafka
from tests.support.workers import READY, ROOT, Worker

ALL, BEFORE, SENT_FIRST = 24, 16, 4
TOLD = "published again what the log did not have"
UP = "from services.cli.main import main; main()"


@pytest.mark.timeout(300)
@pytest.mark.skipif(uses_apache_kafka(), reason="this is about the embedded stack, whose broker forgets")
async def test_the_whole_stack_and_the_deployment_are_killed_in_the_middle_of_mail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fresh broker is told what is stored and not yet consumed before an edge opens; nothing is lost or sent twice."""
    async with SmtpServer() as server:
        monkeypatch.setenv("CORRESPONDENT_SMTP__PORT", str(server.port))
        monkeypatch.setenv("CORRESPONDENT_WEB__PORT", "0")
        monkeypatch.setenv("CORRESPONDENT_THREADS__QUIET_S", "0.3")
        mails = make_mails(31, ALL, 14)
        with temporary_home(in_memory=True) as home:
            up = _start(home, tmp_path / "first.log")
            try:
                await up.ready()
                async with open_app(settings_here(home)) as app:
                    await deliver(app, mails[:BEFORE])
                    await _until_sent(server, SENT_FIRST)
                    left = await unfinished(app)
                    _kill_all(up, home)
                again = up = _start(home, tmp_path / "second.log")
                await again.ready()
                async with open_app(settings_here(home)) as app:
                    await deliver(app, mails[BEFORE:])
                    await until_idle(app, timeout_s=120)
                    async with app.database.reading() as conn:
                        verdict = await judged(partial(fetch_all, conn), offered(mails), server)
                assert again.stop() == 0
            finally:
                up.kill()
    print(verdict.line(kills=1, left_at_the_kill=left))
    assert left > 0, "the stack must die in the middle of work"
    assert verdict.faults == ()
    assert verdict.answered > ALL // 2
    log = again.log.read_text()
    assert 0 < log.index(TOLD) < log.index(READY), "an edge was open before the broker knew"


def _start(home: Path, log: Path) -> Worker:
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", UP, "--home", str(home), "--log-level", "INFO", "up"],
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    return Worker("up", ("up",), log, process)


def _kill_all(up: Worker, home: Path) -> None:
    """SIGKILL to the deployment and to each part, at once; the parts may be quicker to follow their owner."""
    parts = [int(pid) for pid in json.loads((home / "processes.json").read_text())]
    up.process.kill()
    for pid in parts:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    up.process.wait()


async def _until_sent(server: SmtpServer, count: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while len(server.accepted) < count:
            await asyncio.sleep(0.01)
