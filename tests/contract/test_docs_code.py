"""Code that the docs show as a file's is that file's."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_layer_that_is_shown_whole_is_the_layer() -> None:
    """docs/how-to/write-a-layer.md shows session.py, whole: paste it anew when the file changes."""
    page = (ROOT / "docs/how-to/write-a-layer.md").read_text(encoding="utf-8")
    (shown, *_) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert shown == (ROOT / "services/load_memory/layers/session.py").read_text(encoding="utf-8")
