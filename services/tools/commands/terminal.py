"""How commands show things: what other people wrote is text, never markup, and cannot steer the terminal."""

from __future__ import annotations

from uuid import UUID

from rich.console import Console
from rich.text import Text

from services.console.knowledge.reading import SourceLine
from services.core.memory.knowledge import place

console = Console(highlight=False)

SHORT_ID = 8  # characters of an id in tables; every command takes as many as make it unique

_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
_DIRECTIONS = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]  # they would show text in another order than it has
_VISIBLE = {code: "\N{REPLACEMENT CHARACTER}" for code in (*_CONTROLS, *_DIRECTIONS) if chr(code) not in "\n\t"}


def plain(text: object, style: str = "") -> Text:
    """`text` as it is, without markup; characters that steer a terminal become U+FFFD."""
    return Text(str(text or "").replace("\r\n", "\n").translate(_VISIBLE), style)


def source_line(source: SourceLine) -> Text:
    """A passage that a reply rests on; the address of a page that the customer is shown."""
    shown = f"  {source.public_url}" if source.public_url else ""
    return plain(f"  rests on  {place(source.title, source.heading)} (edition {source.edition}){shown}", "dim")


def short(id: UUID | str | None) -> str:
    """The beginning of an id, enough to name it to a command."""
    return str(id or "")[:SHORT_ID]
