"""The import contracts of pyproject.toml cover every folder that they speak of."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORE = ROOT / "services" / "core"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]


def contract(beginning: str) -> dict[str, list[str]]:
    return next(one for one in CONTRACTS if one["name"].startswith(beginning))


def modules() -> Iterator[str]:
    """Every module of the runtime, folders as one; those of the bus and of outages one by one: App stands among them."""
    for path in sorted(CORE.iterdir()):
        if path.stem in ("bus", "outages"):
            inside = (one for one in path.glob("*.py") if one.stem != "__init__")
            yield from (f"services.core.{path.name}.{one.stem}" for one in inside)
        elif path.suffix == ".py" or (path / "__init__.py").exists():
            yield f"services.core.{path.stem}"


def test_a_module_of_the_runtime_lay_outside_of_all_layers() -> None:
    """Each stands in exactly one layer, so that no new one may import what it likes."""
    named = [name for layer in contract("layers inside core")["layers"] for name in re.split(r" : | \| ", layer)]
    assert sorted(named) == sorted(name for name in modules() if not name.endswith("__init__"))


def test_commands_and_pages_reached_into_processors() -> None:
    """Every processor but the edges that commands ask directly is forbidden to them."""
    forbidden = set(contract("commands and pages")["forbidden_modules"])
    processors = {f"services.{one.parent.name}" for one in (ROOT / "services").glob("*/handler.py")}
    edges = {"services.receive_email", "services.alert_people", "services.keep_time"}
    assert processors - edges <= forbidden
