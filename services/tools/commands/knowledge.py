"""`correspondent knowledge add`: documents into the knowledge base."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track

from services.tools.commands.terminal import console
from services.tools.knowledge import submit
from services.tools.running import house_here
from services.tools.settle import settle

app = typer.Typer(no_args_is_help=True, help="The documents that replies are made from.")

TYPES = {".md": "text/markdown", ".markdown": "text/markdown", ".txt": "text/plain"}


@app.command()
def add(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="Markdown or text files, or folders of them.", exists=True)],
) -> None:
    """Add documents, or new versions of them. The same content again changes nothing."""
    files = sorted(file for path in paths for file in _files(path))
    if not files:
        raise typer.BadParameter(f"no {', '.join(TYPES)} file there")
    home: Path = context.obj
    asyncio.run(_add(home, files))


def _files(path: Path) -> list[Path]:
    found = path.rglob("*") if path.is_dir() else [path]
    return [file for file in found if file.suffix.lower() in TYPES and file.is_file()]


async def _add(home: Path, files: list[Path]) -> None:
    async with house_here(home) as house:
        for file in track(files, "handing in", console=console):
            kind = TYPES[file.suffix.lower()]
            await submit(
                house, file.read_bytes(), origin=str(file.resolve()), title=file.stem, by="operator", media_type=kind
            )
        with console.status("indexing ..."):
            await settle(house, timeout_s=600)
    documents = "1 document is" if len(files) == 1 else f"{len(files)} documents are"
    console.print(f"{documents} in the knowledge base.")
