"""The sender is killed, refused, kept waiting and cut off at each step of SMTP: once or `unknown`, never twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.clock import utc_now
from services.core.db import fetch_all
from services.core.house import open_house
from services.pipeline import NAMES
from services.process import prepare, working
from services.receive_email.accept import accept
from services.tools.demo.clock import SteppingClock
from services.tools.settle import settle
from tests.chaos.traffic import deliver, make_mails
from tests.support.house import running_house, settings_for
from tests.support.letters import letter
from tests.support.smtp_server import DROP, HANG, Session, SmtpServer, Step
from tests.support.tally import tally
from tests.support.workers import Workers

STEPS: tuple[Step, ...] = ("connect", "ehlo", "mail", "rcpt", "data", "dot", "accepted", "quit")
NOBODY_KNOWS = {"data", "dot", "accepted"}  # between the intent and the server's answer
LATER, NEVER = "451 4.3.0 not now", "550 5.1.1 never"


class HoldOneAtEachStep:
    """A script that lets the n-th connection come to the n-th step and keeps it there."""

    def __init__(self) -> None:
        self.held: set[Step] = set()
        self.on = True
        self._changed = asyncio.Event()

    async def __call__(self, session: Session, step: Step) -> str | None:
        if self.on and step == STEPS[(session.number - 1) % len(STEPS)]:
            self.held.add(step)
            self._changed.set()
            return HANG
        return None

    async def all_held(self) -> None:
        """Return when there is a sender at every step."""
        while self.held != set(STEPS):
            self._changed.clear()
            await self._changed.wait()


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_a_sender_killed_at_every_step_at_once_sends_nothing_twice(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Eight mails stand at eight steps when the process dies: those past the intent are unknown, the others go once."""
    script = HoldOneAtEachStep()
    async with SmtpServer(script) as server:
        smtp = {"host": "127.0.0.1", "port": server.port, "timeout_s": 60}
        settings = settings_for(stack, database, topic_prefix, tmp_path, smtp=smtp, web={"port": 0})
        await prepare(settings)
        others = [name for name in NAMES if name != "send_email"]
        with Workers(settings, tmp_path / "logs") as workers:
            workers.start("send_email")
            async with open_house(settings) as house, working(house, others):
                await workers.ready()
                await deliver(house, make_mails(7, len(STEPS), len(STEPS)))
                async with asyncio.timeout(90):
                    await script.all_held()
                script.on = False
                workers.restart("send_email")
                await settle(house, timeout_s=90)
                async with house.database.reading() as conn:
                    judged = await tally(conn, len(STEPS), server.copies())
    print(judged.line(kills=1))
    assert judged.faults == ()
    assert judged.unknown == len(NOBODY_KNOWS)
    assert judged.replies_sent == len(STEPS) - len(NOBODY_KNOWS)
    assert judged.accepted == judged.replies_sent + 1, "the one that was kept and not answered, too"


@dataclass(frozen=True)
class Case:
    """A fault at a step, and what has to come of it: the ledger's last state, its attempts, and copies at the server."""

    step: Step
    fault: str
    state: str
    attempts: int = 1
    copies: int = 0

    @property
    def name(self) -> str:
        """It stands in the customer's address."""
        return f"{self.step}-{self.fault.partition(' ')[0]}"

    @property
    def ending(self) -> tuple[str, int, int]:
        """The state, the attempts, and how many copies the server has."""
        return self.state, self.attempts, self.copies


BEFORE_RCPT = (
    *(Case(step, LATER, "sent", 2, 1) for step in ("connect", "mail")),
    *(Case(step, NEVER, "failed") for step in ("connect", "mail")),
    *(Case(step, fault, "sent", 2, 1) for step in ("connect", "ehlo", "mail") for fault in (HANG, DROP)),
)
FROM_RCPT = (
    *(Case(step, LATER, "sent", 2, 1) for step in ("rcpt", "data", "dot")),
    *(Case(step, NEVER, "failed") for step in ("rcpt", "data", "dot")),
    *(Case("rcpt", fault, "sent", 2, 1) for fault in (HANG, DROP)),
    *(Case(step, fault, "unknown") for step in ("data", "dot") for fault in (HANG, DROP)),
    *(Case("accepted", fault, "unknown", copies=1) for fault in (HANG, DROP)),
    *(Case("quit", fault, "sent", copies=1) for fault in (HANG, DROP, NEVER)),
)


@dataclass
class FailOnce:
    """A script that fails each case once: before RCPT the n-th session, from then on the mail to the case's address."""

    cases: Sequence[Case]
    by_session: bool
    failed: set[str] = field(default_factory=set)

    def __call__(self, session: Session, step: Step) -> str | None:
        case = self._case(session)
        if case is None or step != case.step or case.name in self.failed:
            return None
        self.failed.add(case.name)
        return case.fault

    def _case(self, session: Session) -> Case | None:
        if self.by_session:
            return self.cases[session.number - 1] if session.number <= len(self.cases) else None
        return next((one for one in self.cases if f"@{one.name}.example" in session.recipient), None)


@pytest.mark.parametrize("cases", [BEFORE_RCPT, FROM_RCPT], ids=["before-rcpt", "from-rcpt"])
async def test_a_fault_at_each_step_of_smtp(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, cases: tuple[Case, ...]
) -> None:
    """4xx and a connection lost before DATA are tried again by a timer, 5xx fails and calls a human, else `unknown`."""
    script, clock = FailOnce(cases, by_session=cases == BEFORE_RCPT), SteppingClock(utc_now())
    async with SmtpServer(script) as server:
        smtp = {"host": "127.0.0.1", "port": server.port, "timeout_s": 2}
        settings = settings_for(stack, database, topic_prefix, tmp_path, smtp=smtp)
        async with running_house(settings, now=clock) as house:
            for case in cases:
                await accept(house, settings.inboxes[0], _mail(case), source="file", source_key=case.name)
            await settle(house)
            clock.forward(clock() + timedelta(minutes=6))
            await settle(house)
            async with house.database.reading() as conn:
                ledger = await fetch_all(conn, LEDGER)
                judged = await tally(conn, len(cases), server.copies())
    endings = {
        row["recipient"].partition("@")[2].removesuffix(".example"): (
            row["state"], row["attempt"], server.copies()[row["message_id"]]
        )
        for row in ledger
    }  # fmt: skip
    print(judged.line())
    assert script.failed == {case.name for case in cases}, "a fault was never met"
    assert judged.faults == ()
    if script.by_session:
        assert Counter(endings.values()) == Counter(case.ending for case in cases)
    else:
        assert endings == {case.name: case.ending for case in cases}
    assert all((row["thread"] == "escalated") is (row["state"] in ("failed", "unknown")) for row in ledger)


LEDGER = """
SELECT d.state, d.attempt, d.recipient, d.message_id, t.state AS thread
FROM deliveries d JOIN threads t USING (thread_id)"""


def _mail(case: Case) -> bytes:
    return letter(
        f"Hello,\n\nwhat does the Team plan cost? I ask because of {case.name}.\n\nRobin",
        sender=f"Robin <robin@{case.name}.example>",
        subject=f"About {case.name}",
        message_id=f"<{case.name}@robin.example>",
    )
