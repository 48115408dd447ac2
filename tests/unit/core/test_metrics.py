"""What a process counts of itself."""

from __future__ import annotations

from services.core.metrics import Metrics, gauge
from services.model.port import Usage
from services.model.settings import ModelPrices, ModelSettings


def test_the_model_costs_what_its_prices_say() -> None:
    """Dollars are tokens by kind times the prices of the settings; without prices they are 0."""
    used = Usage(input=1_000_000, output=100_000, cache_read=2_000_000, cache_write=0)
    settings = ModelSettings(prices=ModelPrices(input=3, output=15, cache_read=0.3))
    assert round(settings.dollars(used), 6) == 3 + 1.5 + 0.6
    assert ModelSettings().dollars(used) == 0


def test_what_is_counted_is_shown() -> None:
    """Counters and gauges come out in the format of Prometheus, those of the Python process, too."""
    metrics = Metrics()
    metrics.attempted("read_email", "done", 0.02)
    metrics.retried("read_email", "temporary")
    metrics.used_tokens("reply", Usage(input=7), 0.5)
    metrics.show(lambda: [gauge("things", "Things.", "kind", {"a": 2.0})])
    text = metrics.text().decode()
    for line in (
        'correspondent_handler_seconds_count{outcome="done",processor="read_email"} 1.0',
        'correspondent_retries_total{processor="read_email",reason="temporary"} 1.0',
        'correspondent_model_tokens_total{kind="input",purpose="reply"} 7.0',
        'correspondent_model_cost_dollars_total{purpose="reply"} 0.5',
        'correspondent_things{kind="a"} 2.0',
    ):
        assert line in text
    assert "process_cpu_seconds_total" in text


def test_two_processes_of_one_interpreter_count_apart() -> None:
    """Nothing is global: each deployment of a test has its own figures."""
    one, other = Metrics(), Metrics()
    one.gave_up("reflect")
    assert "reflect" in one.text().decode()
    assert "reflect" not in other.text().decode()
