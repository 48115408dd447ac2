"""Where a command finds the house: the embedded stack that runs under `home`, else what the settings say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from deploy.local import Endpoints, running_endpoints
from services.core.house import House, open_house
from services.core.settings import Settings, read_settings

TRIAL_INBOX = {
    "name": "support",
    "address": "support@trial.example",
    "display_name": "Support",
    "vouched_by": "operator of this trial",
}


def on_stack(endpoints: Endpoints, **changes: Any) -> dict[str, Any]:
    """The settings that make a house stand on an embedded stack, `changes` put over them."""
    return {
        "database_url": endpoints.database,
        "redis_url": endpoints.redis,
        "kafka": {"brokers": endpoints.kafka, "embedded": True},
        "smtp": {"host": endpoints.smtp_host, "port": endpoints.smtp_port},
        **changes,
    }


def stack_settings(endpoints: Endpoints, home: Path) -> Settings:
    """The operator's settings on an embedded stack; SMTP is the sink unless they name a server."""
    given = read_settings(home=home)
    changes: dict[str, Any] = {"home": home}
    if "smtp" in given.model_fields_set:
        changes["smtp"] = given.smtp
    if not given.inboxes:
        changes["inboxes"] = [TRIAL_INBOX]
    return read_settings(**on_stack(endpoints, **changes))


def settings_here(home: Path) -> Settings:
    """The settings of the house that a command talks to."""
    endpoints = running_endpoints(home)
    return stack_settings(endpoints, home) if endpoints else read_settings()


@asynccontextmanager
async def house_here(home: Path) -> AsyncIterator[House]:
    """The house that a command talks to, with its connections open."""
    async with open_house(settings_here(home)) as house:
        yield house
