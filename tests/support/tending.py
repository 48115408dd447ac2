"""A deployment whose threads are driven by hand: every processor, real Postgres and SMTP, no broker, a clock that jumps."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from uuid import UUID

from deploy.local import Endpoints
from services.core.app import open_app
from services.core.bus.processor import Processor
from services.core.bus.undone_events import advance, low_mark, pairs_of
from services.demo.clock import SteppingClock
from services.keep_time.keeper import fire_due
from services.operations.threads.listing import WholeThread, whole_thread
from services.pipeline import PROCESSORS
from services.receive_email.accept import accept
from tests.support.app import settings_for
from tests.support.remembering import ADA, START, Memory, Quiet


@dataclass
class Tended(Memory):
    """A deployment in which time passes only when a test says so."""

    async def write(
        self,
        text: str,
        *,
        subject: str = "Export",
        sender: str = ADA,
        cc: str = "",
        after: str = "",
        mode: str = "live",
        inbox: int = 0,
    ) -> UUID:
        """A customer's mail, handled by every processor; `after` is the Message-ID it answers. Its thread's id."""
        number = next(self.numbers)
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = sender, self.app.settings.inboxes[inbox].address, subject
        mail["Message-ID"] = f"<m{number}@{sender.rpartition('@')[2].strip('>')}>"
        if cc:
            mail["Cc"] = cc
        if after:
            mail["In-Reply-To"] = after
        mail.set_content(text)
        return await self.receive(mail.as_bytes(), mode=mode, inbox=inbox)

    async def receive(self, raw: bytes, *, mode: str = "live", inbox: int = 0) -> UUID:
        """A mail as it comes, handled by every processor; its thread's id."""
        box, key = self.app.settings.inboxes[inbox], hashlib.sha256(raw).hexdigest()
        accepted = await accept(self.app, box, raw, source="file", source_key=key, mode=mode)  # type: ignore[arg-type]
        await self.settle()
        (row,) = await self.rows("SELECT thread_id FROM mails WHERE mail_id = %(id)s", id=accepted.mail_id)
        found: UUID = row["thread_id"]
        return found

    async def settle(self, processors: Iterable[Processor] = PROCESSORS) -> None:
        """Hand events round until nobody has anything to do; timers that are due fire."""
        every = tuple(processors)
        while True:
            while left := await self.left_to_do(every):
                while left:
                    await self.hand_round(every, left)
            before = await self.newest()
            await fire_due(self.app)
            if await self.newest() == before:
                return

    async def pass_over_done(self) -> None:
        """Look no more at what is done. In a story of years each look at every event would cost more than the events do."""
        pairs = pairs_of([(topic, one.name) for one in PROCESSORS for topic in one.topics])
        await advance(self.app, pairs, margin_s=0)
        async with self.app.database.reading() as conn:
            self.low = await low_mark(conn, pairs)

    async def wait(self, **time: float) -> None:
        """Let time pass."""
        self.clock.forward(self.clock() + timedelta(**time))
        await self.settle()

    async def thread(self, thread_id: UUID) -> WholeThread:
        """A thread as a person sees it."""
        async with self.app.database.reading() as conn:
            return await whole_thread(conn, self.workspace, thread_id)

    async def came_to_pass(self, addr: str = ADA) -> list[dict[str, Any]]:
        """Every row that a period of somebody may be told of."""
        query = "SELECT * FROM period_rows(%(who)s, '-infinity', %(now)s, %(now)s)"
        return await self.rows(query, who=self.person(addr), now=self.clock() + timedelta(days=1))


@asynccontextmanager
async def tending(stack: Endpoints, database: str, prefix: str, home: Path, **changes: Any) -> AsyncIterator[Tended]:
    """A deployment with one inbox whose senders are vouched for; the offline model writes, unless `model` is given."""
    model = changes.pop("model_object", None)
    settings = settings_for(stack, database, prefix, home, **changes)
    clock = SteppingClock(START)
    async with open_app(settings, model=model, now=clock) as app:
        yield Tended(replace(app, publisher=Quiet(settings.kafka.brokers)), clock)
