"""The proof: every store is searched for the person's words, and what is found is said with its place."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.core.house import House
from services.tools.erase.stores import STORES
from services.tools.erase.words import Marks


@dataclass(frozen=True, slots=True)
class Finding:
    """One of the person's words, and the store that holds it."""

    place: str
    word: str


@dataclass(frozen=True, slots=True)
class Proof:
    """How much was read in each store, and what was found: nothing proves the erase."""

    read: dict[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


async def prove(house: House, marks: Marks) -> Proof:
    """Search every store. A store that cannot be read is an error: it would prove nothing."""
    read: dict[str, int] = {}
    findings: dict[Finding, None] = {}
    for store in STORES:
        read[store.__name__] = 0
        async for place, text in store(house):
            read[store.__name__] += 1
            findings |= {Finding(place, word): None for word in sorted(marks.found_in(text))}
    return Proof(read, tuple(findings))
