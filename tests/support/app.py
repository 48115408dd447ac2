"""A whole deployment for a test: fresh database, own topics, every processor at work, a scripted or offline model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from deploy.local import Endpoints
from services.core.app import App, open_app
from services.core.settings import Settings
from services.operations.preparation import prepare
from services.pipeline import NAMES
from services.process import working
from tests.support.stack import uses_apache_kafka

INBOX = {
    "name": "support",
    "address": "support@ourcompany.example",
    "display_name": "Our Support",
    "replies_per_hour": 0,
}


def settings_for(stack: Endpoints, database: str, topic_prefix: str, home: Path, **changes: Any) -> Settings:
    """Settings for one test on the session's stack; no quiet period unless a test asks for one."""
    base: dict[str, Any] = {
        "database_url": database,
        "redis_url": stack.redis,
        "home": home,
        "workspace": topic_prefix.strip("."),
        "secret": "a secret for tests only, long enough",
        "kafka": {"brokers": stack.kafka, "topic_prefix": topic_prefix, "embedded": not uses_apache_kafka()},
        "smtp": {"host": stack.smtp_host, "port": stack.smtp_port, "timeout_s": 10},
        "threads": {"quiet_s": 0},
        "monitoring": {"enabled": False},
        "web": {"port": 0, "webhook_secret": "whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3Q="},
        "inboxes": [{**INBOX, "vouched_by": "the test"}],
    }
    return Settings(**merged(base, changes))


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `changes` put over it, groups merged."""
    out = dict(base)
    for name, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(out.get(name), Mapping)
        out[name] = merged(out[name], value) if both else value
    return out


@asynccontextmanager
async def running_app(settings: Settings, names: tuple[str, ...] = NAMES, **parts: Any) -> AsyncIterator[App]:
    """The deployment with the named processors at work in this process."""
    await prepare(settings)
    async with open_app(settings, **parts) as app, working(app, names):
        yield app
