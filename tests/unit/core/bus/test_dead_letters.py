from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from services.core.bus.dead_letters import LONGEST_MESSAGE, code_version, dead_letter_topic, make_dead_letter, redriven
from services.core.bus.delivery import Delivery

AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
HEADERS = st.lists(st.tuples(st.sampled_from(["ce_id", "ce_type", "traceparent", "x"]), st.binary(max_size=20)))
DELIVERIES = st.builds(
    Delivery,
    topic=st.sampled_from(["turns", "inbound-email.raw"]),
    partition=st.integers(0, 11),
    offset=st.integers(0, 2**40),
    key=st.none() | st.binary(max_size=40),
    value=st.none() | st.binary(max_size=200),
    headers=HEADERS.map(tuple),
    timestamp_ms=st.integers(0, 2**41),
)


@given(DELIVERIES)
def test_a_dead_letter_can_be_redriven_as_it_first_came(delivery: Delivery) -> None:
    """Key, value, headers, place and time of the original survive the dead letter byte for byte."""
    letter = make_dead_letter(delivery, group="reflect", error=ValueError("no"), attempts=3, at=AT)
    arrived = Delivery(letter.topic, 0, 0, letter.key, letter.value, letter.headers, 1)
    nothing = delivery.key is None and delivery.value is None
    assert redriven(arrived) == (replace(delivery, value=b"") if nothing else delivery)


def test_a_record_with_neither_key_nor_value_could_not_become_a_dead_letter() -> None:
    """Clients of Kafka publish no such record: its dead letter has an empty value."""
    letter = make_dead_letter(Delivery("turns", 0, 0, None, None), group="g", error=ValueError("no"), attempts=1, at=AT)
    assert (letter.key, letter.value) == (None, b"")


@given(DELIVERIES)
def test_a_dead_letter_that_dies_again_names_its_last_death_only(delivery: Delivery) -> None:
    """A redriven event that fails again has one set of our headers, the new one."""
    first = make_dead_letter(delivery, group="reflect", error=ValueError("no"), attempts=3, at=AT)
    again = Delivery("turns", 1, 2, first.key, first.value, first.headers, 5)
    second = dict(make_dead_letter(again, group="reflect", error=KeyError("id"), attempts=1, at=AT).headers)
    names = [name for name, _ in make_dead_letter(again, group="g", error=KeyError(), attempts=1, at=AT).headers]
    assert second["dlq_error_class"] == b"builtins.KeyError"
    assert sum(name.startswith("dlq_") for name in names) == len({n for n in names if n.startswith("dlq_")})


def test_headers_say_why_where_and_when() -> None:
    """The headers hold error, attempts, group, origin, times and the code's version."""
    delivery = Delivery("turns", 4, 17, b"k", b"{", (("ce_id", b"1"),), 1_700_000_000_000)
    letter = make_dead_letter(delivery, group="t.reflect", error=ValueError("bad json"), attempts=2, at=AT)
    assert letter.topic == dead_letter_topic("turns", "t.reflect") == "turns.t.reflect.dlq"
    assert dict(letter.headers) == {
        "ce_id": b"1",
        "dlq_error_class": b"builtins.ValueError",
        "dlq_error_message": b"bad json",
        "dlq_attempts": b"2",
        "dlq_group": b"t.reflect",
        "dlq_origin_topic": b"turns",
        "dlq_origin_partition": b"4",
        "dlq_origin_offset": b"17",
        "dlq_origin_timestamp_ms": b"1700000000000",
        "dlq_failed_at": b"2026-03-01T12:30:00+00:00",
        "dlq_code_version": code_version().encode(),
    }


def test_a_long_complaint_is_cut() -> None:
    """An error message of any length and content makes a header of bounded length."""
    error = ValueError("ä\udc80" * 5000)
    letter = make_dead_letter(Delivery("t", 0, 0, None, b"x"), group="g", error=error, attempts=1, at=AT)
    assert len(dict(letter.headers)["dlq_error_message"].decode()) <= LONGEST_MESSAGE
