"""The profile: what of a wish changes anything."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from schemas.events.profile import ProfileRequested
from services.learn_facts.person.decide import MOST_FIELDS, change

WHO = UUID(int=1)


def command(**given: Any) -> ProfileRequested:
    return ProfileRequested.model_validate({"participant_id": WHO, "by": "grace", **given})


@pytest.mark.parametrize(
    ("stands", "asked", "fields", "removed"),
    [
        ({}, {"fields": {"plan": "Team"}}, {"plan": "Team"}, ()),
        ({"plan": "Pro"}, {"fields": {"plan": "Team"}}, {"plan": "Team"}, ()),
        ({"plan": "Pro", "region": "EU"}, {"remove": ["region", "gone"]}, {}, ("region",)),
        ({"plan": "Pro"}, {"fields": {"plan": "Team"}, "remove": ["plan"]}, {}, ("plan",)),
    ],
)
def test_only_what_changes_is_recorded(
    stands: dict[str, str], asked: dict[str, Any], fields: dict[str, str], removed: tuple[str, ...]
) -> None:
    """New and other values are set, fields that are there are removed, and a removal goes before a value."""
    event = change(WHO, stands, command(**asked))
    assert event is not None
    assert (event.fields, event.removed, event.by) == (fields, removed, "grace")


@pytest.mark.parametrize("asked", [{"fields": {"plan": "Pro"}}, {"remove": ["gone"]}, {}])
def test_what_stands_already_is_no_event(asked: dict[str, Any]) -> None:
    """The same wish twice is one change."""
    assert change(WHO, {"plan": "Pro"}, command(**asked)) is None


def test_a_profile_has_an_end() -> None:
    """Beyond the most fields no new one is taken; those that stand can still change, and a removal makes room."""
    full = {f"f{number}": "x" for number in range(MOST_FIELDS)}
    assert change(WHO, full, command(fields={"new": "x"})) is None
    event = change(WHO, full, command(fields={"new": "x", "f1": "y", "other": "z"}, remove=["f2"]))
    assert event is not None
    assert event.fields == {"new": "x", "f1": "y"}
