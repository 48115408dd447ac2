"""What the page, the alert rules, the chart and docker-compose.yml say of probes and metrics is what there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from prometheus_client import Metric

from services.core.metrics import Metrics
from services.core.probes import Probes
from services.core.settings.web import MonitoringSettings
from services.keep_time.keeper import KEEP_TIME
from services.operations.health.state import Health
from services.operations.health.watch import HealthGauges

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/how-to/monitor.md"
RULES = ROOT / "deploy/prometheus/rules.yaml"
HEAD = "| metric | labels | what it says |\n|---|---|---|\n"


def families() -> Iterator[tuple[str, Metric, tuple[str, ...]]]:
    """Each metric of ours, of which process it is, and its labels."""
    metrics = Metrics()
    for collector in list(metrics.registry._collector_to_names):
        (family,) = collector.collect()
        yield "each", family, tuple(getattr(collector, "_labelnames", ()))
    app: Any = SimpleNamespace(now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    for family in Probes(app, {}).families():
        yield "each", family, family._labelnames
    gauges = HealthGauges()
    gauges.last = Health(app.now(), (), (), 0, 0, (), None, ())
    for family in gauges.families():
        yield KEEP_TIME, family, family._labelnames


def exposed(family: Metric) -> str:
    """The name as it is scraped."""
    return family.name + ("_total" if family.type == "counter" else "")


def rows(of: str) -> str:
    """The table of the page for the metrics of one kind of process."""
    found = sorted(
        (exposed(family), labels, family.documentation) for where, family, labels in families() if where == of
    )
    return HEAD + "".join(f"| `{name}` | {', '.join(labels)} | {says} |\n" for name, labels, says in found)


def test_the_page_lists_every_metric() -> None:
    """docs/how-to/monitor.md has these tables word for word; put the new one there when a metric changes."""
    page = PAGE.read_text()
    for of in ("each", KEEP_TIME):
        assert rows(of) in page, f"put this into {PAGE.name}:\n{rows(of)}"


def test_alert_rules_ask_for_metrics_that_exist() -> None:
    """A rule of a metric that was renamed would never fire, and nobody would know."""
    names = {exposed(family) for _, family, _ in families()}
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    asked = {name for rule in rules for name in re.findall(r"correspondent_\w{1,80}", rule["expr"])}
    assert asked <= names
    assert all(rule["annotations"]["summary"] and rule["labels"]["severity"] for rule in rules)


def test_no_label_is_an_id_or_an_address() -> None:
    """Labels are names out of the code or the settings, so that the number of series is bounded."""
    allowed = {"processor", "consumer", "outcome", "reason", "purpose", "kind", "inbox", "folder"}
    assert {label for _, _, labels in families() for label in labels} <= allowed


def test_every_container_is_probed() -> None:
    """Each service of docker-compose.yml has a health check; ours ask /readyz on the port of the settings."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    port = MonitoringSettings().port
    for name, one in services.items():
        assert one.get("healthcheck"), name
        if one.get("command", [""])[0] == "run":
            assert f"127.0.0.1:{port}/readyz" in one["healthcheck"]["test"][-1]


def test_every_pod_is_probed() -> None:
    """The chart asks each pod whether it lives and is ready, on the port that it gives it."""
    template = (ROOT / "deploy/helm/correspondent/templates/_helpers.tpl").read_text()
    for path in ("/livez", "/readyz"):
        assert f"httpGet: {{path: {path}, port: monitoring}}" in template
    values = yaml.safe_load((ROOT / "deploy/helm/correspondent/values.yaml").read_text())
    assert values["monitoring"]["port"] == MonitoringSettings().port
