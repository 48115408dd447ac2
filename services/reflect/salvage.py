"""What holds of a model's reflection, when not all of it does.

An invalid part, or an entry over the limit of its list, is left out and named; the rest stands. A reflection
without a usable summary does not hold at all. Nothing is guessed.
"""

from __future__ import annotations

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
_PARTS: dict[str, type[BaseModel]] = {"signals": Signals, "participant": ParticipantProposal}


class ReflectionUnusable(ValueError):
    """The answer holds no reflection."""


def salvage(given: Mapping[str, Any], room: Room = STANDARD_ROOM) -> tuple[Reflection, list[str]]:
    """The reflection with its texts within `room`, and what was left out of it and why. Raises `ReflectionUnusable`."""
    refused: list[str] = []
    kept: dict[str, Any] = {"summary": given["summary"]} if "summary" in given else {}
    brief = {"summary": "", "brief": given.get("brief")}
    kept["brief"] = brief["brief"] if _holds(Reflection, brief, "brief", refused) else ""
    for name, model in _LISTS.items():
        entries = given.get(name) or []
        if not isinstance(entries, list):
            refused.append(f"{name}: not a list")
            continue
        holding = [one for index, one in enumerate(entries) if _holds(model, one, f"{name}.{index}", refused)]
        kept[name] = holding[: _MOST[name]]
        if len(holding) > _MOST[name]:
            refused.append(f"{name}: {len(holding) - _MOST[name]} entries are over the limit of {_MOST[name]}")
    for name, model in _PARTS.items():
        if given.get(name) is not None and _holds(model, given[name], name, refused):
            kept[name] = given[name]
    refused += [f"{name}: unknown field" for name in given if name not in Reflection.model_fields]
    try:
        return Reflection.model_validate(kept, context=room), refused
    except ValidationError as error:
        raise ReflectionUnusable("; ".join(_words(one) for one in error.errors())) from None


def _holds(model: type[BaseModel], entry: Any, where: str, refused: list[str]) -> bool:
    try:
        model.model_validate(entry)
    except ValidationError as error:
        refused.append(f"{where}: " + "; ".join(_words(one) for one in error.errors()))
        return False
    return True


def _words(error: Any) -> str:
    return f"{'.'.join(str(part) for part in error['loc'])} {error['msg']}".strip()[:200]
