"""One dead letter, understood as far as it can be. Nothing that it holds is trusted: anyone may have written it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from typing import Literal
from uuid import UUID, uuid5

from services.core.bus.codec import Undecodable, decode, header, said_by
from services.core.bus.dead_letters import LEFT_OUT, PREFIX, redriven
from services.core.bus.delivery import Delivery
from services.core.bus.envelope import Envelope
from services.core.bus.sealing import opened
from services.core.keys import Erased, Keys, NotAuthentic

LETTERS = UUID("6f1c2f0e-7d0a-5f43-9a53-3a1f3a3f6a2b")  # the namespace of dead letters' ids
ERASED = "«erased»"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
State = Literal["waiting", "redriven", "discarded"]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """`original` and `event` are None where they cannot be understood; `why` is what an operator said of its state."""

    id: UUID
    record: Delivery
    group: str
    error: str
    attempts: str
    failed_at: datetime
    code_version: str
    original: Delivery | None
    event: Envelope | None
    unreadable: str
    state: State = "waiting"
    why: str = ""

    @property
    def event_id(self) -> UUID | None:
        """The id of the event that it was made of, also where the event itself cannot be read."""
        try:
            return said_by(self.record)[0]
        except Undecodable:
            return None

    @property
    def key(self) -> str:
        """The Kafka key as text."""
        return (self.record.key or b"").decode("utf-8", "replace")

    @property
    def thread(self) -> str:
        """The thread that it is about, where the event says so; else its key."""
        return str(getattr(self.event.data, "thread_id", self.key)) if self.event else self.key


async def open_sealed(record: Delivery, group: str, keys: Keys) -> DeadLetter:
    """`open_letter` for a record whose value and whose error may be sealed."""
    sealed = header(record, f"{PREFIX}error_message")
    try:
        clear, _ = await opened(keys, record)
        said, words = await keys.open_bytes(sealed.encode())
    except Erased:
        dead_letter = open_letter(replace(record, value=None), group)
        return replace(_as(record, dead_letter), error=_error(record, ERASED), unreadable=ERASED)
    except (NotAuthentic, ValueError):
        return open_letter(record, group)
    dead_letter = _as(record, open_letter(clear, group))
    return replace(dead_letter, error=_error(record, json.loads(said)["message"])) if words else dead_letter


def open_letter(record: Delivery, group: str) -> DeadLetter:
    """Understand a record of the dead letter topic of `group`; never fails, whatever the record holds."""
    said = {name.removeprefix(PREFIX): _text(value) for name, value in record.headers if name.startswith(PREFIX)}
    original = _original(record)
    event, unreadable = _event(original or record)
    unreadable = said.get(LEFT_OUT, unreadable)
    return DeadLetter(
        id=_dead_letter_id(record),
        record=record,
        group=group,
        error=_error(record, said.get("error_message", "")),
        attempts=said.get("attempts", "?"),
        failed_at=_time(said.get("failed_at", "")) or _stamp(record),
        code_version=said.get("code_version", "?"),
        original=original,
        event=event,
        unreadable=unreadable,
    )


def _dead_letter_id(record: Delivery) -> UUID:
    """The same for the same dead letter; another one where a broker that forgot counts its offsets from 0 again."""
    ours = sorted((name, value.hex()) for name, value in record.headers if name.startswith(PREFIX))
    return uuid5(LETTERS, f"{record.topic}|{record.partition}|{record.offset}|{record.timestamp_ms}|{ours}")


def _original(record: Delivery) -> Delivery | None:
    try:
        return redriven(record)
    except (KeyError, ValueError):
        return None


def _event(record: Delivery) -> tuple[Envelope | None, str]:
    try:
        return decode(record), ""
    except Undecodable as error:
        return None, str(error)


def _as(record: Delivery, dead_letter: DeadLetter) -> DeadLetter:
    """The dead letter as it lies on its topic, with what was understood of it in the clear."""
    return replace(dead_letter, id=_dead_letter_id(record), record=record, original=_original(record))


def _error(record: Delivery, message: str) -> str:
    name = header(record, f"{PREFIX}error_class") or "unknown"
    return f"{name.rpartition('.')[2]}: {message}"


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _time(text: str) -> datetime | None:
    """The moment, where it is one in every zone: Postgres keeps others, which Python cannot read back."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo and MINYEAR < time.year < MAXYEAR else None


def _stamp(record: Delivery) -> datetime:
    try:
        return datetime.fromtimestamp(record.timestamp_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return EPOCH
