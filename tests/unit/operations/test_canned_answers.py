"""Canned answers: variables are filled in once, and a mistake in one is said when the settings are read."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.settings import SettingsWrong, read_settings
from services.core.settings.replies import VARIABLE
from services.operations.threads.canned import filled, suggestion_in
from services.operations.threads.listing import Note
from services.track_threads.turns import DRAFTED, SUGGESTED
from tests.support.cpu import at_most

VALUES = {"name": "Ada Miller", "first_name": "Ada", "subject": "{me} and {name}", "me": "Grace"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hi {first_name|there},", "Hi Ada,"),
        ("About {subject}. {me}", "About {me} and {name}. Grace"),  # what a customer wrote is no variable
        ("{ braces } and {}", "{ braces } and {}"),
    ],
)
def test_variables_are_filled_in_once(text: str, expected: str) -> None:
    """What a value says is text, whatever it says."""
    assert filled(text, VALUES) == expected


def test_without_a_value_stands_what_was_said_for_it() -> None:
    """After a bar; else nothing."""
    assert filled("Hi {first_name|there}{name}!", {"first_name": "", "name": ""}) == "Hi there!"


def test_the_newest_suggestion_of_the_agent_is_offered() -> None:
    """Of its notes the last that holds an answer; a person's note that looks like one is none."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    said = [
        ("ai", f"{DRAFTED}\n\nOld."),
        ("ai", f"{SUGGESTED}\n\nNew.\n\nYes."),
        ("human", f"{SUGGESTED}\n\nMine."),
        ("ai", "x"),
    ]
    notes = [Note(UUID(int=n), at, "by", trigger, text) for n, (trigger, text) in enumerate(said)]  # type: ignore[arg-type]
    assert suggestion_in(notes) == "New.\n\nYes."
    assert suggestion_in([]) == ""


def test_an_unknown_variable_is_said_at_the_start() -> None:
    """With the ones that there are."""
    with pytest.raises(SettingsWrong, match=r"no variable \{surname\}; there are name, first_name, subject, me"):
        read_settings(canned_answers=[{"name": "x", "text": "Dear {surname}"}])


@given(st.text(max_size=300))
def test_what_is_no_variable_stays(text: str) -> None:
    """Any other text is left as it is."""
    plain = VARIABLE.sub("", text)
    assert VARIABLE.search(plain) or filled(plain, VALUES) == plain


@pytest.mark.parametrize("text", ["{" * 100_000, "{a|" * 50_000, "{name|" + "x" * 100_000])
def test_no_text_takes_long(text: str) -> None:
    """Hostile text is looked through in linear time."""
    with at_most(5):
        filled(text, VALUES)
