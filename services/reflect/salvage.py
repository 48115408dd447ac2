"""What holds of a model's reflection, when not all of it does.

An invalid part, or an entry over the limit of its list, is left out and named; the rest stands. Signals hold field by
field, and a mood that does not hold is not known, never calm. A reflection without a usable summary does not hold at
all. Nothing is guessed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from schemas.model_output import (
    STANDARD_ROOM,
    FactOperation,
    ParticipantProposal,
    Reflection,
    Relation,
    Room,
    Signals,
)

_LISTS: dict[str, type[BaseModel]] = {"facts": FactOperation, "relations": Relation}
_MOST = {name: next(one.max_length for one in Reflection.model_fields[name].metadata) for name in _LISTS}
_MOST_TAGS: int = next(one.max_length for one in Signals.model_fields["tags"].metadata)
_UNKNOWN_MOOD = {"sentiment": None, "frustrated": None}


class ReflectionUnusable(ValueError):
    """The answer holds no reflection."""


def salvage(given: Mapping[str, Any], room: Room = STANDARD_ROOM) -> tuple[Reflection, list[str]]:
    """The reflection with its texts within `room`, and what was left out of it and why. Raises `ReflectionUnusable`."""
    refused: list[str] = []
    kept: dict[str, Any] = {"summary": given["summary"]} if "summary" in given else {}
    brief = {"summary": "", "brief": given.get("brief")}
    kept["brief"] = brief["brief"] if _holds(Reflection, brief, "brief", refused) else ""
    for name, model in _LISTS.items():
        kept[name] = _entries(given.get(name), model, _MOST[name], name, refused)
    if given.get("signals") is not None:
        kept["signals"] = _signals(given["signals"], refused)
    proposal = given.get("participant")
    if proposal is not None and _holds(ParticipantProposal, proposal, "participant", refused):
        kept["participant"] = proposal
    refused += [f"{name}: unknown field" for name in given if name not in Reflection.model_fields]
    try:
        return Reflection.model_validate(kept, context=room), refused
    except ValidationError as error:
        raise ReflectionUnusable("; ".join(_words(one) for one in error.errors())) from None


def _entries(
    given: Any, model: type[BaseModel], most: int, where: str, refused: list[str], field: str = ""
) -> list[Any]:
    """The entries of a list that hold as a `model`, or alone in a field of it; at most so many."""
    if not isinstance(given or [], list):
        refused.append(f"{where}: not a list")
        return []
    tried = [(one, {field: [one]} if field else one) for one in given or []]
    holding = [one for at, (one, entry) in enumerate(tried) if _holds(model, entry, f"{where}.{at}", refused)]
    if len(holding) > most:
        refused.append(f"{where}: {len(holding) - most} entries are over the limit of {most}")
    return holding[:most]


def _signals(given: Any, refused: list[str]) -> dict[str, Any]:
    """Each signal that holds; a sentiment beyond the scale is at its end."""
    if not isinstance(given, dict):
        refused.append("signals: not an object")
        return _UNKNOWN_MOOD
    kept: dict[str, Any] = {}
    for name, value in given.items():
        if name == "tags":
            kept[name] = _entries(value, Signals, _MOST_TAGS, "signals.tags", refused, field="tags")
        elif _holds(Signals, {name: value}, f"signals.{name}", refused):
            kept[name] = value
        elif name == "sentiment" and isinstance(value, int | float) and not math.isnan(value):
            kept[name] = max(-1, min(1, value))
        elif name in _UNKNOWN_MOOD:
            kept[name] = None
    return kept


def _holds(model: type[BaseModel], entry: Any, where: str, refused: list[str]) -> bool:
    try:
        model.model_validate(entry)
    except ValidationError as error:
        refused.append(f"{where}: " + "; ".join(_words(one) for one in error.errors()))
        return False
    return True


def _words(error: Any) -> str:
    return f"{'.'.join(str(part) for part in error['loc'])} {error['msg']}".strip()[:200]
