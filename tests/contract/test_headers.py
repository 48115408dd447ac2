"""Headers and keys: ids, never addresses or text; and an event comes back from its record as it was."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from hypothesis import given

from schemas.asyncapi import HEADERS, OPTIONAL
from services.core.bus.codec import decode, encode
from services.core.bus.delivery import Delivery, Record
from services.core.bus.envelope import Envelope
from tests.contract.generated import MARK, envelopes


def delivered(record: Record) -> Delivery:
    return Delivery(record.topic, 0, 0, record.key, record.value, record.headers)


@given(envelopes)
def test_no_text_of_the_data_stands_in_headers_or_key(envelope: Envelope) -> None:
    """Whatever an event says, its key and headers hold nothing of its texts and addresses."""
    record = encode(envelope)
    assert MARK.encode() not in (record.key or b"")
    assert all(MARK.encode() not in value and b"@" not in value for _, value in record.headers)


@given(envelopes)
def test_headers_are_those_of_the_document_and_of_their_formats(envelope: Envelope) -> None:
    """Every header is one that AsyncAPI names, in its format, and the required ones are always there."""
    record = encode(envelope)
    headers = {name: value.decode("ascii") for name, value in record.headers}
    assert len(headers) == len(record.headers)
    assert set(headers) <= set(HEADERS)
    assert set(HEADERS) - set(headers) <= OPTIONAL
    UUID((record.key or b"").decode("ascii"))
    for name, value in headers.items():
        kind = HEADERS[name].get("format")
        if kind == "uuid":
            assert str(UUID(value)) == value
        elif kind == "date-time":
            assert datetime.fromisoformat(value).tzinfo is not None
        elif "const" in HEADERS[name]:
            assert value == HEADERS[name]["const"]


@given(envelopes)
def test_an_event_comes_back_as_it_was(envelope: Envelope) -> None:
    """Decoding an encoded event gives the same envelope, and encoding that gives the same bytes."""
    record = encode(envelope)
    assert decode(delivered(record)) == envelope
    assert encode(decode(delivered(record))) == record
