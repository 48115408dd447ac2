"""Envelope to Kafka record and back: CloudEvents in binary mode, and what cannot be read is said in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.events import EVENTS
from schemas.events.threads import GoalAdded
from services.core.bus.codec import Undecodable, decode, encode
from services.core.bus.delivery import Delivery
from services.core.bus.envelope import Envelope
from services.core.errors import Permanent

ENVELOPE = Envelope(
    id=UUID(int=1),
    source="track_threads",
    time=datetime(2026, 3, 2, 9, 15, tzinfo=UTC),
    workspace="main",
    data=GoalAdded(thread_id=UUID(int=2), participant_id=UUID(int=3), goal_id=UUID(int=4), text="Ada: grüß Gott"),
    correlation_id=UUID(int=5),
    causation_id=UUID(int=6),
    version=7,
)
RECORD = encode(ENVELOPE)
DELIVERY = Delivery("thread-events", 3, 42, RECORD.key, RECORD.value, RECORD.headers)


def with_header(name: str, value: bytes | None) -> Delivery:
    """The delivery with one header replaced, or without it."""
    kept = [one for one in DELIVERY.headers if one[0] != name]
    return replace(DELIVERY, headers=tuple(kept if value is None else [*kept, (name, value)]))


def test_a_record_is_a_cloudevent_in_binary_mode() -> None:
    """Attributes are ce_ headers, the value is the data alone as JSON, the key orders the topic."""
    assert dict(RECORD.headers) == {
        "content-type": b"application/json",
        "ce_specversion": b"1.0",
        "ce_id": b"00000000-0000-0000-0000-000000000001",
        "ce_type": b"thread.goal_added.v1",
        "ce_source": b"/correspondent/track_threads",
        "ce_subject": b"00000000-0000-0000-0000-000000000002",
        "ce_time": b"2026-03-02T09:15:00+00:00",
        "ce_traceparent": b"00-00000000000000000000000000000005-0000000000000000-01",
        "ce_correlationid": b"00000000-0000-0000-0000-000000000005",
        "ce_causationid": b"00000000-0000-0000-0000-000000000006",
        "ce_workspace": b"main",
        "ce_aggregateversion": b"7",
        "ce_datasubject": b"00000000-0000-0000-0000-000000000003",
    }
    assert RECORD.key == b"00000000-0000-0000-0000-000000000002"
    assert RECORD.topic == "thread-events"


def test_a_prefix_stands_before_the_topic_only() -> None:
    """Several deployments share a broker by a prefix of the topic; nothing else changes."""
    prefixed = encode(ENVELOPE, topic_prefix="staging.")
    assert replace(prefixed, topic="thread-events") == RECORD
    assert prefixed.topic == "staging.thread-events"


def test_what_is_not_there_has_no_header() -> None:
    """An event without cause, version or subject has no empty headers, and comes back without them."""
    bare = replace(
        ENVELOPE, causation_id=None, version=None, data=ENVELOPE.data.model_copy(update={"participant_id": None})
    )
    record = encode(bare)
    assert not {"ce_causationid", "ce_aggregateversion", "ce_datasubject"} & {name for name, _ in record.headers}
    assert decode(replace(DELIVERY, value=record.value, headers=record.headers)) == bare


def test_a_record_comes_back_as_it_was() -> None:
    """Decoding undoes encoding, bytes of any script included."""
    assert decode(DELIVERY) == ENVELOPE


def test_fields_and_headers_of_newer_code_are_ignored() -> None:
    """Older code reads what a newer version writes beside what it knows."""
    newer = with_header("ce_shard", b"9")
    value = (RECORD.value or b"").replace(b"{", b'{"mood":"new",', 1)
    assert decode(replace(newer, value=value)) == ENVELOPE


@pytest.mark.parametrize("name", ["ce_id", "ce_type", "ce_source", "ce_time", "ce_workspace", "ce_correlationid"])
def test_a_missing_header_is_named(name: str) -> None:
    """A record without a header that it needs is undecodable, and the header is named."""
    with pytest.raises(Undecodable, match=name):
        decode(with_header(name, None))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ce_type", b"thread.eaten.v1", "thread.eaten.v1"),
        ("ce_type", b"thread.goal_added.v2", "thread.goal_added.v2"),
        ("ce_id", b"seven", "malformed"),
        ("ce_correlationid", b"", "malformed"),
        ("ce_causationid", b"x", "malformed"),
        ("ce_time", b"yesterday", "malformed"),
        ("ce_time", b"2026-03-02T09:15:00", "ce_time has no offset"),
        ("ce_aggregateversion", b"seven", "malformed"),
        ("ce_id", b"\xff\xfe", "malformed"),
    ],
)
def test_a_malformed_header_is_said(name: str, value: bytes, said: str) -> None:
    """What is wrong with a header is said in words."""
    with pytest.raises(Undecodable, match=said):
        decode(with_header(name, value))


@pytest.mark.parametrize("value", [None, b"", b"{}", b"[]", b"null", b"\xff", b'{"thread_id": 1}', b"[" * 5000])
def test_a_value_that_does_not_fit_is_said_with_its_type(value: bytes | None) -> None:
    """A tombstone, half a JSON or another shape is undecodable, and the type that it claims is named."""
    with pytest.raises(Undecodable, match=r"does not fit thread\.goal_added\.v1"):
        decode(replace(DELIVERY, value=value))


header_names = st.sampled_from([name for name, _ in RECORD.headers]) | st.text(max_size=5)
header_values = st.binary(max_size=20) | st.sampled_from([name.encode() for name in EVENTS]) | st.just(b"2026-01-01")


@given(st.none() | st.binary(max_size=50), st.lists(st.tuples(header_names, header_values), max_size=6), st.booleans())
@settings(deadline=None)
def test_whatever_lies_on_the_log_is_an_event_or_undecodable(
    value: bytes | None, headers: list[tuple[str, bytes]], on_top: bool
) -> None:
    """No bytes of anybody's crash a reader with anything but Undecodable, which is not tried again."""
    try:
        decode(Delivery("any", 0, 0, None, value, (*(RECORD.headers if on_top else ()), *headers)))
    except Undecodable as error:
        assert isinstance(error, Permanent)  # noqa: PT017 - either outcome is right
