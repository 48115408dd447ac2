"""However what the agent does and what people do interleave, no mail is answered by both, and no reply leaves twice.

Each history hands stored events to the real processors one at a time, in random order between topics: people reply
meanwhile, some with what they saw long ago, customers write, handlers are cut off in the middle or get an event twice,
and the line to the real SMTP server breaks. Postgres and SMTP are real; the offline model writes.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pytest

from deploy.local import Endpoints
from schemas.events.answers import AssignmentRequested, ReplyCancelRequested, ReplyRequested
from schemas.events.base import EventData
from services import generate_reply, load_memory, read_email, send_email, track_threads
from services.core.bus.envelope import first
from services.core.bus.runner import Runner, enter
from services.core.clock import random_id
from services.core.errors import CorrespondentError
from services.keep_time.keeper import fire_due
from services.operations.rebuild import run
from services.operations.rebuild.scopes import scope
from services.receive_email.accept import accept
from tests.support.letters import letter
from tests.support.smtp_server import DROP, Session, SmtpServer, Step
from tests.support.tending import Tended, tending

pytestmark = pytest.mark.timeout(600)
PROCESSORS = tuple(one.PROCESSOR for one in (read_email, track_threads, load_memory, generate_reply, send_email))
MOST_STEPS = 50
# A reply may be asked for twice, with what was seen at two times: the request counts that was accepted.
ACCEPTED = """SELECT asked.data FROM events asked JOIN events done ON done.causation_id = asked.id
WHERE asked.type = 'thread.reply_requested.v1' AND done.type = 'thread.reply_accepted.v1'"""


@dataclass
class History:
    """One thread, what people do in it, and how its events are handed round."""

    one: Tended
    server: SmtpServer
    random: Random
    begun: bool = False
    thread_id: UUID | None = None
    seen: list[int] = field(default_factory=list)
    replies: list[UUID] = field(default_factory=list)

    async def live(self) -> None:
        """Random steps, then everything is handled to its end."""
        self.server.script = self.line
        await self.mail()
        for _ in range(MOST_STEPS):
            await self.random.choices(
                (self.handle, self.reply, self.cancel, self.mail, self.take, self.pass_time),
                (30, 3, 1, 1, 1, 2),
            )[0]()
        for _ in range(4):
            await self.one.wait(minutes=90)

    def line(self, session: Session, step: Step) -> str | None:
        """Now and then the server is away, or the line is cut after DATA."""
        chance = self.random.random()
        if step == "rcpt" and chance < 0.1:
            return "451 4.3.2 not now"
        return DROP if step == "accepted" and chance < 0.15 else None

    async def handle(self) -> None:
        """One event of a random topic of a random processor; perhaps cut off, perhaps brought twice."""
        left = await self.one.left_to_do(PROCESSORS)
        if not left:
            return
        processor = self.random.choice([one for one in PROCESSORS if one.name in left])
        events = await self.one.at(left[processor.name])
        first_of = {one.topic: one for one in reversed(events)}
        envelope = self.random.choice([first_of[name] for name in sorted(first_of)])
        work = Runner(processor, self.one.app).process(envelope)
        try:
            if self.random.random() < 0.2:
                await asyncio.wait_for(work, self.random.random() * 0.05)
            else:
                await work
                if self.random.random() < 0.1:
                    await Runner(processor, self.one.app).process(envelope)
        except (TimeoutError, CorrespondentError):
            return
        await self.look()

    async def look(self) -> None:
        """A person sees the thread."""
        rows = await self.one.rows(
            "SELECT t.thread_id, a.version FROM threads t JOIN aggregates a ON a.kind = 'thread' AND a.id = t.thread_id"
            " WHERE t.subject LIKE %(subject)s",
            subject=f"%{self.subject}%",
        )
        for row in rows:
            self.thread_id = row["thread_id"]
            self.seen.append(row["version"])

    @property
    def subject(self) -> str:
        """What the thread is about: its own in this database."""
        return f"Case {id(self)}"

    async def mail(self) -> None:
        """The customer writes, perhaps again."""
        number = next(self.one.numbers)
        after = f"<{id(self)}.1@acme.example>"
        raw = letter(
            f"Question {number}",
            subject=self.subject,
            message_id=f"<{id(self)}.{number}@acme.example>" if self.begun else after,
            in_reply_to=after if self.begun else "",
        )
        self.begun = True
        box = self.one.app.settings.inboxes[0]
        await accept(self.one.app, box, raw, source="file", source_key=f"{id(self)}/{number}")

    async def say(self, data: EventData) -> None:
        """A person's request comes onto the log."""
        at, workspace = self.one.app.now(), self.one.workspace
        await enter(self.one.app, first(data, id=random_id(), source="console", time=at, workspace=workspace))

    async def reply(self) -> None:
        """With what they see now, or saw at some time."""
        if self.thread_id is None:
            return
        again = self.replies and self.random.random() < 0.2
        reply_id = self.random.choice(self.replies) if again else random_id()
        self.replies.append(reply_id)
        hold, then = self.random.choice((0.0, 0.0, 30.0)), self.random.choice(("", "keep", "resolve", "hand_back"))
        said: dict[str, Any] = {"text": "By hand.", "hold_s": hold, "then": then, "by": "grace"}
        saw = self.random.choice((self.seen[-1], self.random.choice(self.seen)))
        await self.say(ReplyRequested(reply_id=reply_id, thread_id=self.thread_id, thread_version=saw, **said))

    async def cancel(self) -> None:
        """They take one back, perhaps too late, perhaps before it is known."""
        if self.thread_id and self.replies:
            reply_id = self.random.choice(self.replies)
            await self.say(ReplyCancelRequested(reply_id=reply_id, thread_id=self.thread_id, by="grace"))

    async def take(self) -> None:
        """Somebody takes the thread over."""
        if self.thread_id:
            asked = AssignmentRequested(thread_id=self.thread_id, assignee="bo", take_over=True, by="bo")
            await self.say(asked)

    async def pass_time(self) -> None:
        """Minutes pass, and timers fire."""
        self.one.clock.forward(self.one.clock() + timedelta(minutes=self.random.choice((1, 2, 10))))
        await fire_due(self.one.app)


@pytest.fixture
async def town(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Any]:
    async with SmtpServer() as server:
        smtp = {"host": "127.0.0.1", "port": server.port, "timeout_s": 10}
        async with tending(stack, database, topic_prefix, tmp_path, smtp=smtp) as one:
            yield one, server


@pytest.mark.parametrize("seed", range(8))
async def test_no_mail_is_answered_by_the_agent_and_by_a_person(town: Any, seed: int) -> None:
    """A person who answers again knows of the first answer; the agent never answers what a person did."""
    one, server = town
    history = History(one, server, Random(seed))
    await history.live()
    copies = server.copies()
    assert all(count == 1 for count in copies.values()), copies
    rows = await one.rows(
        "SELECT d.message_id, d.reply_id, d.state, u.by, u.mail_ids, u.version FROM deliveries d JOIN turns u USING (turn_id)"
    )
    left = [row for row in rows if copies[row["message_id"]]]
    assert {row["state"] for row in left} <= {"sent", "unknown"}
    assert all(copies[row["message_id"]] for row in rows if row["state"] == "sent")
    seen = {UUID(row["data"]["reply_id"]): row["data"]["thread_version"] for row in await one.rows(ACCEPTED)}
    answers: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(left, key=lambda one: one["version"]):
        for mail in row["mail_ids"]:
            answers[mail].append(row)
    for mail, given in answers.items():
        by = [row["by"] or "agent" for row in given]
        assert "agent" not in by[1:], (mail, by)
        for row in given[1:]:
            assert await _knew(one, seen[row["reply_id"]], given[0]["reply_id"]), (mail, given)
    found = await run.check(one.app.settings, scope("all"), lambda count: None)
    assert found.differences == ()


async def _knew(one: Tended, version: int, reply_id: UUID) -> bool:
    """Whether the thread had said by a version of it that the reply left, or that nobody knows whether it did."""
    said = await one.rows(
        "SELECT version FROM conversation WHERE reply_id = %(id)s UNION ALL SELECT version FROM events"
        " WHERE type = 'turn.closed.v1' AND data ->> 'outcome' = 'failed' AND data ->> 'reply_id' = %(id)s::text",
        id=reply_id,
    )
    return any(row["version"] <= version for row in said)
