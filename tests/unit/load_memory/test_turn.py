"""What a turn asks of memory."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from services.core.settings import ContextSettings
from services.load_memory.turn import MailToAnswer, query_of, recalls

NOW = datetime(2026, 3, 18, tzinfo=UTC)


def mail(number: int, text: str) -> MailToAnswer:
    return MailToAnswer(
        UUID(int=number), None, "", f"subject {number}", text, "", "", "Ada", "ada@a.example", NOW, "en", [], []
    )


@pytest.mark.parametrize(
    ("mode", "text", "earlier", "searched"),
    [
        ("always", "Thanks, noted.", 1, True),
        ("on_cue", "Thanks, noted.", 1, False),
        ("on_cue", "Which plan are we on?", 1, True),
        ("on_cue", "The order from last month is missing.", 1, True),
        ("on_cue", "Thanks, noted.", 0, True),
        ("on_cue", "Thanks, noted.", 5, True),
    ],
)
def test_facts_are_searched_on_a_cue_or_by_cadence(mode: str, text: str, earlier: int, searched: bool) -> None:
    """Where latency matters: for questions, what points back, a thread's first mail, and every fifth."""
    settings = ContextSettings.model_validate({"recall": mode})
    assert recalls(settings, text, earlier, NOW) is searched


@pytest.mark.parametrize("first", ["short", "long " * 5000])
def test_the_newest_question_is_what_memory_is_searched_with(first: str) -> None:
    """However long the mails before it, the newest mail's words stand in the query, within its length."""
    query = query_of((mail(1, first), mail(2, "where is invoice 4471?")), 2000)
    assert query.startswith("subject 2\nwhere is invoice 4471?\nsubject 1\n")
    assert len(query) <= 2000
