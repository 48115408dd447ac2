"""The made files are those of today's models, and the gate lets a released type only grow."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from schemas import asyncapi, compatibility, make
from schemas.events import EVENTS
from schemas.topics import catalogue

OLD: dict[str, Any] = {
    "title": "Thing",
    "type": "object",
    "$defs": {"Mood": {"enum": ["good", "bad"], "type": "string"}},
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "mood": {"$ref": "#/$defs/Mood"},
        "note": {"anyOf": [{"type": "string", "maxLength": 300}, {"type": "null"}], "default": None},
        "share": {"type": "number", "minimum": 0},
        "parts": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
    },
    "required": ["id", "mood"],
}


def changed(**at: Any) -> dict[str, Any]:
    """OLD with values at paths, `/` written as two underscores; None takes the value away."""
    new = deepcopy(OLD)
    for path, value in at.items():
        *way, last = path.split("__")
        place = new
        for step in way:
            place = place[step]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return new


def test_the_made_files_are_of_todays_models() -> None:
    """`python -m schemas.make` would change nothing."""
    assert make.stale(make.HERE, make.made()) == []


def test_making_twice_gives_the_same_bytes() -> None:
    """The generator is deterministic."""
    assert make.made() == make.made()


def test_what_is_out_of_date_is_said(tmp_path: Path) -> None:
    """A missing, an edited and an orphaned file are each named."""
    make.write(tmp_path, make.made())
    assert make.stale(tmp_path, make.made()) == []
    (tmp_path / "json" / "turn.closed.v1.json").unlink()
    (tmp_path / "asyncapi.yaml").write_text("asyncapi: 2.0.0\n")
    (tmp_path / "json" / "turn.eaten.v1.json").write_text("{}")
    assert make.stale(tmp_path, make.made()) == [
        "schemas/json/turn.closed.v1.json is missing",
        "schemas/asyncapi.yaml is out of date",
        "schemas/json/turn.eaten.v1.json has no event",
    ]


def test_todays_models_pass_the_gate() -> None:
    """Nothing that the last commit holds was removed, tightened or edited."""
    try:
        released = compatibility.released_at("HEAD")
    except compatibility.NoSuchRevision as error:
        pytest.skip(f"needs the project's git history: {error}")
    today = {name: make.json_schema(event) for name, event in EVENTS.items()}
    assert len(released) >= len(EVENTS)
    assert compatibility.gate(released, today, compatibility.examples_in()) == []


@pytest.mark.parametrize(
    "new",
    [
        OLD,
        changed(properties__tone={"type": "string", "default": ""}),
        changed(**{"$defs__Mood__enum": ["good", "bad", "mixed"]}),
        changed(required=["id"]),
        changed(properties__note={"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "integer"}]}),
        changed(properties__share={"type": "number"}),
    ],
    ids=["the same", "new optional", "new value", "no longer required", "wider", "limit gone"],
)
def test_a_type_may_grow(new: dict[str, Any]) -> None:
    """New optional fields, more allowed values, wider types and limits are no faults."""
    assert compatibility.faults(OLD, new) == []


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (changed(properties__share=None), "Thing.share: the field was removed"),
        (changed(required=["id", "mood", "share"]), "Thing.share: the field became required"),
        (
            changed(properties__tone={"type": "string"}, required=["id", "mood", "tone"]),
            "Thing.tone: the field is new and required; give it a default",
        ),
        (changed(properties__id={"type": "integer"}), "Thing.id: type changed from string uuid to integer"),
        (changed(properties__id={"type": "string"}), "Thing.id: type changed from string uuid to string"),
        (changed(**{"$defs__Mood__enum": ["good"]}), 'Thing.mood: "bad" may no longer stand here'),
        (changed(properties__note={"type": "string"}), "Thing.note: type changed from null to string"),
        (
            changed(properties__note={"anyOf": [{"type": "string", "maxLength": 200}, {"type": "null"}]}),
            "Thing.note: maxLength was tightened from 300 to 200",
        ),
        (
            changed(properties__share={"type": "number", "minimum": 0.1}),
            "Thing.share: minimum was tightened from 0 to 0.1",
        ),
        (
            changed(properties__parts__items={"type": "object", "properties": {}}),
            "Thing.parts[].name: the field was removed",
        ),
    ],
)
def test_a_type_may_not_shrink(new: dict[str, Any], said: str) -> None:
    """What an older event may hold, today's model has to read; the fault names the field and the change."""
    assert compatibility.faults(OLD, new) == [said]


def test_removed_events_and_edited_examples_are_refused() -> None:
    """An event type and its example stay for ever; a new example is welcome."""
    released = {"json/a.b.v1.json": "{}", "examples/a.b.v1.json": "{}", "examples/c.d.v1.json": "{}"}
    faults = compatibility.gate(released, {}, {"a.b.v1": "{ }", "new.one.v1": "{}"})
    assert faults == [
        "examples/a.b.v1.json was edited: a released example stays; a change of meaning is a new major version",
        "examples/c.d.v1.json was removed: a released example stays; a change of meaning is a new major version",
        "a.b.v1 was removed: stored events of this type could no longer be read",
    ]


def test_an_unknown_revision_is_said() -> None:
    """A revision that git does not know is a fault in words, not a traceback."""
    assert compatibility.main(["--against", "no-such-revision"]) == 1


def test_the_asyncapi_document_refers_only_to_what_is_there() -> None:
    """Every channel, message, operation and payload of the document exists, and every event is in one channel."""
    text = (make.HERE / "asyncapi.yaml").read_text(encoding="utf-8")
    told = yaml.safe_load(text)
    assert told["asyncapi"] == "3.0.0"
    assert set(told["channels"]) == set(catalogue().topics)
    carried = [name for channel in told["channels"].values() for name in channel["messages"]]
    assert sorted(carried) == sorted(told["components"]["messages"]) == sorted(EVENTS)
    for message in told["components"]["messages"].values():
        assert (make.HERE / message["payload"]["$ref"]).exists()
    for operation in told["operations"].values():
        assert operation["action"] in ("send", "receive")
        assert operation["channel"]["$ref"].removeprefix("#/channels/") in told["channels"]


def test_each_channel_has_an_operation_for_each_producer_and_consumer() -> None:
    """Who sends and who receives a channel is what topics.yaml says."""
    operations = asyncapi.document()["operations"]
    for name, topic in catalogue().topics.items():
        assert {f"{one}.sends.{name}" for one in topic.producers} <= set(operations)
        assert {f"{one}.receives.{name}" for one in topic.consumers} <= set(operations)
    assert len(operations) == sum(len(one.producers) + len(one.consumers) for one in catalogue().topics.values())
