"""How commands show things: what other people wrote is text, never markup, and cannot steer the terminal.

Lists come in pages; findings of a check come with what to do about each.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from services.core.paging import MOST, Page
from services.core.printable import printable

if TYPE_CHECKING:
    from services.operations.knowledge.listing import SourceLine


class Terminal(Console):
    """rich's console, which lets no control or format character through, whatever is printed and however.

    Colours and line ends are its own: it writes them next to the text that passes here.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is printed, their text made visible."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text, keep="\n"))


console = Terminal(highlight=False)

SHORT_ID = 8  # characters of an id in tables; every command takes as many as make it unique


def plain(text: object, style: str = "") -> Text:
    """`text` as it is, without markup; characters that steer a terminal become `·`."""
    return Text(printable(str(text or "").replace("\r\n", "\n"), keep="\n\t"), style)


def source_line(source: SourceLine) -> Text:
    """A passage that a reply rests on; the address of a page that the customer is shown."""
    from services.memory.knowledge import place

    shown = f"  {source.public_url}" if source.public_url else ""
    return plain(f"  rests on  {place(source.title, source.heading)} (edition {source.edition}){shown}", "dim")


def short(id: UUID | str | None) -> str:
    """The beginning of an id, enough to name it to a command."""
    return str(id or "")[:SHORT_ID]


def lines(text: str, limit: int = 0) -> str:
    """The text line by line, each as it is, cut to `limit` characters in all."""
    return "\n".join(_visible(line) for line in (text[:limit] if limit else text).splitlines())


def cell(text: object, limit: int = 0, style: str = "") -> Text:
    """One cell of a table, or one line: shown as it is, without markup."""
    return Text(_visible(str(text), limit), style=style)


def minute(time: datetime) -> str:
    """A time to the minute, in its own zone."""
    return f"{time:%Y-%m-%d %H:%M}"


def age(passed: timedelta) -> str:
    """How long ago, in one unit: `12 s`, `5 min`, `3 h`, `2 d`."""
    seconds = max(0, int(passed.total_seconds()))
    for unit, length, until in (("s", 1, 120), ("min", 60, 7200), ("h", 3600, 172_800)):
        if seconds < until:
            return f"{seconds // length} {unit}"
    return f"{seconds // 86_400} d"


def _visible(text: str, limit: int = 0) -> str:
    """The text with each control, format or unassigned character as `·`, cut to `limit` characters (0: whole)."""
    cut = text if not limit or len(text) <= limit else text[: limit - 1] + "…"
    return printable(cut)


# How a check's findings are shown.
if TYPE_CHECKING:
    from services.mail.check import Finding


def show_findings(findings: Iterable[Finding]) -> bool:
    """Say each finding in words, and what to do about it; whether all is well."""
    good = True
    for one in findings:
        console.print(f"{'[green]ok[/]' if one.ok else '[red]no[/]'}  {one.step:16}", end="")
        console.print(one.found, markup=False)
        if one.remedy:
            console.print(f"    -> {one.remedy}", markup=False, style="bold")
        good = good and one.ok
    return good


# Pages on a terminal: `--limit` and `--after`, and where the next page begins.
Limit = Annotated[int, typer.Option(min=1, max=MOST, help="At most so many.")]
After = Annotated[str, typer.Option(help="Where to go on, as the end of a page says.", metavar="CURSOR")]


def show_next(page: Page[Any], option: str = "--after") -> None:
    """How to ask for the next page, where there is one."""
    if page.next:
        console.print(plain(f"There are more: the same command with {option} {page.next}", "dim"), soft_wrap=True)
