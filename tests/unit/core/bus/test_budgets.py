"""The seconds that an operator may set hold each other: model, lanes, retries, rebalance."""

import pytest
from pydantic import ValidationError

from services.core.bus.faust_source import SourceSettings
from services.core.bus.lanes import LaneLimits
from services.core.bus.retry import RetryPolicy
from services.core.settings import TOOLS_S, KafkaSettings, LaneSettings, Settings
from services.core.settings.kafka import GRACE_S


def fresh(**groups: object) -> Settings:
    return Settings.model_validate(groups)


def test_the_defaults_leave_a_handler_that_timed_out_a_whole_question_more() -> None:
    """An attempt holds a question and its tools, the retries hold a question, a rebalance holds an attempt."""
    settings = fresh()
    lanes, question = settings.lanes, settings.model.budget_s
    first_pause = RetryPolicy(budget_s=lanes.retry_s).pause_after(1, 0.0)
    assert first_pause is not None
    assert question + TOOLS_S <= lanes.timeout_s
    assert first_pause + question <= lanes.retry_s <= 60
    assert lanes.timeout_s + GRACE_S < settings.kafka.rebalance_timeout_s


def test_the_figures_are_said_once() -> None:
    """What the lanes and the source assume without settings is what the settings say."""
    for name in ("running", "admitted", "timeout_s"):
        assert getattr(LaneLimits(), name) == getattr(LaneSettings(), name)
    assert LaneLimits().retry.budget_s == LaneSettings().retry_s
    assert SourceSettings("b", "g", ("t",)).rebalance_timeout_s == KafkaSettings().rebalance_timeout_s


@pytest.mark.parametrize(
    ("groups", "advice"),
    [
        ({"model": {"budget_s": 61}}, "set lanes.timeout_s to 71 or more"),
        ({"lanes": {"timeout_s": 64.5}}, "set lanes.timeout_s to 65 or more"),
        ({"lanes": {"timeout_s": 85}}, "set it to more than 90"),
        ({"kafka": {"rebalance_timeout_s": 75}}, "set it to more than 75"),
    ],
)
def test_figures_that_contradict_each_other_are_refused_with_advice(groups: dict[str, object], advice: str) -> None:
    """A question that does not fit an attempt, or an attempt that does not fit a rebalance, stops the start."""
    with pytest.raises(ValidationError, match=advice):
        fresh(**groups)
