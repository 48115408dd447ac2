"""What a reply may say that it rests on: passages that this turn's model was shown, and no others. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from schemas.events.replies import MemoryLoaded
from services.generate_reply.desk import Desk

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_MARK = re.compile(
    rf"(?<![ \t])[ \t]*+[\[(]\s{{0,9}}{_ID.pattern}(?:\s{{0,9}}[,;]\s{{0,9}}{_ID.pattern})*+\s{{0,9}}[\])]",
    re.IGNORECASE,
)


def shown_passages(event: MemoryLoaded) -> set[str]:
    """The ids of the passages in the turn's context."""
    return {str(item["id"]) for layer in event.layers if layer.name == "knowledge" for item in layer.items}


def sendable_passages(event: MemoryLoaded) -> set[str]:
    """Those whose document's file may be attached."""
    items = (item for layer in event.layers if layer.name == "knowledge" for item in layer.items)
    return {str(item["id"]) for item in items if item.get("sendable")}


def cited(text: str, citations: Iterable[str], desk: Desk) -> tuple[str, tuple[str, ...]]:
    """The text without citation marks, and the ids that hold, in order. What does not hold is noted on the draft."""
    marked = [id for mark in _MARK.findall(text) for id in _ID.findall(mark)]
    named = list(dict.fromkeys([*map(bare_id, citations), *(id.lower() for id in marked)]))
    holding = tuple(one for one in named if one in desk.passages)
    desk.refused += [f"reply: cites {one[:100]}, which it was not shown" for one in named if one not in desk.passages]
    return _MARK.sub("", text) if marked else text, holding


def bare_id(citation: str) -> str:
    """The id in a citation that comes with brackets, a title, or in capitals."""
    found = _ID.search(citation)
    return found[0].lower() if found else citation
