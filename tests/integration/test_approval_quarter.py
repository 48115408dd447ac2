"""Simulated quarters of decisions by chance: an intent opens and closes exactly where another computation says so."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import sqrt
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from deploy.local import Endpoints
from schemas.events import EventData
from schemas.events.approvals import ApprovalRequested
from schemas.events.replies import HUMAN_ANSWERED, ReplyApproved, ReplyDiscarded
from services import earn_approval, send_email
from services.core.bus.envelope import Envelope
from services.core.bus.runner import Runner, enter
from services.core.clock import random_id
from services.core.ids import approval_id
from tests.support.remembering import START, Memory, remembering

pytestmark = pytest.mark.timeout(300)
BOUND, OVER, SENDERS = 0.7, 20, 3
EARNS = {"approval": {"earn": True, "bound": BOUND, "over": OVER, "senders": SENDERS}}
PEOPLE = [f"ann@customer{number}.example" for number in range(5)] + ["bo@mail.customer0.example"]
HAPPENS = {
    "unchanged": 84,
    "edited": 2,
    "rejected": 2,
    "answered_by_hand": 2,
    "overtaken": 4,
    "by itself": 4,
    "asked": 2,
}
CORRECTIONS = {"edited", "rejected", "answered_by_hand"}


@dataclass
class Expected:
    """What has to be, by the promise alone: of the decisions since it closed the last `OVER`, by their time."""

    is_open: bool = False
    since: datetime | None = None
    decided: list[tuple[datetime, UUID, bool, str]] = field(default_factory=list)
    steps: list[tuple[bool, int, int]] = field(default_factory=list)

    def count(self) -> tuple[int, int, int]:
        """Approved unchanged, of how many, to how many organizations."""
        last = sorted((one for one in self.decided if self.since is None or one[0] >= self.since), reverse=True)[:OVER]
        good = [whom for _, _, unchanged, whom in last if unchanged]
        return len(good), len(last), len({".".join(one.rpartition("@")[2].split(".")[-2:]) for one in good})

    def decide(self, at: datetime, id: UUID, what: str, whom: str) -> None:
        """A person has decided on a draft."""
        self.decided.append((at, id, what == "unchanged", whom))
        good, of, organizations = self.count()
        if self.is_open and what in CORRECTIONS:
            self.step(False, at)
        elif not self.is_open and what == "unchanged" and reached(good, of) and organizations >= SENDERS:
            self.step(True, at)

    def step(self, is_open: bool, at: datetime) -> None:
        """It opens or closes, for whatever reason; with the numbers of that moment."""
        self.steps.append((is_open, *self.count()[:2]))
        self.is_open = is_open
        self.since = self.since if is_open else at


def reached(good: int, of: int) -> bool:
    """Whether what was seen lies 1.96 standard errors of the bound above it: the interval's other definition."""
    return good / of - BOUND >= 1.959964 * sqrt(BOUND * (1 - BOUND) / of)


@dataclass
class Quarter:
    """A quarter of decisions on drafts of one intent, each handled by two processes at once, and once more later."""

    memory: Memory
    dice: random.Random
    expected: Expected = field(default_factory=Expected)
    handled: list[Envelope] = field(default_factory=list)

    async def happens(self, what: str, at: datetime) -> None:
        """One thing that happens to the intent at a moment, and what has to come of it."""
        if what == "asked":
            wanted = self.dice.random() < 0.5
            await self.handle(self.request(wanted), at)
            if wanted != self.expected.is_open:
                self.expected.step(wanted, at)
            return
        whom, id = self.dice.choice(PEOPLE), random_id()
        approved = approval_of(id, whom, what)
        send = send_email.PROCESSOR.appliers[ReplyApproved]
        async with self.memory.app.database.transaction(self.memory.workspace) as conn:
            await send(conn, replace(self.memory.event(approved, at), version=1))
        await self.handle(discarded(approved, what) or approved, at)
        if what in CORRECTIONS or what == "unchanged":
            self.expected.decide(at, id, what, whom)

    def request(self, wanted: bool) -> ApprovalRequested:
        """A person opens or closes it."""
        named = {"approval_id": self.id, "inbox": "support", "intent": "how_to", "by": "grace"}
        return ApprovalRequested.model_validate({**named, "open": wanted})

    @property
    def id(self) -> UUID:
        return approval_id(self.memory.workspace, "support", "how_to")

    async def handle(self, data: EventData, at: datetime) -> None:
        """By two processes at once; and what was handled some time ago comes again, to one that has just started."""
        envelope = self.memory.event(data, at)
        await enter(self.memory.app, envelope)
        await asyncio.gather(*(self.runner().process(envelope) for _ in range(2)))
        self.handled.append(envelope)
        await self.runner().process(self.dice.choice(self.handled))

    def runner(self) -> Runner:
        return Runner(earn_approval.PROCESSOR, self.memory.app)

    async def stands(self) -> bool:
        """Whether the intent is open."""
        rows = await self.memory.rows("SELECT is_open FROM approvals WHERE approval_id = %(id)s", id=self.id)
        return bool(rows and rows[0]["is_open"])

    async def steps(self) -> list[tuple[bool, int, int]]:
        """Each step that was stored, with its numbers."""
        rows = await self.memory.rows(
            "SELECT type, data FROM events WHERE type ~ '^approval.(opened|closed)' ORDER BY version"
        )
        counts = [(row["type"], row["data"]["count"]) for row in rows]
        return [(kind == "approval.opened.v1", one["unchanged"], one["of"]) for kind, one in counts]


def approval_of(id: UUID, whom: str, what: str) -> ReplyApproved:
    """The reply in the sender's ledger, approved by a person, or by nobody."""
    said: dict[str, Any] = {
        "reply_id": id, "thread_id": id, "turn_id": id, "participant_id": None, "message_id": f"{id}@x.example",
        "blob": "0" * 64, "envelope_from": "s@x.example", "text": "Hello.", "recipient": whom, "inbox": "support",
        "intent": "how_to", "edited": 0.2 if what == "edited" else 0,
        "approved_by": "policy" if what == "by itself" else "grace",
    }  # fmt: skip
    return ReplyApproved.model_validate(said)


def discarded(reply: ReplyApproved, what: str) -> ReplyDiscarded | None:
    """A person rejected it or answered in its place, or a newer mail came."""
    why = {"rejected": "wrong", "answered_by_hand": HUMAN_ANSWERED, "overtaken": "a newer mail came"}.get(what)
    ids = reply.model_dump(include={"reply_id", "thread_id", "turn_id", "participant_id"})
    return ReplyDiscarded(**ids, reason=why, overtaken=what != "rejected") if why else None


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path, **EARNS) as one:
        yield one


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_by_chance_it_opens_and_closes_exactly_when_the_bound_says_so(memory: Memory, seed: int) -> None:
    """Corrections, a person's own steps, days without any, decisions that come late: each step, and no other, follows."""
    dice = random.Random(seed)
    quarter, now, end = Quarter(memory, dice), START, START + timedelta(days=91)
    while now < end:
        now += timedelta(days=5 if dice.random() < 0.02 else dice.uniform(0.1, 1.4))
        late = timedelta(days=dice.uniform(0, 2)) if dice.random() < 0.1 else timedelta()
        [what] = dice.choices(list(HAPPENS), weights=list(HAPPENS.values()))
        await quarter.happens(what, now - late)
        assert await quarter.stands() is quarter.expected.is_open, f"after {what} at {now - late}"
    assert await quarter.steps() == quarter.expected.steps
    assert {is_open for is_open, _, _ in quarter.expected.steps} == {True, False}, "the quarter has steps of both sorts"
