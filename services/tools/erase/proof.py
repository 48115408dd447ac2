"""The proof: every store is searched for the person's words, and what is found is said with its place."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.core.house import House
from services.tools.erase.files import archives, blobs, files
from services.tools.erase.stores import cache, tables, topics
from services.tools.erase.words import Marks

STORES = (tables, cache, topics, blobs, archives, files)


@dataclass(frozen=True, slots=True)
class Finding:
    """One of the person's words, and the store that holds it."""

    place: str
    word: str


@dataclass(frozen=True, slots=True)
class Proof:
    """How much was read in each store, and what was found: nothing proves the erase.

    `closed` are places where something cannot be looked into, such as an encrypted file that somebody else sent.
    """

    read: dict[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    closed: tuple[str, ...] = ()


async def prove(house: House, marks: Marks) -> Proof:
    """Search every store. A store that cannot be read is an error: it would prove nothing."""
    read: dict[str, int] = {}
    findings: dict[Finding, None] = {}
    closed: dict[str, None] = {}
    for store in STORES:
        read[store.__name__] = 0
        async for place, text in store(house):
            if text is None:
                closed[place] = None
                continue
            read[store.__name__] += 1
            findings |= {Finding(place, word): None for word in sorted(marks.found_in(text))}
    return Proof(read, tuple(findings), tuple(closed))
