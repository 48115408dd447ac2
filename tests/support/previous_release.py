"""The previous release: its tree, and a database and saved cases that its own code has written.

What is run of it is what its harness and its commands have in common with this tree's: `migrate`,
`tests/support/tending.py`, and `correspondent replay --save`.
"""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.settings import Settings
from tests.support.workers import ROOT, environment_of

RELEASES = ROOT / "deploy" / "releases.toml"
PARTS = ("services", "schemas", "deploy", "tests/__init__.py", "tests/support", "pyproject.toml")

# Two people write in three threads within nine days: facts, a correction in the same thread, one who is angry. Then the
# cases up to each of some processors are saved.
PLAY = """
import asyncio, importlib, json, sys
from pathlib import Path
from deploy.local.endpoints import Endpoints
from services.core.db.migrate import migrate
from tests.support.tending import tending

async def play(stack, database, prefix, home):
    async with tending(Endpoints(**stack), database, prefix, Path(home)) as played:
        await played.write("Hello, our order number is 88123 and we use the Team plan. How do I export my data?")
        await played.wait(days=2)
        await played.write("It is order 88124, sorry. The export fails with an error.", after="<m1@acme.example>")
        await played.write("I am very angry: the invoice is wrong again!", subject="Invoice", sender="Bo <bo@b.example>")
        await played.wait(days=7)
        await played.write("We moved to the Business plan. Please cancel the old one.", subject="Plan")
        await played.wait(hours=30)

given = json.loads(sys.argv[1])
migrate(given["played"]["database"])
asyncio.run(play(**given["played"]))
module, _, function = given["command"].partition(":")
for processor, folder in given["saved"].items():
    home = given["played"]["home"]
    sys.argv = ["correspondent", "--home", home, "replay", "--until", processor, "--save", folder]
    try:
        getattr(importlib.import_module(module), function)()
    except SystemExit as end:
        assert not end.code, (processor, end.code)
"""


def previous_release(folder: Path) -> tuple[str, Path]:
    """The newest release that is not this tree's own commit, and its tree in `folder`; skips where a clone lacks it."""
    release = tomllib.loads(RELEASES.read_text())["release"][-1]
    made = subprocess.run(
        ["git", "archive", "--format=tar", release["commit"], *PARTS], cwd=ROOT, capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip(f"this clone does not hold the commit of {release['version']}: {made.stderr.decode()[:200]}")
    tree = folder / "previous"
    with tarfile.open(fileobj=io.BytesIO(made.stdout)) as tar:
        tar.extractall(tree, filter="data")
    return release["version"], tree


async def play_in(tree: Path, stack: Endpoints, settings: Settings, cases: Path, processors: Sequence[str]) -> None:
    """Have its code migrate the empty database of these settings, live through a few mails, and save the cases of them.

    Those up to a processor are in the folder of its name below `cases`.
    """
    given = {
        "command": tomllib.loads((tree / "pyproject.toml").read_text())["project"]["scripts"]["correspondent"],
        "saved": {one: str(cases / one) for one in processors},
        "played": {
            "stack": asdict(stack),
            "database": settings.database_url,
            "prefix": settings.kafka.topic_prefix,
            "home": str(settings.home),
        },
    }
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", PLAY, json.dumps(given, default=str)],
        cwd=tree,
        env={**environment_of(settings), "PYTHONPATH": str(tree)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr).decode()[-4000:]
