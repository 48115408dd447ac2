"""What Kubernetes would get: the chart as Helm renders it. Skipped where `helm` is not installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.core.settings.web import MonitoringSettings
from services.pipeline import EDGES, NAMES, PROCESSORS

CHART = Path(__file__).parents[2] / "deploy/helm/correspondent"
HELM = shutil.which("helm")
KUBERNETES = "1.31.0"  # a helm that was built from source takes itself for an old one
BUCKET = ("--set", "blobs.url=s3://mail/blobs")
LOGIN = ("--set", "tls.secret=certificates", "--set", "scaling.kafkaAuthentication=kafka-login")
FIXED = ("--set", "scaling.enabled=false", "--set", "monitoring.podMonitor=true")
WAYS = {"defaults": (), "a bucket": BUCKET, "TLS and logins": LOGIN, "no KEDA": FIXED}

pytestmark = pytest.mark.skipif(HELM is None, reason="helm is not installed")


def rendered(*options: str) -> list[dict[str, Any]]:
    """Every object of the chart, with these options."""
    command = [str(HELM), "template", "--kube-version", KUBERNETES, "mail", str(CHART), *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return [one for one in yaml.safe_load_all(ran.stdout) if one]


def of_kind(found: list[dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in found if one["kind"] == kind}


def container(deployment: dict[str, Any]) -> dict[str, Any]:
    (only,) = deployment["spec"]["template"]["spec"]["containers"]
    assert isinstance(only, dict)
    return only


def environment(one: dict[str, Any]) -> dict[str, Any]:
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in one["env"]}


@pytest.mark.parametrize("options", WAYS.values(), ids=WAYS)
def test_the_chart_is_linted_and_each_process_rendered_with_its_probes(options: tuple[str, ...]) -> None:
    """One Deployment a process, which runs it, has three probes on the monitoring port, and reads the Secret."""
    linted = subprocess.run(
        [str(HELM), "lint", "--strict", "--kube-version", KUBERNETES, str(CHART), *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert linted.returncode == 0, linted.stdout
    found = rendered(*options)
    names = [(one["kind"], one["metadata"]["name"]) for one in found]
    assert len(names) == len(set(names)), "no object overwrites another"
    deployments = of_kind(found, "Deployment")
    assert {container(one)["args"][-1] for one in deployments.values()} == set(NAMES)
    for name, one in deployments.items():
        only = container(one)
        assert only["args"] == ["run", only["args"][1]]
        assert name == f"mail-{only['args'][1].replace('_', '-')}"
        ports = {port["name"]: port["containerPort"] for port in only["ports"]}
        assert ports["monitoring"] == MonitoringSettings().port
        paths = {probe: only[f"{probe}Probe"]["httpGet"]["path"] for probe in ("startup", "readiness", "liveness")}
        assert paths == {"startup": "/readyz", "readiness": "/readyz", "liveness": "/livez"}
        assert only["envFrom"] == [{"secretRef": {"name": "correspondent"}}]
        labels = one["spec"]["template"]["metadata"]["labels"]
        assert one["spec"]["selector"]["matchLabels"].items() <= labels.items()
        mounted = {mount["name"] for mount in only["volumeMounts"]}
        assert mounted == {volume["name"] for volume in one["spec"]["template"]["spec"]["volumes"]}


def test_each_processor_is_scaled_by_its_topics_or_not_at_all() -> None:
    """With KEDA a ScaledObject counts the replicas of each processor, and of no edge; without it each has its number."""
    found = rendered("--set", "kafka.topicPrefix=one.", *LOGIN)
    scaled, deployments = of_kind(found, "ScaledObject"), of_kind(found, "Deployment")
    assert set(scaled) == {f"mail-{one.name.replace('_', '-')}" for one in PROCESSORS}
    for processor in PROCESSORS:
        name = f"mail-{processor.name.replace('_', '-')}"
        assert scaled[name]["spec"]["scaleTargetRef"] == {"name": name}
        assert "replicas" not in deployments[name]["spec"]
        triggers = scaled[name]["spec"]["triggers"]
        assert [one["metadata"]["topic"] for one in triggers] == [f"one.{topic}" for topic in processor.topics]
        assert {one["metadata"]["consumerGroup"] for one in triggers} == {f"one.{processor.name}"}
        assert all(one["authenticationRef"] == {"name": "kafka-login"} for one in triggers)
    fixed = of_kind(rendered(*FIXED), "Deployment")
    assert {one["spec"]["replicas"] for one in fixed.values()} == {1}
    assert not of_kind(rendered(*FIXED), "ScaledObject")
    edges = {f"mail-{one.replace('_', '-')}" for one in EDGES}
    assert all(deployments[name]["spec"]["replicas"] == 1 for name in edges)


def test_mails_lie_on_a_volume_or_in_a_bucket() -> None:
    """By default every pod shares one claim; with a bucket there is none, and the keys come from the Secret."""
    (claim,) = of_kind(rendered(), "PersistentVolumeClaim")
    for one in of_kind(rendered(), "Deployment").values():
        home = next(v for v in one["spec"]["template"]["spec"]["volumes"] if v["name"] == "home")
        assert home["persistentVolumeClaim"]["claimName"] == claim
    bucket = rendered(*BUCKET)
    assert not of_kind(bucket, "PersistentVolumeClaim")
    for one in of_kind(bucket, "Deployment").values():
        said = environment(container(one))
        assert said["CORRESPONDENT_BLOBS__URL"] == "s3://mail/blobs"
        assert said["CORRESPONDENT_MASTER_KEYS"] == {
            "secretKeyRef": {"name": "correspondent", "key": "CORRESPONDENT_MASTER_KEYS"}
        }
