"""Events put in by hand are checked whole before the first is sent."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.bus.delivery import Delivery
from services.operations.manual_events import FileRefused, check_events
from services.operations.topics import Filter, NoSuchTopic, known_topic

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DATA = json.loads((Path(__file__).parents[3] / "schemas/examples/turn.failed.v1.json").read_text())["data"]
GOOD = {"type": "turn.failed.v1", "data": DATA}


def check(text: str, topic: str = "turns") -> list[Any]:
    return check_events(text, topic, now=NOW, workspace="main")


def refused(text: str, topic: str = "turns") -> str:
    with pytest.raises(FileRefused) as raised:
        check(text, topic)
    return str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        json.dumps(GOOD, indent=2),
        json.dumps([GOOD]),
        "\n" + json.dumps(GOOD) + "\n\n",
    ],
)
def test_a_file_is_one_object_an_array_or_lines(text: str) -> None:
    """All three are read alike; id and time are given where the file gives none."""
    [event] = check(text)
    assert (event.type, event.time, event.key, event.version) == ("turn.failed.v1", NOW, DATA["thread_id"], None)
    assert check(text)[0].id != event.id


def test_an_id_and_a_time_in_the_file_are_kept() -> None:
    """The same file sent twice is the same events then."""
    id = "7b2d3c1e-0000-5000-8000-000000000001"
    [event] = check(json.dumps({**GOOD, "id": id, "time": "2026-01-01T00:00:00+02:00"}))
    assert (str(event.id), event.time.isoformat()) == (id, "2026-01-01T00:00:00+02:00")


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({**GOOD, "type": "turn.failed.v9"}, "is no event of turns; there are: turn.failed.v1"),
        ({**GOOD, "type": "mail.received.v1"}, "is no event of turns"),
        ({**GOOD, "type": "turn.opened.v1"}, "is decided by a processor"),
        ({"type": "turn.failed.v1", "data": {}}, "thread_id: is missing"),
        ({**GOOD, "data": {**DATA, "turn_id": "x"}}, "turn_id: must be a UUID"),
        ({**GOOD, "data": []}, "data: must be an object"),
        ({**GOOD, "time": "2026-01-01T00:00:00"}, "needs an offset"),
        ({**GOOD, "more": 1}, "more: is not known here"),
        (7, "must be an object"),
    ],
)
def test_every_fault_is_said_with_its_line_and_nothing_is_sent(entry: object, fault: str) -> None:
    """Good lines around a bad one do not go out."""
    said = refused("\n".join([json.dumps(GOOD), json.dumps(entry), json.dumps(GOOD)]))
    assert said.startswith("nothing was sent")
    assert "line 2: " in said
    assert fault in said
    assert "line 1: " not in said


@given(st.text(max_size=200) | st.sampled_from(["", "[]", "[[[[", "null", "[" * 100_000, '{"type": "\ud800"}']))
def test_any_other_text_is_refused(text: str) -> None:
    """Whatever is in the file, it is refused in words."""
    refused(text)


def test_a_topic_that_is_not_there_is_answered_with_those_that_are() -> None:
    """A misspelt name costs one look at the message."""
    with pytest.raises(NoSuchTopic, match=r"there is no topic 'turn'; there are: inbound-email\.raw, .*turns"):
        known_topic("turn")


@pytest.mark.parametrize(
    ("wanted", "taken"),
    [
        (Filter(), True),
        (Filter(thread="k"), True),
        (Filter(thread="kk"), False),
        (Filter(type="turn.opened"), True),
        (Filter(type="turn.opened.v1"), True),
        (Filter(type="turn.open"), False),
        (Filter(thread="k", type="turn.closed"), False),
    ],
)
def test_a_filter_looks_at_key_and_type(wanted: Filter, taken: bool) -> None:
    """The version of a type may be left out, its name may not be cut."""
    record = Delivery("turns", 0, 0, b"k", b"\xff", (("ce_type", b"turn.opened.v1"),))
    assert wanted.takes(record) is taken
