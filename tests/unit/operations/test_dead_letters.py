"""Dead letters as an operator meets them, whatever was written into them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from services.cli.dlq import check_choice
from services.core.bus.dead_letters import make_dead_letter
from services.core.bus.delivery import Delivery
from services.operations.dead_letters import Choice, NoSuchDeadLetter, by_id
from services.operations.dead_letters.dead_letter import DeadLetter, open_letter

AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
EXAMPLE = Path(__file__).parents[3] / "schemas/examples/turn.failed.v1.json"
NAMES = st.sampled_from(
    ["dlq_error_class", "dlq_failed_at", "dlq_origin_topic", "dlq_origin_offset", "ce_id", "ce_time"]
)


def event(group: str = "track_threads", *, offset: int = 0, error: Exception | None = None) -> DeadLetter:
    """The letter of a well-formed event."""
    example = json.loads(EXAMPLE.read_text())
    headers = tuple((name, value.encode()) for name, value in example["headers"].items())
    key = example["data"]["thread_id"].encode()
    delivery = Delivery("turns", 3, offset, key, json.dumps(example["data"]).encode(), headers, 5)
    at = AT + timedelta(minutes=offset)
    letter = make_dead_letter(delivery, group=group, error=error or ValueError("no"), attempts=2, at=at)
    return open_letter(Delivery(letter.topic, 0, offset, letter.key, letter.value, letter.headers, 9), group)


def test_a_letter_says_what_failed_where_and_why() -> None:
    """Error, attempts, time, origin and the event itself are read from the record."""
    letter = event(error=KeyError("thread"))
    assert (letter.error, letter.attempts, letter.failed_at) == ("KeyError: 'thread'", "2", AT)
    assert letter.original is not None
    assert (letter.original.topic, letter.original.partition) == ("turns", 3)
    assert letter.event is not None
    assert (letter.event.type, letter.thread) == ("turn.failed.v1", letter.key)


@given(
    st.lists(st.tuples(NAMES, st.binary(max_size=30))),
    st.none() | st.binary(max_size=60),
    st.none() | st.binary(max_size=60),
    st.integers(-(2**62), 2**62),
)
def test_whatever_lies_on_the_topic_is_a_letter(
    headers: list[tuple[str, bytes]], key: bytes | None, value: bytes | None, timestamp_ms: int
) -> None:
    """Garbage is shown as what it is; it neither breaks the list nor can it be redriven unless it says from where."""
    letter = open_letter(Delivery("turns.g.dlq", 0, 1, key, value, tuple(headers), timestamp_ms), "g")
    assert letter.failed_at.tzinfo is not None
    assert letter.event is None
    assert letter.unreadable
    assert Choice().takes(letter)


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59+00:00"])
def test_a_dead_letter_of_the_last_moment_broke_every_list_of_them(at: str) -> None:
    """What is no moment in some zone cannot be read back from Postgres: such a letter is as old as its record."""
    letter = open_letter(Delivery("turns.g.dlq", 0, 1, None, b"", (("dlq_failed_at", at.encode()),), 5_000), "g")
    assert letter.failed_at == datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)


def test_a_letter_keeps_its_id_and_another_gets_another() -> None:
    """The id is made of the letter's place and death, so that a broker that forgot cannot give it to another."""
    assert event().id == event().id
    assert len({event().id, event(offset=1).id, event("reflect").id}) == 3
    again = event()
    moved = Delivery(again.record.topic, 0, 0, again.record.key, again.record.value, again.record.headers, 10)
    assert open_letter(moved, again.group).id != again.id


@pytest.mark.parametrize(
    ("choice", "taken"),
    [
        (Choice(), [0, 1, 2]),
        (Choice(group="reflect"), [2]),
        (Choice(error="TIMEOUT"), [1]),
        (Choice(since=AT + timedelta(minutes=1)), [1, 2]),
        (Choice(until=AT + timedelta(minutes=1)), [0]),
        (Choice(group="reflect", error="timeout"), []),
        (Choice(thread="another"), []),
        (Choice(thread=event().thread), [0, 1, 2]),
    ],
)
def test_a_choice_takes_letters_for_which_all_of_it_holds(choice: Choice, taken: list[int]) -> None:
    """Group, thread, error text and the time of failure narrow each other."""
    letters = [event(), event(offset=1, error=TimeoutError("x")), event("reflect", offset=2)]
    assert [n for n, letter in enumerate(letters) if choice.takes(letter)] == taken


def test_an_id_means_exactly_one_letter() -> None:
    """Its beginning will do; nothing, or what several begin with, means none."""
    letters = [event(offset=n) for n in range(40)]
    assert by_id(letters, [str(letters[7].id)[:12]]) == [letters[7]]
    for wrong in ("", "zz", "\x1b[2J"):
        with pytest.raises(NoSuchDeadLetter):
            by_id(letters, [wrong])
    first = next(digit for digit in "0123456789abcdef" if sum(str(one.id)[0] == digit for one in letters) > 1)
    with pytest.raises(NoSuchDeadLetter, match="dead letters have"):
        by_id(letters, [first])


def test_without_a_criterion_no_letter_is_meant() -> None:
    """To redrive or discard everything one has to say so."""
    with pytest.raises(typer.BadParameter, match="say which"):
        check_choice([], Choice(), False)
    check_choice([], Choice(), True)
    check_choice(["7"], Choice(), False)
    check_choice([], Choice(group="reflect"), False)
