"""`python -m services NAME ...` with the levers of a run: `main([LEVERS, NAME ...])`, called by the nursery."""

from __future__ import annotations

import asyncio
from importlib import import_module
from pathlib import Path

from services.core.app import App, open_app
from services.core.logging import configure
from services.core.sealed_blobs import SealedBlobs
from services.core.settings import Settings, read_settings
from services.model.breaker import Breakers, Policy
from services.model.factory import make_model
from services.operations.preparation import prepare
from services.process import check_names, until_signal, working
from tests.chaos.levers import Levers, QuotaBlobs

# What a process imports only when it begins to work; the nursery has it before it forks.
for _name in (
    "faust.assignor.partition_assignor",
    "faust.worker",
    "services.model.anthropic_api",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.auto",
    "yoyo.scripts.migrate",
):
    import_module(_name)


async def _run(settings: Settings, levers: Levers, names: frozenset[str]) -> None:
    await prepare(settings)
    async with open_app(settings, now=levers.now) as app:
        use_levers(app, levers)
        use_circuit(app, levers)
        async with working(app, names):
            await until_signal()


def use_levers(app: App, levers: Levers) -> None:
    """Give the deployment a blob store with the run's quota."""
    object.__setattr__(app, "blobs", SealedBlobs(QuotaBlobs(app.settings.home / "blobs", levers), app.keys))


def use_circuit(app: App, levers: Levers) -> None:
    """Have the model's circuit go by the run's own clock, on which an hour can pass in a moment."""
    wanted = app.settings.model
    policy = Policy(pause_s=wanted.pause_s, longest_pause_s=wanted.longest_pause_s)
    circuits = Breakers(levers.monotonic, policy)
    model = circuits.guard(make_model(wanted, app.embedder), workspace=app.settings.workspace, key=wanted.key)
    object.__setattr__(app, "model", model)


def main(arguments: list[str]) -> None:
    """Run until told to stop."""
    configure(level="INFO")
    asyncio.run(_run(read_settings(), Levers(Path(arguments[0])), check_names(arguments[1:])))
