"""Envelope to Kafka record and back: CloudEvents 1.0, Kafka binding, binary content mode.

Attributes are `ce_*` headers, the value is JSON. Headers hold ids, never addresses or text. What is about a person is
published as it is stored: sealed; `sealing.opened` comes before `decode`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import UUID

from pydantic import ValidationError

from schemas import events as kinds  # whose classes are made when somebody asks for one
from services.core.bus.delivery import Delivery, Headers, Record
from services.core.bus.envelope import Envelope, traceparent
from services.core.bus.event_row import EventRow
from services.core.errors import Permanent
from services.core.storable import is_storable

SOURCE_PREFIX = "/correspondent/"


class Undecodable(Permanent):
    """The record is no event that this version of the code can read."""


def encode(envelope: Envelope, *, topic_prefix: str = "") -> Record:
    """The record to publish. The same envelope gives the same bytes."""
    attributes = {
        "specversion": "1.0",
        "id": str(envelope.id),
        "type": envelope.type,
        "source": SOURCE_PREFIX + envelope.source,
        "subject": envelope.key,
        "time": envelope.time.isoformat(),
        "traceparent": envelope.traceparent,
        "correlationid": str(envelope.correlation_id),
        "causationid": str(envelope.causation_id or ""),
        "workspace": envelope.workspace,
        "aggregateversion": "" if envelope.version is None else str(envelope.version),
        "datasubject": str(envelope.data.subject_id() or ""),
        "replay": envelope.replay,
    }
    return Record(
        topic=topic_prefix + envelope.topic,
        key=envelope.key.encode(),
        value=_value(envelope),
        headers=_headers(attributes),
    )


def record_of(row: EventRow, *, topic_prefix: str = "") -> Record:
    """The record of a row as it is stored, like that of its envelope. Its type and fields need not be known here."""
    attributes = {
        "specversion": "1.0",
        "id": str(row.id),
        "type": row.type,
        "source": SOURCE_PREFIX + row.source,
        "subject": row.key,
        "time": row.time.isoformat(),
        "traceparent": traceparent(row.correlation_id, row.id),
        "correlationid": str(row.correlation_id),
        "causationid": str(row.causation_id or ""),
        "workspace": row.workspace,
        "aggregateversion": "" if row.version is None else str(row.version),
        "datasubject": str(row.data_subject or ""),
    }
    value = json.dumps(row.as_stored, separators=(",", ":")).encode()
    return Record(topic_prefix + row.topic, row.key.encode(), value, _headers(attributes))


def _headers(attributes: Mapping[str, str]) -> Headers:
    given = tuple((f"ce_{name}", value.encode()) for name, value in attributes.items() if value)
    return (("content-type", b"application/json"), *given)


def decode(delivery: Delivery) -> Envelope:
    """The envelope of a record. Raises `Undecodable` with what is wrong, in words."""
    headers = {name: value.decode("utf-8", "replace") for name, value in delivery.headers}
    try:
        return _envelope(headers, delivery.value or b"")
    except KeyError as error:
        raise Undecodable(f"the header or event type {error} is missing or unknown") from error
    except ValidationError as error:
        raise Undecodable(f"the value does not fit {headers.get('ce_type')}: {error}") from error
    except ValueError as error:
        raise Undecodable(f"a header is malformed: {error}") from error


def header(delivery: Delivery, name: str) -> str:
    """The first value of a header as text, "" where there is none."""
    return next((value.decode("utf-8", "replace") for found, value in delivery.headers if found == name), "")


def said_by(delivery: Delivery) -> tuple[UUID, datetime]:
    """The id and the time of the event, told by the headers alone. Raises `Undecodable`."""
    try:
        return UUID(header(delivery, "ce_id")), _moment(header(delivery, "ce_time"))
    except ValueError as error:
        raise Undecodable(f"a header is malformed: {error}") from error


def _value(envelope: Envelope) -> bytes:
    if envelope.sealed is not None:
        return json.dumps(envelope.sealed, separators=(",", ":")).encode()
    return envelope.data.model_dump_json().encode()


def _envelope(headers: Mapping[str, str], value: bytes) -> Envelope:
    return Envelope(
        id=UUID(headers["ce_id"]),
        source=_stored(headers["ce_source"]).removeprefix(SOURCE_PREFIX),
        time=_moment(headers["ce_time"]),
        workspace=_stored(headers["ce_workspace"]),
        data=kinds.EVENTS[headers["ce_type"]].model_validate_json(value),
        correlation_id=UUID(headers["ce_correlationid"]),
        causation_id=_optional_id(headers.get("ce_causationid")),
        version=int(headers["ce_aggregateversion"]) if "ce_aggregateversion" in headers else None,
        replay=headers.get("ce_replay", ""),
    )


def _moment(text: str) -> datetime:
    """A time with its offset, of which there is a day in UTC, as the journal needs it."""
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError("ce_time has no offset")
    try:
        time.astimezone(UTC)
    except OverflowError:
        raise ValueError("ce_time is before the first day or after the last one") from None
    return time


def _stored(text: str) -> str:
    if not is_storable(text):
        raise ValueError("a text that no table can hold")
    return text


def _optional_id(value: str | None) -> UUID | None:
    return UUID(value) if value else None
