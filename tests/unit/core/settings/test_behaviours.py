"""Behaviours in the settings: what cannot be is refused in words, and the order is by priority."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from services.core.settings import Behaviour, Settings, in_force


def rule(name: str = "rule", **given: Any) -> Behaviour:
    return Behaviour.model_validate({"name": name, "then": {"tag": ["x"]}, **given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"then": {}}, "does nothing"),
        ({"then": {"tag": ["Two Words"]}}, "String should match pattern"),
        ({"then": {"say": "x" * 1001}}, "at most 1000 characters"),
        ({"then": {"run": "rm -rf /"}}, "Extra inputs are not permitted"),
        ({"when": {"subject_matches": "(a+)+$"}}, "Extra inputs are not permitted"),
        ({"when": {"subject_contains": ["  "]}}, "at least 1 character"),
        ({"moment": "after", "then": {"say": "hello"}}, "act before the model writes, not after"),
        ({"moment": "after", "then": {"set": {"approval": "auto"}}}, "act before the model writes, not after"),
        ({"then": {"note": "call"}}, "known after the turn alone"),
        ({"when": {"intents": ["billing"]}}, "known after the turn alone"),
        ({"then": {"set": {"quiet_s": 3}}}, "the quiet period is over"),
        ({"then": {"set": {"api_key": "x"}}}, "Extra inputs are not permitted"),
        ({"priority": 10_000}, "less than or equal to 1000"),
        ({"name": "../x"}, "String should match pattern"),
    ],
)
def test_a_behaviour_that_cannot_be_is_refused(given: dict[str, Any], said: str) -> None:
    """Conditions and actions come from closed lists, and act when they can."""
    with pytest.raises(ValidationError) as raised:
        rule(**given)
    assert said in str(raised.value)


def test_a_name_stands_once_in_a_list() -> None:
    """Two rules of one name in one list are a mistake."""
    twice = [rule().model_dump(), rule().model_dump()]
    with pytest.raises(ValidationError, match="rule is there twice"):
        Settings.model_validate({"behaviours": twice})
    with pytest.raises(ValidationError, match="rule is there twice"):
        Settings.model_validate({"inboxes": [{"name": "a", "address": "a@x.example", "behaviours": twice}]})


def test_higher_priority_goes_first_and_a_mailbox_replaces_by_name() -> None:
    """The order is by priority, then as written; a mailbox's rule takes the place of the workspace's of that name."""
    workspace = (rule("low"), rule("high", priority=9), rule("same", priority=5))
    mailbox = (rule("same", priority=-1, then={"tag": ["own"]}), rule("after", moment="after"))
    found = in_force(workspace, mailbox, "before")
    assert [one.name for one in found] == ["high", "low", "same"]
    assert found[-1].then.tag == ("own",)
    assert [one.name for one in in_force(workspace, mailbox, "after")] == ["after"]
