"""What a process counts of itself, in the format of Prometheus. One registry a process, none of it global.

Invariant: labels are names out of the code or the settings (processors, inboxes, outcomes), never ids or addresses, so
that the number of series is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from services.model.port import Usage

Outcome = Literal["done", "temporary", "permanent", "away"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
HANDLER_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 70)
MODEL_SECONDS = (0.5, 1, 2.5, 5, 10, 20, 30, 45, 60)


class Metrics:
    """The counters that parts of the process move; gauges that others show are added with `show`."""

    def __init__(self) -> None:
        self.registry = own = CollectorRegistry()
        self._python = CollectorRegistry()
        ProcessCollector(registry=self._python), PlatformCollector(registry=self._python), GCCollector(self._python)
        self._handler = Histogram(
            "correspondent_handler_seconds",
            "Seconds of one attempt to handle an event.",
            ("processor", "outcome"),
            buckets=HANDLER_SECONDS,
            registry=own,
        )
        self._retries = Counter(
            "correspondent_retries", "Attempts that are made again.", ("processor", "reason"), registry=own
        )
        self._gave_up = Counter(
            "correspondent_given_up", "Events that a handler failed for good.", ("processor",), registry=own
        )
        self._letters = Counter(
            "correspondent_dead_letters", "Dead letters that this process wrote.", ("processor",), registry=own
        )
        self._model_seconds = Histogram(
            "correspondent_model_seconds",
            "Seconds of one question to the model, its own retries included.",
            ("purpose", "outcome"),
            buckets=MODEL_SECONDS,
            registry=own,
        )
        self._tokens = Counter(
            "correspondent_model_tokens", "Tokens that the model's provider counted.", ("purpose", "kind"), registry=own
        )
        self._dollars = Counter(
            "correspondent_model_cost_dollars",
            "What these tokens cost by the prices of the settings; 0 where none are set.",
            ("purpose",),
            registry=own,
        )
        self._inboxes = Gauge(
            "correspondent_imap_connected", "1 while the folder is being watched.", ("inbox", "folder"), registry=own
        )

    def attempted(self, processor: str, outcome: Outcome, seconds: float) -> None:
        """A handler ran once."""
        self._handler.labels(processor, outcome).observe(seconds)

    def retried(self, processor: str, reason: str) -> None:
        """An event is going to be tried again."""
        self._retries.labels(processor, reason).inc()

    def gave_up(self, processor: str) -> None:
        """A handler failed for good."""
        self._gave_up.labels(processor).inc()

    def dead_letter(self, processor: str) -> None:
        """An event became a dead letter."""
        self._letters.labels(processor).inc()

    def asked_model(self, purpose: str, outcome: str, seconds: float) -> None:
        """A question to the model ended."""
        self._model_seconds.labels(purpose, outcome).observe(seconds)

    def used_tokens(self, purpose: str, usage: Usage, dollars: float) -> None:
        """What a question cost."""
        kinds = {"input": usage.input, "output": usage.output}
        kinds |= {"cache_read": usage.cache_read, "cache_write": usage.cache_write}
        for kind, count in kinds.items():
            self._tokens.labels(purpose, kind).inc(count)
        self._dollars.labels(purpose).inc(dollars)

    def watches_inbox(self, inbox: str, folder: str, connected: bool) -> None:
        """An inbox's folder is being watched, or no longer is."""
        self._inboxes.labels(inbox, folder).set(int(connected))

    def show(self, families: Callable[[], Iterable[GaugeMetricFamily]]) -> None:
        """Have these gauges computed at each scrape; they are read in no time and ask nobody."""
        self.registry.register(_Shown(families))

    def text(self) -> bytes:
        """Everything, as Prometheus reads it."""
        return generate_latest(self.registry) + generate_latest(self._python)


class _Shown(Collector):
    def __init__(self, families: Callable[[], Iterable[GaugeMetricFamily]]) -> None:
        self._families = families

    def collect(self) -> Iterable[GaugeMetricFamily]:
        return self._families()


def gauge(name: str, says: str, label: str = "", values: Mapping[str, float] | float = 0.0) -> GaugeMetricFamily:
    """A gauge with one label, or none."""
    family = GaugeMetricFamily(f"correspondent_{name}", says, labels=[label] if label else [])
    if isinstance(values, Mapping):
        for key, value in values.items():
            family.add_metric([key], value)
    else:
        family.add_metric([], values)
    return family
