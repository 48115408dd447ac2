"""A processor that `make new-processor` makes passes lint and the contract tests, and is refused where it cannot be."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.new_processor import ROOT, NotMade, make

CONTRACTS = [f"tests/contract/test_{name}.py" for name in ("topics", "chart", "docs_code", "extension_points")]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of this tree."""
    hidden = shutil.ignore_patterns(".*", "var", "__pycache__", "*.egg-info")
    for name in ("services", "schemas", "deploy", "tests", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=hidden)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    return tmp_path


def run(tree: Path, program: str, *arguments: str) -> None:
    """A program of this environment, in the tree."""
    command = [str(Path(sys.executable).with_name(program)), *arguments]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"


def test_a_new_processor_passes_lint_and_contracts(tree: Path) -> None:
    """Its folder, and its lines in the pipeline, topics, chart, compose file, layers and maps."""
    make(tree, "count_words", "turn.closed.v1")
    run(tree, "ruff", "check", ".")
    run(tree, "ruff", "format", "--check", ".")
    run(tree, "python", "-m", "schemas.make")
    run(tree, "lint-imports", "--no-cache")
    run(tree, "python", "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", *CONTRACTS)


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("reflect", "turn.closed.v1", "there is services/reflect already"),
        ("Count-Words", "turn.closed.v1", "is no name of a folder"),
        ("../out", "turn.closed.v1", "is no name of a folder"),
        ("count_words", "turn.burnt.v1", "there is no event 'turn.burnt.v1'"),
    ],
)
def test_what_cannot_be_a_processor_is_refused(tmp_path: Path, name: str, kind: str, said: str) -> None:
    """Nothing is written."""
    (tmp_path / "services" / "reflect").mkdir(parents=True)
    with pytest.raises(NotMade, match=said):
        make(tmp_path, name, kind)
    assert [path.name for path in tmp_path.rglob("*")] == ["services", "reflect"]
