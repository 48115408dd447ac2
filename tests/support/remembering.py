"""A deployment whose memory is driven by hand: real Postgres, real processors, no broker in between.

`Memory.mail` lets a raw mail in through `receive_email` and `read_email`; `Memory.reflected` stores what a model is
made to say of it; `Memory.settle` hands every stored event to its consumers here, until there is nothing left to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTPUTF8, default
from email.utils import format_datetime
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

from deploy.local import Endpoints
from schemas.events import EventData
from schemas.events.memory import FactRequested, TurnReflected
from schemas.events.replies import ContextLayer, FactProposal, MemoryLoaded
from schemas.topics import catalogue, stem_of
from services import learn_facts, read_email
from services.core.app import App, open_app
from services.core.bus.delivery import Record
from services.core.bus.envelope import Envelope, first
from services.core.bus.event_row import EventRow
from services.core.bus.processor import Processor
from services.core.bus.publisher import Outcome, Publisher
from services.core.bus.runner import Runner, enter
from services.core.bus.undone_events import SQL as UNDONE
from services.core.bus.undone_events import pairs_of
from services.core.clock import random_id
from services.core.db import fetch_all
from services.core.ids import participant_id
from services.core.mailbox import MailboxKey
from services.demo.clock import SteppingClock
from services.operations.rebuild.projections import state_hash
from services.receive_email.accept import accept
from tests.support.app import settings_for

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
ADA = "ada@acme.example"
LEFT_TO_DO = """
    SELECT consumer, array_agg(DISTINCT seq ORDER BY seq) AS places
    FROM left_to_do(%(topics)s::text[], %(consumers)s::text[], %(skipped)s::text[], %(low)s) GROUP BY consumer"""
STORED_SINCE = "SELECT seq, topic, type FROM events WHERE seq > %(newest)s ORDER BY seq"
DRIVEN: tuple[Processor, ...] = (read_email.PROCESSOR, learn_facts.PROCESSOR)


@cache
def _asked(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """The parameters of `LEFT_TO_DO` as Postgres writes arrays: to write 400 names anew for each question costs a seventh of a mail."""
    return {name: "{" + ",".join(f'"{one}"' for one in values) + "}" for name, values in pairs_of(pairs).args().items()}


def _has_to_do(processor: Processor, topic: str, kind: str) -> bool:
    """As Postgres has it (`has_to_do`)."""
    return topic in processor.topics and f"{processor.name} {stem_of(kind)}" not in _skipped()


@cache
def _skipped() -> frozenset[str]:
    return frozenset(catalogue().skipped)


class Quiet(Publisher):
    """A publisher that keeps what it is given: here nobody listens to a broker."""

    async def publish_each(self, records: Sequence[Record]) -> list[Outcome]:
        """Nothing leaves the deployment."""
        return [None] * len(records)


def day(number: float) -> datetime:
    """A moment so many days into the story."""
    return START + timedelta(days=number)


def fact(key: str, value: str, quote: str, **given: Any) -> FactProposal:
    """What a model proposes to remember."""
    fields: dict[str, Any] = {"op": "add", "kind": "customer_info", "text": f"Their {key} is {value}.", "importance": 6}
    return FactProposal.model_validate({**fields, "key": key, "value": value, "quote": quote, **given})


def memory_loaded(
    participant_id: UUID, *layers: ContextLayer, thread_id: UUID | None = None, mail_ids: tuple[UUID, ...] = ()
) -> MemoryLoaded:
    """The context of a trusted turn of somebody, in a thread of its own unless one is named."""
    return MemoryLoaded(
        turn_id=random_id(),
        thread_id=thread_id or random_id(),
        participant_id=participant_id,
        inbox="support",
        mail_ids=mail_ids,
        trusted=True,
        layers=layers,
    )


@dataclass
class Memory:
    """A deployment under a hand-driven clock."""

    app: App
    clock: SteppingClock
    numbers: Any = field(default_factory=lambda: count(1))
    low: int = -1  # what everybody has done up to; a long story moves it (`Tended.pass_over_done`)

    @property
    def workspace(self) -> str:
        """The workspace of the deployment."""
        return self.app.settings.workspace

    def person(self, addr: str = ADA) -> UUID:
        """The participant with this address."""
        return participant_id(self.workspace, MailboxKey(addr))

    async def mail(
        self,
        text: str,
        *,
        on: float,
        sent_on: float | None = None,
        sender: str = ADA,
        trusted: bool = True,
        history_mode: bool = False,
    ) -> dict[str, Any]:
        """A mail that is received on a day of the story; its row in `mails`. Not trusted: nobody vouches for it."""
        number = next(self.numbers)
        mail = EmailMessage(policy=default if sender.isascii() else SMTPUTF8)
        mail["From"], mail["To"], mail["Subject"] = sender, "support@ourcompany.example", f"Mail {number}"
        mail["Message-ID"] = f"<m{number}@{sender.partition('@')[2]}>"
        mail["Date"] = format_datetime(day(on if sent_on is None else sent_on))
        mail.set_content(text)
        inbox = self.app.settings.inboxes[0] if trusted else self.app.settings.inboxes[1]
        app = replace(self.app, now=lambda: day(on))
        mode: Any = "history" if history_mode else "live"
        accepted = await accept(app, inbox, mail.as_bytes(), source="file", source_key=str(number), mode=mode)
        await self.settle()
        (row,) = await self.rows("SELECT * FROM mails WHERE mail_id = %(mail_id)s", mail_id=accepted.mail_id)
        return row

    def reflection(self, mail: dict[str, Any], *facts: FactProposal, **given: Any) -> Envelope:
        """The event that says what a model made of a mail."""
        fields: dict[str, Any] = {
            "turn_id": random_id(),
            "thread_id": mail["thread_id"],
            "participant_id": mail["participant_id"],
            "inbox": mail["inbox"],
            "mail_ids": (mail["mail_id"],),
            "trusted": True,
            "outcome": "sent",
            "summary": "They wrote.",
            "covers_to": 1,
            "facts": facts,
        }
        return self.event(TurnReflected(**{**fields, **given}), mail["received_at"])

    def event(self, data: EventData, at: datetime) -> Envelope:
        """An event that nothing caused."""
        return first(data, id=random_id(), source="reflect", time=at, workspace=self.workspace)

    async def learn(self, mail: dict[str, Any], *facts: FactProposal, **given: Any) -> None:
        """A model proposes facts of a mail, and the deployment decides."""
        await enter(self.app, self.reflection(mail, *facts, **given))
        await self.settle()

    async def tell(self, text: str, *facts: FactProposal, on: float, **given: Any) -> dict[str, Any]:
        """A mail, and what a model proposes because of it."""
        mail = await self.mail(text, on=on, **given)
        await self.learn(mail, *facts)
        return mail

    async def ask(self, op: str, on: float, addr: str = ADA, **given: Any) -> None:
        """A person's wish."""
        fields = {"participant_id": self.person(addr), "op": op, "by": "grace", **given}
        await enter(self.app, self.event(FactRequested.model_validate(fields), day(on)))
        await self.settle()

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """The deployment does what comes in, for the block, and ends what it has begun: a reply may be at the server's door."""

        over = asyncio.Event()

        async def work() -> None:
            known, looks = -1, count()
            while not over.is_set():
                # What no new event brings, time above all, is looked for now and then: each whole look costs ten of these.
                if next(looks) % 10 == 0 or await self.newest() != known:
                    known = await self.newest()
                    await self.settle()
                await asyncio.sleep(0.02)

        working = asyncio.create_task(work())
        try:
            yield
        finally:
            over.set()
            await asyncio.gather(working, return_exceptions=True)

    async def process(self, envelope: Envelope) -> None:
        """One delivery of an event to learn_facts."""
        await Runner(learn_facts.PROCESSOR, self.app).process(envelope)

    async def settle(self, processors: Iterable[Processor] = DRIVEN) -> None:
        """Do every stored event that one of the processors has not done, in the order of storing; one after the other."""
        every = tuple(processors)
        await self.hand_round(every, await self.left_to_do(every))

    async def hand_round(self, processors: Sequence[Processor], left: dict[str, list[int]]) -> None:
        """Each processor in turn does what is left to it, and what that brings it; what that brings one before is left.

        What an event brings is seen by what was stored after it: `left_to_do` goes through each pair of a topic and a consumer.
        """
        newest = await self.newest()
        for processor in processors:
            while places := left.pop(processor.name, None):
                runner = Runner(processor, self.app)
                for envelope in await self.at(places):
                    await runner.process(envelope)
                for row in await self.rows(STORED_SINCE, newest=newest):
                    newest = row["seq"]
                    for one in processors:
                        if _has_to_do(one, row["topic"], row["type"]):
                            left.setdefault(one.name, []).append(newest)

    async def newest(self) -> int:
        """Where the newest event stands; -1 where there is none."""
        (row,) = await self.rows("SELECT coalesce(max(seq), -1) AS seq FROM events")
        return int(row["seq"])

    async def left_to_do(self, processors: Sequence[Processor]) -> dict[str, list[int]]:
        """By processor, where the events stand that it has not done."""
        pairs = tuple((topic, one.name) for one in processors for topic in one.topics)
        rows = await self.rows(LEFT_TO_DO, **_asked(pairs), low=self.low)
        return {row["consumer"]: row["places"] for row in rows}

    async def at(self, places: Sequence[int]) -> list[Envelope]:
        """The events that stand there, in the order of storing."""
        return [EventRow.of(**row).envelope() for row in await self.rows(UNDONE.at_places, places=places)]

    async def waiting(self, processor: Processor) -> list[Envelope]:
        """The stored events that a processor has not done yet, in the order of storing."""
        return await self.at((await self.left_to_do([processor])).get(processor.name, []))

    async def caused_by(self, envelope: Envelope) -> list[Envelope]:
        """The stored events that an event caused, in the order of storing: a broker brings them all."""
        query = "SELECT * FROM events WHERE causation_id = %(cause)s ORDER BY seq"
        return [EventRow.of(**row).envelope() for row in await self.rows(query, cause=envelope.id)]

    async def rows(self, query: Any, **args: Any) -> list[dict[str, Any]]:
        """The rows of a query."""
        async with self.app.database.reading() as conn:
            return await fetch_all(conn, query, args)

    async def current(self, key: str = "plan", addr: str = ADA) -> list[str]:
        """The values that are believed now."""
        query = (
            "SELECT value FROM facts WHERE participant_id = %(who)s AND key = %(key)s AND superseded_at IS NULL"
            " ORDER BY value"
        )
        return [row["value"] for row in await self.rows(query, who=self.person(addr), key=key)]

    async def refusals(self) -> list[str]:
        """Why proposals were refused, oldest first."""
        query = "SELECT reason FROM fact_log WHERE decision LIKE '%% refused' ORDER BY version"
        return [row["reason"] for row in await self.rows(query)]

    async def state(self) -> dict[str, str]:
        """The hash of every projection."""
        async with self.app.database.reading() as conn:
            return await state_hash(conn)


@asynccontextmanager
async def remembering(
    stack: Endpoints, database: str, prefix: str, home: Path, **changes: Any
) -> AsyncIterator[Memory]:
    """A deployment with two inboxes, of which only the first vouches for its senders."""
    inboxes = [
        {"name": "support", "address": "support@ourcompany.example", "vouched_by": "the test"},
        {"name": "open", "address": "open@ourcompany.example"},
    ]
    settings = settings_for(stack, database, prefix, home, **{"inboxes": inboxes, **changes})
    clock = SteppingClock(START)
    async with open_app(settings, now=clock) as app:
        yield Memory(replace(app, publisher=Quiet(settings.kafka.brokers)), clock)
