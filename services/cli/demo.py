"""`correspondent demo`: an invented company's mail through the real flow."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from deploy.local import HomeInUse
from deploy.local.ownership import is_owned
from services.demo.director import run_demo
from services.operations.deployment import DEMO


def demo(
    context: typer.Context,
    seed: Annotated[int, typer.Option(help="Another number draws other names, plans, issues and wording.")] = 0,
    once: Annotated[
        bool, typer.Option("--once", help="Stop after the story; exit 0 if every mail ended as expected.")
    ] = False,
    picture: Annotated[Path | None, typer.Option(help="Write what the terminal showed to this SVG file.")] = None,
) -> None:
    """Play an invented company's mail through the real flow.

    Then it stays, and says how to write to it yourself.

    Every part is real: broker, database, SMTP. Only the people are invented. With ANTHROPIC_API_KEY set, Claude writes
    the replies; without it, the offline model does, which extracts and says so.

    Your correspondent.toml is not read: nothing of the demo goes to your servers. It lives in the folder demo below
    --home, and starts from scratch there each time.
    """
    os.environ["CORRESPONDENT_CONFIG"] = os.devnull
    home: Path = context.obj
    _be_alone(home / DEMO)
    raise typer.Exit(run_demo(home, seed=seed, once=once, picture=picture))


def _be_alone(folder: Path) -> None:
    """Refuse before anything of a demo that runs is removed."""
    if is_owned(folder):
        raise HomeInUse(
            f"a demo runs in {folder} already; end it with Ctrl-C there, or play this one in another --home"
        )
