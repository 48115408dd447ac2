"""Dead letters: what a consumer group could not handle, bytes untouched, with headers that say why and from where.

The topic is `<topic>.<group>.dlq`, so that a redrive goes to that group alone. Key, value and the original headers
stay as they were; what we add begins with `dlq_`.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from services.core.bus.delivery import Delivery, Record

LONGEST_MESSAGE = 1000  # characters of the error kept in a header
LONGEST_KEPT = 1000  # bytes of a key or a header where the record is too large for a dead letter
LEFT_OUT = "left_out"
PREFIX = "dlq_"


def dead_letter_topic(topic: str, group: str) -> str:
    """Name the topic of a group's dead letters from `topic`."""
    return f"{topic}.{group}.dlq"


def make_dead_letter(
    delivery: Delivery, *, group: str, error: BaseException, attempts: int, at: datetime, said: str = ""
) -> Record:
    """Make the dead letter of a delivery that `group` gave up at `at` (aware) after `attempts` attempts.

    `said` stands for the error's message where that is sealed: it may repeat what the event holds.
    """
    ours = {
        "error_class": f"{type(error).__module__}.{type(error).__qualname__}",
        "error_message": said or str(error)[:LONGEST_MESSAGE],
        "attempts": str(attempts),
        "group": group,
        "origin_topic": delivery.topic,
        "origin_partition": str(delivery.partition),
        "origin_offset": str(delivery.offset),
        "origin_timestamp_ms": str(delivery.timestamp_ms),
        "failed_at": at.isoformat(),
        "code_version": code_version(),
    }
    kept = tuple((name, value) for name, value in delivery.headers if not name.startswith(PREFIX))
    added = tuple((PREFIX + name, value.encode(errors="replace")) for name, value in ours.items())
    nothing = delivery.key is None and delivery.value is None  # which no client publishes
    value = b"" if nothing else delivery.value
    return Record(dead_letter_topic(delivery.topic, group), delivery.key, value, kept + added)


def without_content(record: Record) -> Record:
    """The same dead letter where the log has no room for what the record holds: it says where the record lies."""
    key = record.key if record.key and len(record.key) <= LONGEST_KEPT else None
    size = len(record.key or b"") + len(record.value or b"") + sum(len(value) for _, value in record.headers)
    names = ("ce_id", "ce_type", "ce_time", "ce_correlationid", "ce_datasubject")
    first = {name: value for name, value in reversed(record.headers) if name in names and len(value) <= LONGEST_KEPT}
    ours = tuple((name, value) for name, value in record.headers if name.startswith(PREFIX))
    said = f"its {size:,} bytes are too many for a dead letter; they lie where it came from while its topic keeps them"
    return Record(record.topic, key, b"", (*first.items(), *ours, (PREFIX + LEFT_OUT, said.encode())))


def redriven(record: Delivery) -> Delivery:
    """Give the delivery that a dead letter was made of, as its group first met it.

    Raises `KeyError` or `ValueError` where the dead letter does not hold it.
    """
    ours = {name.removeprefix(PREFIX): value.decode() for name, value in record.headers if name.startswith(PREFIX)}
    if LEFT_OUT in ours:
        raise ValueError(ours[LEFT_OUT])
    return Delivery(
        topic=ours["origin_topic"],
        partition=int(ours["origin_partition"]),
        offset=int(ours["origin_offset"]),
        key=record.key,
        value=record.value,
        headers=tuple((name, value) for name, value in record.headers if not name.startswith(PREFIX)),
        timestamp_ms=int(ours["origin_timestamp_ms"]),
    )


@cache
def code_version() -> str:
    """The version of this code: the installed distribution's, or `source` in a bare checkout."""
    try:
        return version("correspondent")
    except PackageNotFoundError:
        return "source"
