"""Golden examples: what was once written can be read for ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import schemas
from schemas.events import EVENTS
from services.core.bus.codec import decode, encode
from services.core.bus.delivery import Delivery

FOLDER = Path(schemas.__file__).parent / "examples"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


def example(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


def as_delivery(name: str) -> Delivery:
    told = example(name)
    headers = tuple((header, value.encode()) for header, value in told["headers"].items())
    return Delivery("any", 0, 0, told["headers"]["ce_subject"].encode(), json.dumps(told["data"]).encode(), headers)


def contains(whole: Any, part: Any) -> bool:
    """Whether everything of `part` stands in `whole`, which may say more."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(name in whole and contains(whole[name], part[name]) for name in part)
    if isinstance(part, list):
        return len(whole) == len(part) and all(map(contains, whole, part))
    return bool(whole == part)


def test_each_event_has_exactly_one_example() -> None:
    """Every event type has one golden example, and no example stands without its type."""
    assert sorted(EVENTS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_example_decodes_and_encodes_to_the_same_ids(name: str) -> None:
    """Today's code reads an old record, writes the same headers and key, and loses nothing of what it said."""
    delivery = as_delivery(name)
    envelope = decode(delivery)
    record = encode(envelope)
    assert record.headers == delivery.headers
    assert record.key == delivery.key
    assert contains(json.loads(record.value or b""), example(name)["data"])


@pytest.mark.parametrize("name", NAMES)
def test_an_example_shows_every_field_at_work(name: str) -> None:
    """An example names every field that its type had when it was frozen, and its header names the type."""
    told = example(name)
    assert told["headers"]["ce_type"] == name
    required = {field for field, info in EVENTS[name].model_fields.items() if info.is_required()}
    assert required <= set(told["data"]) <= set(EVENTS[name].model_fields)
