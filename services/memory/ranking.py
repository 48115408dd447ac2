"""How much a fact weighs when it is read: relevance x importance x weight x confidence x recency.

Pure. Decay is computed at reading time and never stored, so changing a half-life changes nothing on disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Protocol

from services.memory.periods import Window

DAY = timedelta(days=1)

HALF_LIVES: Mapping[str, float] = MappingProxyType(
    {
        "identity": 3650.0,
        "customer_info": 1460.0,
        "contact_info": 1460.0,
        "relationship": 1460.0,
        "preference": 730.0,
        "goal": 180.0,
        "order_info": 180.0,
        "issue_history": 180.0,
        "resolution": 180.0,
        "action": 180.0,
        "event": 90.0,
        "interaction": 60.0,
        "note": 180.0,
    }
)  # days


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """What weighs how much. Half-lives are in days; `floor` is the least that a factor may take away.

    Floors keep one weak factor from burying the only fact that answers the question: relevance decides
    first, the other four settle what is about equally relevant (also where nothing in particular is).
    """

    half_lives: Mapping[str, float] = field(default_factory=lambda: HALF_LIVES)
    default_half_life: float = 365.0
    relevance_floor: float = 0.05
    recency_floor: float = 0.5
    importance_floor: float = 0.6
    confidence_floor: float = 0.5
    outside_window_floor: float = 0.3


class Rankable(Protocol):
    """What is known of a fact apart from its relevance; confidence and importance are 0..1, weight 1 when neutral."""

    @property
    def kind(self) -> str: ...
    @property
    def importance(self) -> float: ...
    @property
    def weight(self) -> float: ...
    @property
    def confidence(self) -> float: ...
    @property
    def pinned(self) -> bool: ...
    @property
    def valid_from(self) -> datetime: ...
    @property
    def last_said_at(self) -> datetime: ...


def recency(fact: Rankable, now: datetime, settings: RankingSettings) -> float:
    """0..1: half after each half-life since it was last said; 1 for what is pinned or yet to come."""
    age = (now - fact.last_said_at) / DAY
    if fact.pinned or age <= 0:
        return 1.0
    half_life = settings.half_lives.get(fact.kind, settings.default_half_life)
    return float(0.5 ** (age / half_life))


def nearness(when: datetime, window: Window) -> float:
    """0..1: 1 inside of the window, half at one window's length (at least a week) outside of it."""
    if window.start <= when < window.end:
        return 1.0
    gap = window.start - when if when < window.start else when - window.end
    return float(0.5 ** (gap / max(window.end - window.start, 7 * DAY)))


def timely(relevance: float, fact: Rankable, window: Window | None, settings: RankingSettings) -> float:
    """How well it answers, whatever it weighs otherwise: relevance, and nearness to the time that is asked, 0..1."""
    if window is None:
        return relevance
    return relevance * _floored(nearness(fact.valid_from, window), settings.outside_window_floor)


def final_score(
    relevance: float, fact: Rankable, now: datetime, window: Window | None, settings: RankingSettings
) -> float:
    """The final score, at least 0. With a window, nearness to it stands in for recency."""
    if window is None:
        time = _floored(recency(fact, now, settings), settings.recency_floor)
    else:
        time = _floored(nearness(fact.valid_from, window), settings.outside_window_floor)
    importance = _floored(fact.importance, settings.importance_floor)
    confidence = _floored(fact.confidence, settings.confidence_floor)
    return _floored(relevance, settings.relevance_floor) * importance * fact.weight * confidence * time


def _floored(factor: float, floor: float) -> float:
    return floor + (1 - floor) * factor
