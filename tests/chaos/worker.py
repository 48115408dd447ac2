"""`python -m services NAME ...` with the levers of a run: `main([LEVERS, NAME ...])`, called by the nursery."""

from __future__ import annotations

import asyncio
from importlib import import_module
from pathlib import Path

from services.core.house import House, open_house
from services.core.logging import configure
from services.core.model.breaker import Breakers, Policy
from services.core.model.factory import make_model
from services.core.sealed_blobs import SealedBlobs
from services.core.settings import Settings, read_settings
from services.process import check_names, prepare, until_signal, working
from tests.chaos.levers import Levers, QuotaBlobs

# What a process imports only when it begins to work; the nursery has it before it forks.
for _name in (
    "faust.assignor.partition_assignor",
    "faust.worker",
    "services.core.model.anthropic_api",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.auto",
    "yoyo.scripts.migrate",
):
    import_module(_name)


async def _run(settings: Settings, levers: Levers, names: frozenset[str]) -> None:
    await prepare(settings)
    async with open_house(settings, now=levers.now) as house:
        use_levers(house, levers)
        use_circuit(house, levers)
        async with working(house, names):
            await until_signal()


def use_levers(house: House, levers: Levers) -> None:
    """Give the house a blob store with the run's quota."""
    object.__setattr__(house, "blobs", SealedBlobs(QuotaBlobs(house.settings.home / "blobs", levers), house.keys))


def use_circuit(house: House, levers: Levers) -> None:
    """Have the model's circuit go by the run's own clock, on which an hour can pass in a moment."""
    wanted = house.settings.model
    policy = Policy(pause_s=wanted.pause_s, longest_pause_s=wanted.longest_pause_s)
    circuits = Breakers(levers.monotonic, policy)
    model = circuits.guard(make_model(wanted), workspace=house.settings.workspace, key=wanted.key)
    object.__setattr__(house, "model", model)


def main(arguments: list[str]) -> None:
    """Run until told to stop."""
    configure(level="INFO")
    asyncio.run(_run(read_settings(), Levers(Path(arguments[0])), check_names(arguments[1:])))
