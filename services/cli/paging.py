"""Pages on a terminal: `--limit` and `--after`, and where the next page begins."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from services.cli.terminal import console, plain
from services.core.paging import MOST, Page

Limit = Annotated[int, typer.Option(min=1, max=MOST, help="At most so many.")]
After = Annotated[str, typer.Option(help="Where to go on, as the end of a page says.", metavar="CURSOR")]


def show_next(page: Page[Any], option: str = "--after") -> None:
    """How to ask for the next page, where there is one."""
    if page.next:
        console.print(plain(f"There are more: the same command with {option} {page.next}", "dim"), soft_wrap=True)
