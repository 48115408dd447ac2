"""What can be rebuilt by itself: the aggregates whose events share a key, and the tables rebuilt from them."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from schemas.topics import catalogue
from services.core.bus.processor import Processor
from services.core.errors import Permanent
from services.pipeline import PROCESSORS

KEYS = MappingProxyType(
    {
        "threads": "thread_id",
        "participants": "participant_id",
        "documents": "document_id",
        "alerts": "channel_id",
        "approvals": "approval_id",
        "incidents": "board_id",
        "outreach": "book_id",
        "webhooks": "endpoint_id",
    }
)
NAMES = (*KEYS, "all")


class NoSuchScope(Permanent):
    """There is nothing of this name to rebuild."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Kinds of aggregates, and the tables that the processors keep of them (without `aggregates`)."""

    name: str
    kinds: tuple[str, ...]
    tables: tuple[str, ...]


def scope(name: str) -> Scope:
    """What one of `NAMES` means. Raises `NoSuchScope`."""
    if name not in NAMES:
        raise NoSuchScope(f"{name!r} cannot be rebuilt; there are: {', '.join(NAMES)}")
    chosen = [one for one in PROCESSORS if one.appliers and (name == "all" or KEYS[name] in _keys(one))]
    writers = {one.name for one in chosen}
    tables = [table for table, writer in catalogue().tables.items() if writer in writers]
    return Scope(name, tuple(sorted({kind for one in chosen for kind in _kinds(one)})), tuple(sorted(tables)))


def _keys(processor: Processor) -> set[str]:
    return {catalogue().topics[event.TOPIC].key for event in processor.appliers}


def _kinds(processor: Processor) -> set[str]:
    return {event.AGGREGATE for event in processor.appliers}
