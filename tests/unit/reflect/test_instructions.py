"""What the extracting model is told, per mailbox."""

from __future__ import annotations

import pytest

from services.core.settings import InboxSettings, MemorySettings, Settings
from services.reflect.instructions import DEFAULT, RULES, condensing, instructions

OWN = MemorySettings(
    instructions="You keep the memory of a school.",
    kinds={"class": "which class a child attends"},
    examples=("class: 4b, 'she is in 4b now'",),
)
SETTINGS = Settings(
    inboxes=(
        InboxSettings(name="support", address="support@ourcompany.example"),
        InboxSettings(name="school", address="school@ourcompany.example", memory=OWN),
    )
)


def test_a_mailbox_without_words_of_its_own_has_the_standing_ones() -> None:
    """The default prompt is the standing text and the rules; so is that of a mailbox that is gone."""
    assert instructions(SETTINGS, "support") == instructions(SETTINGS, "gone") == f"{DEFAULT}\n\n{RULES}"


def test_a_mailbox_overrides_prompt_kinds_and_examples_but_not_the_rules() -> None:
    """An operator's text stands in place of ours, kinds and examples are added, the rules always hold."""
    told = instructions(SETTINGS, "school")
    assert told.startswith("You keep the memory of a school.")
    assert DEFAULT not in told
    assert RULES in told
    assert "- class: which class a child attends" in told
    assert "- class: 4b" in told


def test_a_mailbox_says_what_its_summaries_must_hold() -> None:
    """The prompt for the summary is per mailbox, beside the standing words."""
    own = MemorySettings(summary="Never leave out the policy number.")
    box = InboxSettings(name="claims", address="claims@ourcompany.example", memory=own)
    told = instructions(Settings(inboxes=(box,)), "claims")
    assert "About the summary: Never leave out the policy number." in told
    assert DEFAULT in told


@pytest.mark.parametrize(
    ("covered", "messages", "condenses"),
    [
        (0, 2, False),
        (198, 199, False),
        (199, 200, True),
        (198, 201, True),
        (200, 202, False),
        (399, 400, True),
        (0, 900, True),
    ],
)
def test_very_long_threads_condense_once_at_each_size(covered: int, messages: int, condenses: bool) -> None:
    """At 200, 400 and 600 messages, and not again before the next size."""
    assert condensing(SETTINGS, "support", covered, messages) is condenses
