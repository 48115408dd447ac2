"""All events, by type name. Adding an event is a class here, an example, and `make schemas`.

The modules are imported when somebody asks for all of them: who needs one kind of event loads that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from schemas.events.base import EventData

if TYPE_CHECKING:
    EVENTS: Mapping[str, type[EventData]]

MODULES = (
    "alerts",
    "answers",
    "approvals",
    "documents",
    "incidents",
    "investigations",
    "lifecycle",
    "mail",
    "marks",
    "memory",
    "merging",
    "outreach",
    "periods",
    "proactive",
    "profile",
    "ratings",
    "replies",
    "retention",
    "suggestions",
    "threads",
    "webhooks",
)

__all__ = ["EVENTS", "MODULES", "EventData"]


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    if name != "EVENTS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for module in MODULES:
        import_module(f"{__name__}.{module}")
    globals()["EVENTS"] = MappingProxyType({kind.TYPE: kind for kind in _all(EventData) if kind.__dict__.get("TYPE")})
    return globals()["EVENTS"]


def _all(cls: type[EventData]) -> list[type[EventData]]:
    return [kind for sub in cls.__subclasses__() for kind in [sub, *_all(sub)]]
