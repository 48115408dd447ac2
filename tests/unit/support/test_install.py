"""Installation says how far it is, and in full why it failed."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "requirements" / "install.py"
PIP_SAID = """\
Collecting anyio==4.9.0 (from -r requirements/dev.txt (line 3))
  Downloading anyio-4.9.0-py3-none-any.whl.metadata (4.7 kB)
Collecting idna==3.10 (from -r requirements/dev.txt (line 9))
  Using cached idna-3.10-py3-none-any.whl.metadata (10 kB)
Downloading anyio-4.9.0-py3-none-any.whl (100 kB)
Using cached idna-3.10-py3-none-any.whl (70 kB)
Installing collected packages: idna, anyio
Successfully installed anyio-4.9.0 idna-3.10
""".splitlines(keepends=True)


def test_each_stage_of_an_installation_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Packages are counted while pip looks them up and while it fetches them; nothing of pip's own is printed."""
    install = runpy.run_path(str(SCRIPT))
    assert list(install["_shown"](iter(PIP_SAID), install["Progress"](), 2)) == PIP_SAID
    assert capsys.readouterr().out.splitlines() == [
        "  looked up 2 of 2 packages",
        "  downloaded 2 of 2 packages",
        "  unpacking 2 packages ...",
    ]


def test_all_packages_of_the_lock_are_known_by_name() -> None:
    """The total that is counted to is the number of pins."""
    pins = runpy.run_path(str(SCRIPT))["PINNED"].findall((SCRIPT.parent / "dev.txt").read_text())
    assert len(pins) > 100
    assert {"uvloop", "aiokafka", "uv"} & set(pins)


def test_a_failed_installation_shows_what_pip_said(tmp_path: Path) -> None:
    """The exit code and the words are pip's."""
    wanted = tmp_path / "lock.txt"
    wanted.write_text("no-such-package==1.0 --hash=sha256:" + "0" * 64 + "\n")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(wanted)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PIP_NO_INDEX": "1"},
    )
    assert done.returncode == 1
    assert "pip failed" in done.stdout
    assert "No matching distribution found for no-such-package==1.0" in done.stdout
