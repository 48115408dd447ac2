"""A layer's content before its budget is held: entries in the order of their worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from schemas.events.replies import ContextLayer
from services.core.mail.masking import mask
from services.core.model.usage import estimate_tokens

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line or passage of a layer, and the same as data."""

    text: str
    item: Item


@dataclass(frozen=True, slots=True)
class Section:
    """What a layer found: a heading line, and entries, the most valuable first.

    `newest_first` entries are shown oldest first, after the budget has been held.
    """

    entries: tuple[Entry, ...] = ()
    head: str = ""
    newest_first: bool = False


def entry(text: str, /, **item: Any) -> Entry:
    """An entry from its text and its data."""
    return Entry(text, item)


def section(entries: Iterable[Entry], head: str = "", *, newest_first: bool = False) -> Section:
    """A section from entries in the order of their worth."""
    return Section(tuple(entries), head, newest_first)


def fit(name: str, found: Section, budget: int, *, shared: bool, trusted: bool) -> ContextLayer:
    """The layer within `budget` tokens: whole entries, the first ones first; an entry too large alone is cut.

    In text that other people wrote, card numbers, IBANs and keys are masked.
    """
    kept: list[Entry] = []
    used = estimate_tokens(found.head)
    for one in found.entries if trusted else map(_masked, found.entries):
        cost = estimate_tokens(one.text)
        if used + cost > budget and kept:
            break
        kept.append(one if cost <= budget else Entry(one.text[: budget * 3], one.item))
        used += min(cost, budget)
    shown = list(reversed(kept)) if found.newest_first else kept
    lines = [found.head, *(one.text for one in shown)] if shown and found.head else [one.text for one in shown]
    return ContextLayer(
        name=name,
        text="\n".join(lines),
        items=tuple(dict(one.item) for one in shown),
        shared=shared,
        trusted=trusted,
        tokens=used if shown else 0,
        left_out=len(found.entries) - len(kept),
    )


def _masked(one: Entry) -> Entry:
    item = {name: mask(value).text if isinstance(value, str) else value for name, value in one.item.items()}
    return Entry(mask(one.text).text, item)
