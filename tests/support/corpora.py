"""Where the mail that other people wrote is, and a clear word where it is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORPORA = Path(os.environ.get("CORRESPONDENT_CORPORA", ROOT.parent / "shared" / "corpora"))


def corpus(name: str) -> Path:
    """The folder of one corpus; the test is skipped where it is absent."""
    folder = CORPORA / name
    if not folder.is_dir():
        pytest.skip(f"the corpus {name} is not at {CORPORA}; set CORRESPONDENT_CORPORA to where it is")
    return folder
