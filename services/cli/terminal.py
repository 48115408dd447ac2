"""How commands show things: what other people wrote is text, never markup, and cannot steer the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from rich.text import Text

from services.cli.shown import Terminal
from services.core.printable import printable

if TYPE_CHECKING:
    from services.operations.knowledge.listing import SourceLine

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
