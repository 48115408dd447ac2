"""Where a wheel keeps its server binaries; found without importing it, which would cost more than the start."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from deploy.local.errors import PartFailed


def in_wheel(package: str, pattern: str) -> Path:
    """The one file of an installed `package` that matches `pattern`. Raises PartFailed when there is none."""
    spec = find_spec(package)
    folder = Path(spec.origin).parent if spec and spec.origin else None
    found = sorted(folder.glob(pattern)) if folder else []
    if not found:
        raise PartFailed(f"The wheel {package} for this system and processor has no {pattern}; is it installed?")
    return found[-1]
