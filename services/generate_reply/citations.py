"""What a reply may say that it rests on: passages and facts that this turn's model was shown, and no others. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from uuid import UUID

from schemas.events.replies import MemoryLoaded
from services.generate_reply.desk import Desk, shown_in

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_MARK = re.compile(
    rf"(?<![ \t])[ \t]*+[\[(]\s{{0,9}}{_ID.pattern}(?:\s{{0,9}}[,;]\s{{0,9}}{_ID.pattern})*+\s{{0,9}}[\])]",
    re.IGNORECASE,
)


def shown_passages(event: MemoryLoaded) -> set[str]:
    """The ids of the passages in the turn's context."""
    return {str(item["id"]) for item in shown_in(event, "knowledge")}


def shown_facts(event: MemoryLoaded) -> set[str]:
    """The ids of the author's facts in the turn's context."""
    return {str(item["id"]) for item in shown_in(event, "participant") if item.get("id")}


def sendable_passages(event: MemoryLoaded) -> set[str]:
    """Those whose document's file may be attached."""
    return {str(item["id"]) for item in shown_in(event, "knowledge") if item.get("sendable")}


def cited(text: str, citations: Iterable[str], desk: Desk) -> tuple[str, tuple[str, ...], tuple[UUID, ...]]:
    """The text without citation marks; passages and facts that hold, in order. What does not is noted on the draft."""
    marked = [id for mark in _MARK.findall(text) for id in _ID.findall(mark)]
    named = list(dict.fromkeys([*map(bare_id, citations), *(id.lower() for id in marked)]))
    holding = tuple(one for one in named if one in desk.passages)
    facts = tuple(UUID(one) for one in named if one in desk.known)
    shown = desk.passages | desk.known
    desk.refused += [f"reply: cites {one[:100]}, which it was not shown" for one in named if one not in shown]
    return _MARK.sub("", text) if marked else text, holding, facts


def bare_id(citation: str) -> str:
    """The id in a citation that comes with brackets, a title, or in capitals."""
    found = _ID.search(citation)
    return found[0].lower() if found else citation
