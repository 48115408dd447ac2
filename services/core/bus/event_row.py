"""A row of the table `events`, or of an archived file that any release wrote.

What its data holds depends on its type and on the release that wrote it, and is known when `envelope` reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from schemas import events as kinds  # whose classes are made when somebody asks for one
from services.core.bus.envelope import Envelope
from services.core.keys import Erased, Keys, NotAuthentic, is_sealed
from services.core.keys.aead import OF


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event as it is stored. `sealed` is the data as it is stored, where it was opened since it was read.

    `archived`: it lies in a file, and is in the table no longer.
    """

    id: UUID
    seq: int
    workspace: str
    topic: str
    key: str
    type: str
    source: str
    time: datetime
    aggregate: str | None
    aggregate_id: UUID | None
    version: int | None
    data_subject: UUID | None
    correlation_id: UUID
    causation_id: UUID | None
    data: dict[str, Any]
    stored_at: datetime
    published_at: datetime | None
    sealed: dict[str, Any] | None = None
    archived: bool = False

    @classmethod
    def of(cls, **columns: Any) -> Self:
        """The row from its columns, for `rows_as`; one that only a newer release knows is left out."""
        return cls(**{name: value for name, value in columns.items() if name in cls.__dataclass_fields__})

    @property
    def is_sealed(self) -> bool:
        """Whether its data cannot be read: it was not opened, or somebody whom it is about was erased."""
        return is_sealed(self.data)

    @property
    def sealed_form(self) -> dict[str, Any] | None:
        """Its data as it is sealed; None where it is about nobody, or was stored before there were keys."""
        return self.data if self.is_sealed else self.sealed

    @property
    def as_stored(self) -> dict[str, Any]:
        """Its data as it is stored, sealed where it is about somebody."""
        return self.sealed or self.data

    def envelope(self) -> Envelope:
        """The envelope that was stored as this row. Raises `Erased` where the data is still sealed.

        Rows come opened from a connection that has the keys; one without them reads nothing that is about a person.
        """
        if self.is_sealed:
            raise Erased(f"{self.type} {self.id} cannot be read: somebody whom it is about was erased")
        if self.sealed and self.sealed[OF] != str(self.id):
            raise NotAuthentic(f"the data of {self.sealed[OF]} stands at {self.id}")
        return Envelope(
            id=self.id,
            source=self.source,
            time=self.time,
            workspace=self.workspace,
            data=kinds.EVENTS[self.type].model_validate(self.data),
            correlation_id=self.correlation_id,
            causation_id=self.causation_id,
            version=self.version,
            sealed=self.sealed,
        )


@dataclass(frozen=True, slots=True)
class OutboxEvent(EventRow):
    """A stored event with what the outbox says of it: whether it waits there, and how the broker refused it."""

    unpublished: bool = True
    refusal: str | None = None


async def opened_rows(keys: Keys, rows: Sequence[EventRow]) -> list[EventRow]:
    """Rows that were read as they are stored, opened; what was erased stays as it is."""
    columns: list[dict[str, Any]] = [{"data": row.data} for row in rows]
    await keys.open_rows(columns)
    return [replace(row, **found) for row, found in zip(rows, columns, strict=True)]
