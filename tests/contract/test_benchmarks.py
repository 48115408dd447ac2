"""A benchmark that cannot be started proves nothing of what the README says of it."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from tests import benchmarks


@pytest.mark.parametrize(
    "name", [one.name for one in pkgutil.iter_modules(benchmarks.__path__) if one.name != "__main__"]
)
def test_a_benchmark_named_what_was_gone(name: str) -> None:
    """Each can be loaded."""
    importlib.import_module(f"{benchmarks.__name__}.{name}")
