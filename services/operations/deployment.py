"""Where a command finds the deployment: the embedded stack that runs under `home`, else what the settings say.

A deployment that cannot be reached is said within seconds and in words, with what to start or set.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from deploy.local.endpoints import Endpoints, running_endpoints
from services.core.app import App, open_app
from services.core.errors import Permanent, Temporary
from services.core.settings import CONFIG_FILE, InboxSettings, Settings, SettingsWrong, SmtpSettings, read_settings

CONNECT_S = 3
DEMO = "demo"  # the folder below home in which the demo lives

TRIAL_INBOX = {
    "name": "support",
    "address": "support@trial.example",
    "display_name": "Support",
    "vouched_by": "operator of this trial",
}


class DeploymentUnreachable(Temporary):
    """The database or the broker of the deployment does not answer."""


class DeploymentEmpty(Permanent):
    """The database answers, but nothing has ever run on it."""


def on_stack(endpoints: Endpoints, **changes: Any) -> dict[str, Any]:
    """The settings that make a deployment stand on an embedded stack, `changes` put over them.

    The sink stands for the whole of `smtp`: a real server's login has no business there.
    """
    return {
        "database_url": endpoints.database,
        "redis_url": endpoints.redis,
        "kafka": {"brokers": endpoints.kafka, "embedded": True},
        "smtp": SmtpSettings(host=endpoints.smtp_host, port=endpoints.smtp_port),
        **changes,
    }


def stack_settings(endpoints: Endpoints, home: Path) -> Settings:
    """The operator's settings on an embedded stack; SMTP is the sink unless they name a server."""
    given = given_settings(home=home)
    changes: dict[str, Any] = {"home": home}
    if "smtp" in given.model_fields_set:
        changes["smtp"] = given.smtp
    if not given.inboxes:
        changes["inboxes"] = [TRIAL_INBOX]
    return read_settings(**on_stack(endpoints, **changes))


def given_settings(**overrides: Any) -> Settings:
    """What the operator has set. Raises `SettingsWrong`, also where CORRESPONDENT_CONFIG names no file."""
    named = os.environ.get("CORRESPONDENT_CONFIG")
    path = Path(named or CONFIG_FILE)
    if (named and not path.exists()) or path.is_dir():
        said = "is a folder" if path.is_dir() else "does not exist"
        raise SettingsWrong(f"the settings' file {path} {said}; CORRESPONDENT_CONFIG names another one")
    return read_settings(**overrides)


def settings_here(home: Path) -> Settings:
    """The settings of the deployment that a command talks to."""
    endpoints = running_endpoints(home)
    return stack_settings(endpoints, home.resolve()) if endpoints else given_settings()


@contextmanager
def started_if_needed(home: Path) -> Iterator[Settings]:
    """The settings of a deployment that may not be running: its embedded stack is then started for the block."""
    if running_endpoints(home) or "database_url" in given_settings().model_fields_set:
        yield settings_here(home)
    else:
        from deploy.local import EmbeddedStack

        with EmbeddedStack(home) as endpoints:
            yield stack_settings(endpoints, home.resolve())


async def database_here(home: Path, *, empty: bool = False) -> Settings:
    """The settings of the deployment that a command talks to, whose database answers; its broker need not.

    Raises `DeploymentUnreachable` or, unless it may be `empty`, `DeploymentEmpty`, which say what to do.
    """
    settings = settings_here(home)
    if not await _reach(settings, home) and not empty:
        raise DeploymentEmpty("the database is empty: start `correspondent up`, or `run all`, which migrates it")
    return settings


@asynccontextmanager
async def app_here(home: Path, *, publishes: bool = True) -> AsyncIterator[App]:
    """The deployment that a command talks to, with its connections open; one that only looks `publishes` nothing.

    Raises `DeploymentUnreachable` or `DeploymentEmpty`, which say what to do.
    """
    settings = await database_here(home)
    try:
        async with open_app(settings, publishes=publishes) as app:
            yield app
    except Exception as error:
        if not any(kind.__name__ == "KafkaError" for kind in type(error).__mro__):  # its library may not be loaded
            raise
        raise DeploymentUnreachable(
            f"no Kafka broker answers at {settings.kafka.brokers} ({type(error).__name__}: {error}); look at [kafka]"
        ) from None


def inbox_of(app: App, name: str) -> InboxSettings:
    """The inbox that is named, or the first. Raises `SettingsWrong` where there is none."""
    inboxes = app.settings.inboxes
    return app.settings.inbox(name) if name or not inboxes else inboxes[0]


async def _reach(settings: Settings, home: Path) -> bool:
    """Whether a deployment is in the database, which answers."""
    try:
        async with await psycopg.AsyncConnection.connect(settings.database_url, connect_timeout=CONNECT_S) as conn:
            found = await (await conn.execute("SELECT to_regclass('events') IS NOT NULL")).fetchone()
    except psycopg.Error as error:
        raise DeploymentUnreachable(_nobody_home(settings, home, error)) from None
    return found == (True,)


def _nobody_home(settings: Settings, home: Path, error: psycopg.Error) -> str:
    """What to do about a database that does not answer."""
    if running_endpoints(home / DEMO):
        return f"nothing runs in {home}, but the demo does: `correspondent --home {home / DEMO} ...`"
    if "database_url" not in settings.model_fields_set:
        return (
            f"nothing runs in {home.resolve()}. Start it in another terminal with `correspondent up`, name another "
            "folder with --home, or set CORRESPONDENT_DATABASE_URL"
        )
    parts = conninfo_to_dict(settings.database_url)
    place = f"{parts.get('dbname', '')} on {parts.get('host', 'localhost')}:{parts.get('port', 5432)}"
    reason = str(error).strip().splitlines()[-1]
    return f"the database {place} cannot be used: {reason}. Set CORRESPONDENT_DATABASE_URL"
