"""All events, by type name. Adding an event is a class here, an example, and `make schemas`."""

from __future__ import annotations

from types import MappingProxyType

from schemas.events import (
    alerts,
    documents,
    lifecycle,
    mail,
    marks,
    memory,
    merging,
    profile,
    replies,
    retention,
    suggestions,
    threads,
)
from schemas.events.base import EventData


def _all(cls: type[EventData]) -> list[type[EventData]]:
    return [kind for sub in cls.__subclasses__() for kind in [sub, *_all(sub)]]


EVENTS = MappingProxyType({kind.TYPE: kind for kind in _all(EventData) if kind.__dict__.get("TYPE")})

__all__ = [
    "EVENTS",
    "EventData",
    "alerts",
    "documents",
    "lifecycle",
    "mail",
    "marks",
    "memory",
    "merging",
    "profile",
    "replies",
    "retention",
    "suggestions",
    "threads",
]
