"""Which parts make up the stack of a folder, and where they will answer: decided before anything is started."""

from __future__ import annotations

import secrets
from pathlib import Path

from deploy.local.apache_kafka import apache_kafka
from deploy.local.broker import broker
from deploy.local.endpoints import Endpoints, read_endpoints
from deploy.local.part import Part
from deploy.local.ports import HOST, free_port
from deploy.local.postgres import database_url, postgres
from deploy.local.smtp import smtp_sink
from deploy.local.valkey import redis_url, valkey

NAMES = ("kafka", "database", "redis", "smtp")


def plan(
    home: Path, *, kafka: str, kafka_advertised: str | None, throwaway: bool = False
) -> tuple[Endpoints, list[Part]]:
    """The parts for `home`, on the ports of its last run where those are free; see EmbeddedStack for the arguments."""
    ports = _ports(home)
    password, outbox = _password(home), home / "outbox"
    parts = [
        postgres(home / "postgres", ports["database"], password, throwaway=throwaway),
        smtp_sink(outbox, ports["smtp"]),
        valkey(home / "valkey", ports["redis"], password),
    ]
    if kafka == "embedded":
        parts.append(broker(ports["kafka"], advertised=kafka_advertised))
    elif kafka == "apache":
        parts.append(apache_kafka(home / "kafka", ports["kafka"], advertised=kafka_advertised))
    endpoints = Endpoints(
        kafka=kafka if ":" in kafka else f"{HOST}:{ports['kafka']}",
        database=database_url(ports["database"], password),
        redis=redis_url(ports["redis"], password),
        smtp_host=HOST,
        smtp_port=ports["smtp"],
        outbox=outbox,
    )
    return endpoints, parts


def _ports(home: Path) -> dict[str, int]:
    last = read_endpoints(home)
    known = {name: port for name, (_, port) in last.ports().items()} if last else {}
    return {name: free_port(known.get(name)) for name in NAMES}


def _password(home: Path) -> str:
    """The password of this folder's stores, made once."""
    path = home / "password"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(24))
    return path.read_text()
