"""Troubles that customers report: who counts as one customer, and which words as many of them say. Pure.

Invariant: what is told of reports to anybody else are numbers, times, and words that so many customers said, each in
that very form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from services.mail.sender import sender_of
from services.memory.wording import content_of


@dataclass(frozen=True, slots=True)
class Report:
    """A customer's report. `person` stands for all addresses of one person."""

    report_id: UUID
    participant_id: UUID
    thread_id: UUID
    mail_id: UUID
    trouble: str
    names: frozenset[str]
    said_at: datetime
    incident_id: UUID | None
    person: UUID
    address: str

    @property
    def sender(self) -> str:
        """The organization, or the mailbox at a public provider."""
        return sender_of(self.address)


def report_of(row: Mapping[str, Any]) -> Report:
    """A row of `trouble_reports` with `person` and the mail's `author_addr`."""
    told = {name: one for name, one in row.items() if name not in ("author_addr", "names")}
    return Report(**told, names=frozenset(row["names"]), address=row["author_addr"])


def customers(reports: Iterable[Report]) -> list[list[Report]]:
    """The reports by customer: who is one person, or writes for one organization, is one."""
    groups: list[tuple[set[object], list[Report]]] = []
    for one in reports:
        who: set[object] = {one.person, one.sender}
        same = [group for group in groups if group[0] & who]
        groups = [group for group in groups if not group[0] & who]
        merged = [report for _, some in same for report in some]
        groups.append((who.union(*(ids for ids, _ in same)), [*merged, one]))
    return [some for _, some in groups]


def shared_words(reports: Sequence[Report], least: int) -> tuple[str, ...]:
    """The words that so many customers say of it, in the order of the report that says most of them."""
    said = Counter(word for some in customers(reports) for word in {w for one in some for w in content_of(one.trouble)})
    shared = {word for word, count in said.items() if count >= least}
    fullest = max(reports, key=lambda one: len(shared.intersection(content_of(one.trouble))), default=None)
    first = [word for word in content_of(fullest.trouble) if word in shared] if fullest else []
    return (*first, *sorted(shared.difference(first)))
