"""An event in its envelope: CloudEvents 1.0 attributes around one `EventData`.

Ids are made from what caused the event, so that the same decision made twice is the same event.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from schemas.events import EventData
from schemas.topics import catalogue


@dataclass(frozen=True, slots=True)
class Envelope:
    """One event. `version` is the aggregate's version, None where the event changes no aggregate.

    `replay` marks an event that a replay made or fed in; what it causes carries the mark too. No mail is ever sent
    because of one. `sealed` is the data as it is stored and published, where it is about somebody.
    """

    id: UUID
    source: str
    time: datetime
    workspace: str
    data: EventData
    correlation_id: UUID
    causation_id: UUID | None = None
    version: int | None = None
    replay: str = ""
    sealed: dict[str, Any] | None = field(default=None, compare=False, repr=False)

    @property
    def type(self) -> str:
        """The CloudEvents type, e.g. `email.read.v1`."""
        return self.data.TYPE

    @property
    def topic(self) -> str:
        """The topic, without the deployment's prefix."""
        return self.data.TOPIC

    @property
    def key(self) -> str:
        """The Kafka key: the id that orders this topic."""
        return str(getattr(self.data, catalogue().topics[self.topic].key))

    @property
    def traceparent(self) -> str:
        """W3C Trace Context: the correlation id is the trace, the event is the span."""
        return traceparent(self.correlation_id, self.id)


def traceparent(correlation_id: UUID, id: UUID) -> str:
    """The W3C trace context of an event."""
    return f"00-{correlation_id.hex}-{id.hex[:16]}-01"


def first(data: EventData, *, id: UUID, source: str, time: datetime, workspace: str) -> Envelope:
    """The envelope of an event with no cause: an edge met something new, or a person acted."""
    return Envelope(id=id, source=source, time=time, workspace=workspace, data=data, correlation_id=id)


def caused(
    data: EventData,
    cause: Envelope,
    *,
    source: str,
    step: str,
    version: int | None = None,
    time: datetime | None = None,
) -> Envelope:
    """The envelope of an event that `source` decided because of `cause`; the same call gives the same id.

    Its time is the cause's unless `time` is given: an effect has a moment of its own.
    """
    return Envelope(
        id=uuid5(cause.id, f"{source}/{step}"),
        source=source,
        time=time or cause.time,
        workspace=cause.workspace,
        data=data,
        correlation_id=cause.correlation_id,
        causation_id=cause.id,
        version=version,
        replay=cause.replay,
    )
