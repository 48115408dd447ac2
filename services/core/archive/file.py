"""One file of archived events: gzip, one JSON object a row of `events`, in the order of `seq`.

The same rows give the same bytes, so a move that was cut short and is made again replaces its own leftover.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

from services.core.bus.event_row import EventRow
from services.core.errors import Permanent

CHUNK = 1 << 20
LEVEL = 6  # of gzip
IDS = ("id", "aggregate_id", "data_subject", "correlation_id", "causation_id")
TIMES = ("time", "stored_at", "published_at")


class ArchiveDamaged(Permanent):
    """A file of archived events does not hold what was put into it."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a file holds; `kinds` counts its events that changed an aggregate, `sha256` is the compressed file's.

    `place` is where it lies, if not where the settings say.
    """

    file: str
    day: date
    events: int
    kinds: dict[str, int]
    first_seq: int
    last_seq: int
    last_stored_at: datetime
    bytes: int
    sha256: str
    place: str = ""


async def write(lines: AsyncIterator[str], day: date, path: Path) -> Manifest | None:
    """Write rows, each as JSON, to a file; what it holds, or None where no row came."""
    kinds, count = Counter[str](), 0
    first = last = None
    with path.open("wb") as raw, gzip.GzipFile("", "wb", LEVEL, raw, mtime=0) as packed:
        async for line in lines:
            last = json.loads(line)
            first = first or last
            count += 1
            if last["aggregate"] is not None and last["version"] is not None:
                kinds[last["aggregate"]] += 1
            packed.write(line.encode() + b"\n")
    if first is None or last is None:
        return None
    begins, ends = typed(first), typed(last)
    with path.open("rb") as written:
        size, sha256 = _measure(written)
    name = f"events-{day:%Y%m%d}-{begins.seq}-{ends.seq}-{sha256[:12]}.jsonl.gz"
    return Manifest(name, day, count, dict(kinds), begins.seq, ends.seq, ends.stored_at, size, sha256)


def verify(content: BinaryIO, said: Manifest) -> None:
    """Read a file back, to its last row. Raises `ArchiveDamaged`."""
    seqs = [row.seq for row in rows(content, said)]
    if (len(seqs), seqs[:1], seqs[-1:]) != (said.events, [said.first_seq], [said.last_seq]):
        raise ArchiveDamaged(f"{said.file}: {len(seqs)} events, not {said.events}")


def rows(content: BinaryIO, said: Manifest) -> Iterator[EventRow]:
    """The rows of a file, as the table `events` gives them. Raises `ArchiveDamaged`."""
    for line in lines(content, said):
        yield typed(json.loads(line))


def typed(row: dict[str, Any]) -> EventRow:
    """A row that was read as JSON, with ids and times as the table gives them."""
    ids = {column: UUID(row[column]) for column in IDS if row[column] is not None}
    times = {name: datetime.fromisoformat(row[name]) for name in TIMES if row[name] is not None}
    return EventRow.of(**{**row, **ids, **times, "archived": True})


def lines(content: BinaryIO, said: Manifest) -> Iterator[str]:
    """The rows of a file as JSON, none before its hash was found right; closes it. Raises `ArchiveDamaged`."""
    with content:
        size, sha256 = _measure(content)
        if (size, sha256) != (said.bytes, said.sha256):
            raise ArchiveDamaged(
                f"{said.file} has {size} bytes and SHA-256 {sha256}, not {said.bytes} and {said.sha256}"
            )
        content.seek(0)
        with gzip.open(content, "rt", encoding="utf-8", newline="\n") as unpacked:
            for line in unpacked:
                yield line.rstrip("\n")


def _measure(content: BinaryIO) -> tuple[int, str]:
    size, digest = 0, hashlib.sha256()
    while chunk := content.read(CHUNK):
        size += len(chunk)
        digest.update(chunk)
    return size, digest.hexdigest()
