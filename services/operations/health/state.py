"""One reading of everything that may stand still: consumers, the outbox, held records, the model, fetches of mail.

It looks at two sources that do not know of each other: the broker's offsets (a partition that no longer advances) and
the journal (an event that was never done, although offsets may have passed it). What one misses the other shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from aiokafka.errors import KafkaError

from schemas.events.threads import ThreadState, quiet_timer
from schemas.topics import catalogue
from services.core.app import App
from services.core.bus import event_store, held_records
from services.core.bus.delivery import Delivery, Partition
from services.core.bus.log_losses import LostLog, recent_losses
from services.core.bus.publisher import LogUnavailable
from services.core.bus.undone_events import not_done_args, pairs_of
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.outages import ServiceOutage, embedder, model, noted_outage
from services.core.outages.mail_servers import MailOutage, noted_outages
from services.operations.progress import Progress, read_progress

SQL = queries(__file__)
OLD_S = 600.0  # an event that is not done for longer has met something that does not pass by itself
DEAD_LETTERS = "dead letters"  # begins the key of a problem that `status` has a line for
MOST_HELD = 50
MOST_UNANSWERED = 50


@dataclass(frozen=True, slots=True)
class Behind:
    """A partition in which a consumer group has records to do: its committed offset, and the age of the first."""

    topic: str
    partition: int
    offset: int
    records: int
    oldest_s: float


@dataclass(frozen=True, slots=True)
class GroupHealth:
    """How far one consumer is behind: `oldest_s` is the age of the oldest unprocessed record, 0 where there is none."""

    consumer: str
    behind: tuple[Behind, ...]

    @property
    def oldest_s(self) -> float:
        """The age of the oldest record that is not processed."""
        return max((one.oldest_s for one in self.behind), default=0.0)

    def stalled(self, older_s: float = OLD_S) -> tuple[Behind, ...]:
        """The partitions whose first unprocessed record is older than that."""
        return tuple(one for one in self.behind if one.oldest_s > older_s)


# Who waits while the model is away, and who while the embedding service is.
ASK_MODEL = frozenset({"generate_reply", "reflect"})
EMBED = frozenset({"load_memory", "generate_reply", "learn_facts", "learn_documents", "watch_incidents"})


@dataclass(frozen=True, slots=True)
class Undone:
    """Events that a consumer has not done for too long, by its journal."""

    consumer: str
    events: int
    oldest: datetime
    type: str


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Events that a consumer gave up, and that nobody has redriven or discarded."""

    consumer: str
    events: int
    oldest: datetime


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A thread in which mail waits, and nothing will come that answers it: no turn, no timer, no person."""

    thread_id: UUID
    state: ThreadState
    mails: int
    oldest: datetime

    @property
    def words(self) -> str:
        """The thread in a line, and what to do."""
        what = f"{self.mails} mail{'s wait' if self.mails > 1 else ' waits'} since {self.oldest:%Y-%m-%d %H:%M} UTC"
        step = "escalated" if self.state == "in_progress" else "in_progress"  # to a person, or taken up by the agent
        return f"{what} in thread {self.thread_id}, and nobody answers (correspondent move {self.thread_id} {step})"


@dataclass(frozen=True, slots=True)
class Health:
    """One reading. `groups` is None where the broker does not answer."""

    at: datetime
    groups: tuple[GroupHealth, ...] | None
    undone: tuple[Undone, ...]
    outbox_waiting: int
    outbox_refused: int
    held: tuple[dict[str, Any], ...]
    model: ServiceOutage | None
    unfetched: tuple[dict[str, Any], ...]
    lost: tuple[LostLog, ...] = ()
    mail_away: tuple[MailOutage, ...] = ()
    unanswered: tuple[Unanswered, ...] = ()
    embedder: ServiceOutage | None = None
    ignored: Mapping[str, str] = field(default_factory=dict)
    given_up: tuple[GivenUp, ...] = ()

    @property
    def excused(self) -> frozenset[str]:
        """Consumers that wait for a service that is away, and stand still for no other reason."""
        return (ASK_MODEL if self.model else frozenset()) | (EMBED if self.embedder else frozenset())

    def problems(self) -> Iterator[tuple[str, str]]:
        """What a person should know: a key that stays the same while it lasts, and words.

        A partition whose backlog is worked off is at another offset each time: it is late, and does not stand still.
        """
        waits = self.excused
        if self.groups is None:
            yield "broker", "the broker does not answer"
        for group in self.groups or ():
            for at in group.stalled() if group.consumer not in waits else ():
                where = f"{at.topic}/{at.partition} at offset {at.offset}"
                yield (
                    f"stalled {group.consumer} {at.topic} {at.partition} {at.offset}",
                    (f"{group.consumer} stands still in {where}: {at.records} records, oldest {at.oldest_s:.0f} s"),
                )
        for late in [one for one in self.undone if one.consumer not in waits]:
            yield (
                f"undone {late.consumer}",
                (
                    f"{late.consumer} has not done {late.events} events since {late.oldest:%Y-%m-%d %H:%M} UTC, "
                    f"the first a {late.type}"
                ),
            )
        for lost in self.given_up:
            yield (
                f"{DEAD_LETTERS} {lost.consumer}",
                f"{lost.consumer} gave up {lost.events} events, the first "
                f"{lost.oldest:%Y-%m-%d %H:%M} UTC (correspondent dlq list)",
            )
        for row in self.held:
            yield (
                f"held {row['id']}",
                (f"{row['consumer']} holds {row['topic']}/{row['partition']}: {row['type']} is of a newer version"),
            )
        for one in self.unanswered:
            yield f"unanswered {one.thread_id}", one.words
        for name, reason in self.ignored.items():
            said = f"the stored value of {name} does not count, the file's does: {reason}"
            yield f"setting {name}", f"{said} (correspondent settings changed)"
        yield from self._of_the_log()
        yield from self._services_away()

    def _of_the_log(self) -> Iterator[tuple[str, str]]:
        for loss in self.lost:
            yield f"lost {loss.lost_at:%Y-%m-%dT%H:%M:%S}", loss.words
        if self.outbox_refused:
            yield "outbox", f"the broker refuses {self.outbox_refused} stored events (correspondent outbox)"

    def _services_away(self) -> Iterator[tuple[str, str]]:
        if self.model:
            yield "model", f"the model is away since {self.model.since:%Y-%m-%d %H:%M} UTC: {self.model.error}"
        if self.embedder:
            since = f"{self.embedder.since:%Y-%m-%d %H:%M} UTC"
            yield "embedder", f"the embedding service is away since {since}, mails wait: {self.embedder.error}"
        for away in self.mail_away:
            yield f"{away.direction} {away.inbox}", away.words
        for row in self.unfetched:
            yield (
                f"unfetched {row['inbox']}",
                (f"{row['mails']} mails of the inbox {row['inbox']} are not handed over by its server: {row['error']}"),
            )


async def read_health(app: App, progress: Progress | None = None) -> Health:
    """Read everything now, but `progress` where it is given. A broker that is silent is said; a database is raised."""
    workspace = app.settings.workspace
    async with app.database.transaction() as conn:  # one commit a look: an idle deployment makes few
        undone = await _undone(conn)
        given_up = tuple(GivenUp(**row) for row in await fetch_all(conn, SQL.given_up))
        outbox = await fetch_one(conn, event_store.SQL.outbox_state)
        kept = await fetch_all(conn, held_records.SQL.held, held_records.HELD.args("", MOST_HELD))
        unfetched = await fetch_all(conn, SQL.unfetched, {"workspace": workspace})
        model_away = await noted_outage(conn, workspace, model.SERVICE)
        embedder_away = await noted_outage(conn, workspace, embedder.SERVICE)
        lost = await recent_losses(conn, app.settings)
        mail_away = await noted_outages(conn, app.settings)
        unanswered = await _unanswered(conn, workspace, app.now())
    assert outbox is not None
    try:
        groups: tuple[GroupHealth, ...] | None = group_health(app, progress or await read_progress(app))
    except (KafkaError, LogUnavailable, OSError, TimeoutError):
        groups = None
    return Health(
        at=app.now(),
        groups=groups,
        undone=undone,
        outbox_waiting=outbox["waiting"],
        outbox_refused=outbox["refused"],
        held=tuple(kept[:MOST_HELD]),
        model=model_away,
        unfetched=tuple(unfetched),
        lost=lost,
        mail_away=mail_away,
        unanswered=unanswered,
        embedder=embedder_away,
        ignored=app.in_force.ignored,
        given_up=given_up,
    )


def group_health(app: App, read: Progress) -> tuple[GroupHealth, ...]:
    """How far each consumer is behind in each partition, by the broker alone. Ages are by the wall clock."""
    prefix, now = app.settings.kafka.topic_prefix, app.now().astimezone(UTC)
    found = []
    for name, behind in read.behind.items():
        left = (_behind(prefix, place, first, read.ends[place], now) for place, first in behind.items())
        found.append(GroupHealth(name, tuple(left)))
    return tuple(found)


def _behind(prefix: str, place: Partition, first: Delivery, end: int, now: datetime) -> Behind:
    age_s = max(0.0, now.timestamp() - first.timestamp_ms / 1000)
    return Behind(place[0].removeprefix(prefix), place[1], first.offset, end - first.offset, age_s)


async def _undone(conn: Connection) -> tuple[Undone, ...]:
    pairs = pairs_of(catalogue().consumers())
    rows = await fetch_all(conn, SQL.undone, {**await not_done_args(conn, pairs), "older_s": OLD_S})
    return tuple(Undone(row["consumer"], row["events"], row["oldest"], row["type"]) for row in rows)


async def _unanswered(conn: Connection, workspace: str, now: datetime) -> tuple[Unanswered, ...]:
    args = {"workspace": workspace, "before": now - timedelta(seconds=OLD_S), "limit": MOST_UNANSWERED}
    found = [Unanswered(**row) for row in await fetch_all(conn, SQL.unanswered, args)]
    if not found:
        return ()
    quiet = {quiet_timer(one.thread_id): one for one in found}
    for row in await fetch_all(conn, SQL.waiting_timers, {"ids": list(quiet)}):
        del quiet[row["id"]]
    return tuple(quiet.values())
