"""What retention refuses: times that the log outlives, and words that go in one place and stay in another."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from services.core.settings import RetentionSettings, SettingsWrong, read_settings
from services.core.settings.storage import DEAD_LETTERS as RETENTION
from services.core.settings.storage import journal_days, log_days


def refused(**days: Any) -> str:
    with pytest.raises(ValidationError) as raised:
        RetentionSettings(**days)
    return str(raised.value)


def test_without_a_word_nothing_that_was_said_or_learned_goes() -> None:
    """By default only the journal's days go, long after the log has forgotten them."""
    told = RetentionSettings().model_dump()
    assert told.pop("journal_days") >= journal_days()
    assert not any(told.pop("periods").values())
    assert not any(told.values())


@pytest.mark.parametrize("name", ["blobs_days", "facts_days", "checkpoints_days"])
def test_nothing_leaves_before_the_log_has_forgotten_it(name: str) -> None:
    """A time that is shorter than the longest retention of a topic is refused, with the least that may be set."""
    assert f"retention.{name} is 37, but the log keeps" in refused(**{name: 37})
    assert "set it to 38 or more, or to 0" in refused(**{name: 1e-9})
    assert getattr(RetentionSettings(**{name: log_days()}), name) == 38


def test_the_journal_outlives_every_record_and_dead_letter() -> None:
    """A group that is reset to earliest, or a dead letter redriven on its last day, must meet its journal row."""
    assert journal_days() > max(log_days(), RETENTION.days)
    said = refused(journal_days=97)
    assert "retention.journal_days is 97, but dead letters and the log may bring an event back" in said
    assert "98 or more" in said
    assert RetentionSettings(journal_days=98).journal_days == 98


@pytest.mark.parametrize("other", [{}, {"blobs_days": 100}, {"blobs_days": 500, "checkpoints_days": 400}])
def test_a_body_does_not_stay_where_it_also_stands(other: dict[str, float]) -> None:
    """Where bodies go, raw mails and the model's answers, which hold the same words, must go as soon."""
    assert "hold the same words: set retention." in refused(bodies_days=400, **other)


def test_bodies_may_outlive_their_blobs() -> None:
    """The other way round nothing is promised that does not hold."""
    assert RetentionSettings(bodies_days=400, blobs_days=90, checkpoints_days=400).blobs_days == 90


@pytest.mark.parametrize("days", [-1, float("nan"), float("inf"), 36_501, "a year", None])
@pytest.mark.parametrize("name", list(RetentionSettings.model_fields))
def test_what_is_no_time_is_refused(name: str, days: Any) -> None:
    """Negative, endless and unreadable times are errors that name the setting."""
    assert name in refused(**{name: days})


def test_the_error_says_where_to_mend_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the environment as from the file, one line with the setting's name comes out."""
    monkeypatch.setenv("CORRESPONDENT_RETENTION__JOURNAL_DAYS", "30")
    with pytest.raises(
        SettingsWrong, match=r"^retention\.journal_days is 30, .* set it to 98 or more, or to 0 to keep it for good$"
    ):
        read_settings()
