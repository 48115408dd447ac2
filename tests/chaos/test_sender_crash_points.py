"""The sender is killed, refused, kept waiting and cut off at each step of SMTP: once or `unknown`, never twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from schemas.events.replies import DeliverySettled
from services.cli.mails import outcomes
from services.core.app import App, open_app
from services.core.bus.envelope import Envelope, first
from services.core.bus.event_row import EventRow
from services.core.bus.runner import Runner, enter
from services.core.clock import random_id, utc_now
from services.core.db import fetch_all
from services.demo.clock import SteppingClock
from services.operations.idle import until_idle
from services.operations.preparation import prepare
from services.pipeline import NAMES
from services.process import working
from services.send_email import PROCESSOR
from tests.chaos.traffic import Mail, deliver, make_mails, offered
from tests.oracle.collect import judged
from tests.support.app import running_app, settings_for
from tests.support.bus import PATIENCE_S
from tests.support.crashing_sender import APPROVED, DRAFTED, POINTS, crash
from tests.support.letters import letter
from tests.support.smtp_server import DROP, HANG, Session, SmtpServer, Step
from tests.support.workers import Workers

STEPS: tuple[Step, ...] = ("connect", "ehlo", "mail", "rcpt", "data", "body", "dot", "accepted", "quit")
NOBODY_KNOWS = {"data", "body", "dot", "accepted"}  # between the intent and the server's answer
AWAY_S = 3.0  # longer than what is measured may be off
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


@pytest.mark.timeout(240)
async def test_a_sender_killed_at_every_step_at_once_sends_nothing_twice(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Nine mails stand at nine steps when the process dies: those past the intent are unknown, the others go once."""
    script = HoldOneAtEachStep()
    async with SmtpServer(script) as server:
        smtp = {"host": "127.0.0.1", "port": server.port, "timeout_s": 60}
        settings = settings_for(stack, database, topic_prefix, tmp_path, smtp=smtp, web={"port": 0})
        await prepare(settings)
        others = [name for name in NAMES if name != "send_email"]
        with Workers(settings, tmp_path / "logs") as workers:
            workers.start("send_email")
            async with open_app(settings) as app, working(app, others):
                await workers.ready()
                mails = make_mails(7, len(STEPS), len(STEPS))
                await deliver(app, mails)
                async with asyncio.timeout(PATIENCE_S):
                    await script.all_held()
                script.on = False
                workers.restart("send_email")
                await until_idle(app, timeout_s=90)
                async with app.database.reading() as conn:
                    verdict = await judged(partial(fetch_all, conn), offered(mails), server)
    print(verdict.line(kills=1))
    assert verdict.faults == ()
    assert verdict.unknown == len(NOBODY_KNOWS)
    assert verdict.sent == len(STEPS) - len(NOBODY_KNOWS)
    assert verdict.accepted == verdict.sent + 1, "the one that was kept and not answered, too"


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
    *(Case(step, fault, "unknown") for step in ("data", "body", "dot") for fault in (HANG, DROP)),
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
        async with running_app(settings, now=clock) as app:
            mails = [_mail(case.name) for case in cases]
            await deliver(app, mails)
            await until_idle(app)
            clock.forward(clock() + timedelta(minutes=6))
            await until_idle(app)
            async with app.database.reading() as conn:
                ledger = await fetch_all(conn, LEDGER)
                verdict = await judged(partial(fetch_all, conn), offered(mails), server)
    endings = _endings(ledger, server)
    print(verdict.line())
    assert script.failed == {case.name for case in cases}, "a fault was never met"
    assert verdict.faults == ()
    if script.by_session:
        assert Counter(endings.values()) == Counter(case.ending for case in cases)
    else:
        assert endings == {case.name: case.ending for case in cases}
    assert all((row["thread"] == "escalated") is (row["state"] in ("failed", "unknown")) for row in ledger)


ONCE, UNKNOWN = ("sent", 1, 1), ("unknown", 1, 0)
AFTER_THE_KILL = {  # the ledger's last state, its attempts, and how many copies the server has
    **dict.fromkeys((name for name, point in POINTS.items() if point.of == DRAFTED), ONCE),
    "before-connect": ONCE,
    "after-rcpt": ONCE,
    "intent-committed": UNKNOWN,
    "answered-not-now": ONCE,
    "answered-kept": ("unknown", 1, 1),
    "sent-committed": ONCE,
    "sent-published": ONCE,
    "sent-before-ack": ONCE,
}


@pytest.mark.timeout(240)
async def test_a_sender_killed_between_any_two_of_its_own_steps_sends_each_mail_once_or_marks_it_unknown(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """From the stored draft to the acknowledged record: a process dies at each point, and another takes over."""

    def script(session: Session, step: Step) -> str | None:
        refused = "@answered-not-now." in session.recipient and not over.is_set()
        return LATER if step == "rcpt" and refused else None

    over = asyncio.Event()
    async with SmtpServer(script) as server:
        settings = settings_for(
            stack, database, topic_prefix, tmp_path, smtp={"host": "127.0.0.1", "port": server.port}
        )
        await prepare(settings)
        async with open_app(settings) as app, working(app, [one for one in NAMES if one != "send_email"]):
            mails = [_mail(name) for name in AFTER_THE_KILL]
            await deliver(app, mails)
            drafts = await _stored(app, DRAFTED, len(AFTER_THE_KILL))
            names = iter(AFTER_THE_KILL)
            while some := tuple(islice(names, 2)):
                await asyncio.gather(*(_kill_at(app, name, drafts[name]) for name in some))
            over.set()
            async with working(app, ["send_email"]):
                await until_idle(app, timeout_s=90)
            async with app.database.reading() as conn:
                ledger = await fetch_all(conn, LEDGER)
                verdict = await judged(partial(fetch_all, conn), offered(mails), server)
    print(verdict.line(kills=len(AFTER_THE_KILL)))
    assert verdict.faults == ()
    assert _endings(ledger, server) == AFTER_THE_KILL


@pytest.mark.timeout(240)
async def test_a_sender_killed_after_the_servers_answer_dated_its_reply_by_its_recovery(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """A process dies between the server's 250 and its event: the reply is dated when it left, and left once."""
    names = ("answered-kept", "sent-committed")
    async with SmtpServer() as server:
        smtp = {"host": "127.0.0.1", "port": server.port}
        settings = settings_for(stack, database, topic_prefix, tmp_path, smtp=smtp)
        await prepare(settings)
        async with open_app(settings) as app, working(app, [one for one in NAMES if one != "send_email"]):
            await deliver(app, [_mail(name) for name in names])
            drafts = await _stored(app, DRAFTED, len(names))
            began = utc_now()
            await asyncio.gather(*(_kill_at(app, name, drafts[name]) for name in names))
            died = utc_now()
            await asyncio.sleep(AWAY_S)
            async with working(app, ["send_email"]):
                await until_idle(app, timeout_s=90)
                async with app.database.reading() as conn:
                    (lost,) = await fetch_all(
                        conn, "SELECT reply_id, thread_id FROM deliveries WHERE state = 'unknown'"
                    )
                told = first(
                    DeliverySettled(**lost, sent=True, by="grace"),
                    id=random_id(), source="console", time=utc_now(), workspace=settings.workspace,
                )  # fmt: skip
                await enter(app, told)
                await until_idle(app, timeout_s=90)
            async with app.database.reading() as conn:
                left = await fetch_all(conn, "SELECT message_id, state, sent_at FROM deliveries")
                mails = await outcomes(conn, settings.workspace)
    assert [row["state"] for row in left] == ["sent", "sent"]
    assert all(began <= row["sent_at"] <= died for row in left), "each is dated by its own process, before that died"
    assert {row["answered_at"] for row in mails} == {row["sent_at"] for row in left}
    assert [server.copies()[row["message_id"]] for row in left] == [1, 1], "nothing is sent twice"


async def _kill_at(app: App, name: str, draft: Envelope) -> None:
    """Have the mail of this name come to its point, and the process die there."""
    if POINTS[name].of == DRAFTED:
        await crash(app.settings, name, draft.id)
        return
    await Runner(PROCESSOR, app).process(draft)
    approved = await _stored(app, APPROVED, 1, reply_id=str(draft.data.model_dump()["reply_id"]))
    await crash(app.settings, name, next(iter(approved.values())).id)


async def _stored(app: App, kind: str, count: int, reply_id: str = "") -> dict[str, Envelope]:
    """Wait for so many events of a type; each by the name that stands in its customer's address."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            async with app.database.reading() as conn:
                found = await fetch_all(conn, STORED, {"kind": kind, "reply_id": reply_id})
            if len(found) == count:
                return {
                    row["author_addr"].partition("@")[2].removesuffix(".example"): EventRow.of(**row).envelope()
                    for row in found
                }
            await asyncio.sleep(0.05)


STORED = """
SELECT e.*, m.author_addr FROM events e JOIN mails m ON m.thread_id::text = e.data ->> 'thread_id'
WHERE e.type = %(kind)s AND (%(reply_id)s = '' OR e.data ->> 'reply_id' = %(reply_id)s)"""

LEDGER = """
SELECT d.state, d.attempt, d.recipient, d.message_id, t.state AS thread
FROM deliveries d JOIN threads t USING (thread_id)"""


def _endings(ledger: Sequence[dict[str, Any]], server: SmtpServer) -> dict[str, tuple[str, int, int]]:
    """State, attempts and copies at the server, by the name in the customer's address."""
    return {
        row["recipient"].partition("@")[2].removesuffix(".example"): (
            row["state"], row["attempt"], server.copies()[row["message_id"]]
        )
        for row in ledger
    }  # fmt: skip


def _mail(name: str) -> Mail:
    raw = letter(
        f"Hello,\n\nwhat does the Team plan cost? I ask because of {name}.\n\nRobin",
        sender=f"Robin <robin@{name}.example>",
        subject=f"About {name}",
        message_id=f"<{name}@robin.example>",
    )
    address = f"robin@{name}.example"
    return Mail(name, f"{name}@robin.example", address, raw, about=address)
