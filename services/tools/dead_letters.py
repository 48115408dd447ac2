"""The dead letters of every group: list, choose, redrive, discard.

A dead letter stays on its topic until retention takes it. What became of it is a row of the journal (consumer
`dlq.redriven` or `dlq.discarded`, the letter's id), so that the same letter is not shown as waiting for ever.

Invariants
- A redrive goes to the letter's own group alone: its processor handles the original record here, in the operator's
  process, under the same journal and row locks as in the group. Publishing it to its topic would reach every group.
- Redriving twice changes nothing twice. What fails again stays a waiting letter, and is said with its reason.
- Nothing a letter holds is trusted: anyone who can write to the topic may have written it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID, uuid5

from services.core.bus import history
from services.core.bus.codec import Undecodable, decode, header
from services.core.bus.dead_letters import PREFIX, dead_letter_topic, redriven
from services.core.bus.delivery import Delivery
from services.core.bus.envelope import Envelope
from services.core.bus.runner import Runner
from services.core.bus.sealing import opened
from services.core.bus.topics_admin import ends
from services.core.db import fetch_all, queries
from services.core.errors import Permanent
from services.core.house import House
from services.core.keys import Erased, Keys, NotAuthentic
from services.pipeline import PROCESSORS, consumers
from services.tools.log import read

SQL = queries(__file__, "dead_letters.sql")
LETTERS = UUID("6f1c2f0e-7d0a-5f43-9a53-3a1f3a3f6a2b")  # the namespace of letters' ids
ERASED = "«erased»"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
State = Literal["waiting", "redriven", "discarded"]


class NoSuchLetter(Permanent):
    """No dead letter has this id, or several begin with it."""


class CannotRedrive(Permanent):
    """The letter does not say which record of which group it was."""


@dataclass(frozen=True, slots=True)
class Letter:
    """One dead letter, as far as it can be understood: `original` and `event` are None where it cannot."""

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

    @property
    def key(self) -> str:
        """The Kafka key as text."""
        return (self.record.key or b"").decode("utf-8", "replace")

    @property
    def thread(self) -> str:
        """The thread that it is about, where the event says so; else its key."""
        return str(getattr(self.event.data, "thread_id", self.key)) if self.event else self.key


@dataclass(frozen=True, slots=True)
class Choice:
    """Which letters are meant; each criterion that is set must hold. Times are of the failure, `until` exclusive."""

    group: str = ""
    thread: str = ""
    error: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def takes(self, letter: Letter) -> bool:
        """Whether the letter is meant."""
        return (
            self.group in ("", letter.group)
            and self.thread in ("", letter.thread, letter.key)
            and self.error.casefold() in letter.error.casefold()
            and (self.since is None or letter.failed_at >= self.since)
            and (self.until is None or letter.failed_at < self.until)
        )


async def open_sealed(record: Delivery, group: str, keys: Keys) -> Letter:
    """`open_letter` for a record whose value and whose error may be sealed."""
    sealed = header(record, f"{PREFIX}error_message")
    try:
        clear, _ = await opened(keys, record)
        said, words = await keys.open_bytes(sealed.encode())
    except Erased:
        letter = open_letter(replace(record, value=None), group)
        return replace(_as(record, letter), error=_error(record, ERASED), unreadable=ERASED)
    except (NotAuthentic, ValueError):
        return open_letter(record, group)
    letter = _as(record, open_letter(clear, group))
    return replace(letter, error=_error(record, json.loads(said)["message"])) if words else letter


def open_letter(record: Delivery, group: str) -> Letter:
    """Understand a record of the dead letter topic of `group`; never fails, whatever the record holds."""
    said = {name.removeprefix(PREFIX): _text(value) for name, value in record.headers if name.startswith(PREFIX)}
    original = _original(record)
    event, unreadable = _event(original or record)
    return Letter(
        id=_letter_id(record),
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


def by_id(letters: Iterable[Letter], begins: Sequence[str]) -> list[Letter]:
    """The letters whose ids begin so, one for each. Raises `NoSuchLetter`."""
    letters, chosen = list(letters), []
    for begin in begins:
        found = [letter for letter in letters if begin and str(letter.id).startswith(begin.strip().lower())]
        if len(found) != 1:
            what = "no dead letter has" if not found else f"{len(found)} dead letters have"
            raise NoSuchLetter(f"{what} an id that begins with {begin[:40]!r}; `correspondent dlq list` shows the ids")
        chosen += found
    return chosen


async def all_letters(house: House) -> list[Letter]:
    """Every dead letter of every group, oldest first, with what became of it."""
    prefix, brokers = house.settings.kafka.topic_prefix, house.settings.kafka.brokers
    groups = {dead_letter_topic(prefix + topic, prefix + name): name for topic, name in consumers()}
    stops = await ends(brokers, list(groups))
    letters = [await open_sealed(record, groups[record.topic], house.keys) async for record in read(brokers, {}, stops)]
    states = await _states(house, [letter.id for letter in letters])
    known = [_with_state(letter, states.get(letter.id, "waiting")) for letter in letters]
    return sorted(known, key=lambda letter: (letter.failed_at, letter.record.source, letter.record.offset))


async def redrive(house: House, letter: Letter) -> None:
    """Have the letter's own group handle its record once more. Raises `CannotRedrive`, or what the handler raises."""
    if letter.original is None:
        raise CannotRedrive("it does not say which record it was; it can only be discarded")
    [processor] = [one for one in PROCESSORS if one.name == letter.group]
    await Runner(processor, house).handle(letter.original)
    await _mark(house, letter, "redriven")


async def discard(house: House, letter: Letter) -> None:
    """Show the letter no longer as waiting. The record stays on its topic."""
    await _mark(house, letter, "discarded")


async def _mark(house: House, letter: Letter, state: State) -> None:
    row = {"consumer": f"dlq.{state}", "event_id": letter.id, "event_day": letter.failed_at.astimezone(UTC).date()}
    async with house.database.reading() as conn:
        await conn.execute(history.SQL.mark_done, row)


async def _states(house: House, ids: list[UUID]) -> dict[UUID, State]:
    async with house.database.reading() as conn:
        rows = await fetch_all(conn, SQL.letter_states, {"ids": ids})
    return {row["event_id"]: row["state"] for row in rows}


def _with_state(letter: Letter, state: State) -> Letter:
    return replace(letter, state=state)


def _letter_id(record: Delivery) -> UUID:
    """The same for the same letter; another one where a broker that forgot counts its offsets from 0 again."""
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


def _as(record: Delivery, letter: Letter) -> Letter:
    """The letter as it lies on its topic, with what was understood of it in the clear."""
    return replace(letter, id=_letter_id(record), record=record, original=_original(record))


def _error(record: Delivery, message: str) -> str:
    name = header(record, f"{PREFIX}error_class") or "unknown"
    return f"{name.rpartition('.')[2]}: {message}"


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else None


def _stamp(record: Delivery) -> datetime:
    try:
        return datetime.fromtimestamp(record.timestamp_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return EPOCH
