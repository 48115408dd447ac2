"""Where the public corpora lie, and the one sentence with which a test skips without them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def corpora_folder() -> Path:
    """CORRESPONDENT_CORPORA, else `shared/corpora` beside the project."""
    return Path(os.environ.get("CORRESPONDENT_CORPORA", ROOT.parent / "shared" / "corpora"))


def corpus(name: str) -> Path:
    """One corpus; skips the test where it is absent."""
    folder = corpora_folder() / name
    if not folder.exists():
        pytest.skip(f"the corpus {name} is not here (set CORRESPONDENT_CORPORA)")
    return folder
