"""What comes off the log and what goes onto it, as raw bytes: decoding is the codec's concern."""

from __future__ import annotations

from dataclasses import dataclass

Headers = tuple[tuple[str, bytes], ...]
Partition = tuple[str, int]  # (topic, number)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One record as the broker handed it over, undecoded; `timestamp_ms` is Unix time in milliseconds."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    timestamp_ms: int = 0

    @property
    def source(self) -> Partition:
        """The topic and partition the record lies in."""
        return (self.topic, self.partition)


@dataclass(frozen=True, slots=True)
class Record:
    """One record to be published; its key decides its partition, a value of None is a tombstone."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
