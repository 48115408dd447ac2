"""The Helm chart and the compose file run the deployment that the pipeline describes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from schemas.topics import catalogue
from services.core.settings import LaneSettings
from services.pipeline import EDGES, NAMES, PROCESSORS

ROOT = Path(__file__).parents[2]
VALUES: dict[str, Any] = yaml.safe_load((ROOT / "deploy/helm/correspondent/values.yaml").read_text())
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def test_the_chart_runs_each_processor_on_its_topics() -> None:
    """One Deployment a processor, scaled by the lag of exactly the topics that it consumes."""
    listed = {one["name"]: tuple(one["topics"]) for one in VALUES["processors"]}
    assert listed == {one.name: one.topics for one in PROCESSORS}
    assert [one["name"] for one in VALUES["edges"]] == list(EDGES)


def test_the_chart_starts_no_process_that_would_have_no_partition() -> None:
    """No processor is scaled beyond the partitions of its widest topic."""
    partitions = catalogue().topics
    for one in VALUES["processors"]:
        most = one.get("maxReplicas", VALUES["scaling"]["maxReplicas"])
        assert most <= max(partitions[topic].partitions for topic in one["topics"])


def test_a_pod_may_end_what_it_handles() -> None:
    """Kubernetes waits longer for a process than one attempt of a handler may take."""
    assert VALUES["terminationGracePeriodSeconds"] > LaneSettings().timeout_s + 10


def test_compose_runs_every_processor_once() -> None:
    """Each processor and edge stands in exactly one service of docker-compose.yml."""
    run = [one["command"][1:] for one in COMPOSE["services"].values() if one.get("command", [""])[0] == "run"]
    assert sorted(name for names in run for name in names) == sorted(NAMES)


def test_compose_runs_each_processor_in_a_container_of_its_own() -> None:
    """So that each can be scaled by its name: `docker compose up -d --scale generate_reply=3`."""
    for one in PROCESSORS:
        assert COMPOSE["services"][one.name]["command"] == ["run", one.name]


def test_the_brokers_log_was_written_beside_its_volume() -> None:
    """Recreating the container lost topics and offsets: the folder that Kafka writes is the one that is mounted."""
    kafka = COMPOSE["services"]["kafka"]
    mounted = [volume.partition(":")[2] for volume in kafka["volumes"]]
    assert kafka["environment"]["KAFKA_LOG_DIRS"] in mounted


def test_everything_in_compose_starts_again_and_no_password_has_a_default() -> None:
    """After a reboot all of it comes back; a password that is not set is asked for."""
    assert {one.get("restart") for one in COMPOSE["services"].values()} == {"unless-stopped"}
    assert ":-" not in (ROOT / "docker-compose.yml").read_text().replace("ANTHROPIC_API_KEY:-", "")
