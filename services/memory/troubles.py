"""Troubles that customers report: which wordings are one, who counts as one customer, which words as many say. Pure.

Invariant: what is told of reports to anybody else are numbers, times, and a few short words that so many customers
said, each in that very form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from services.mail.sender import sender_of
from services.memory.wording import content_of, numbers_of, says, unsaid, without

MOST_WORDS = 6  # of an incident that anybody else is told
LONGEST_WORD = 30  # characters of one


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


def same_words(one: str, other: str) -> bool:
    """Whether two troubles are told in the same words, but for those that say that it does not work, or is not there.

    "csv export fails" is "cannot export csv" and "exporting to csv is broken"; "csv import fails" is another trouble,
    so is "csv export missing", and "csv export works" is none.
    """
    if _signature(one) != _signature(other):
        return False
    words, others = (content_of(_told_of(trouble)) for trouble in (one, other))
    return bool(words) and not unsaid(words, others) and not unsaid(others, words)


def _told_of(trouble: str) -> str:
    """What does not work or is not there."""
    return without("missing", without("failing", trouble.replace("_", " ")))


def _signature(trouble: str) -> tuple[object, ...]:
    """What has to be equal of two wordings of one trouble."""
    plain = trouble.replace("_", " ")
    missing = says("missing", without("failing", plain))
    return says("failing", plain), missing, says("denials", _told_of(trouble)), numbers_of(plain)


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
    """The words that so many customers say of it, `MOST_WORDS` at most, those of most customers, by the alphabet.

    Somebody with that many mailboxes chooses them: they are too few, too short and in no order of theirs for an order.
    """
    said = Counter(word for some in customers(reports) for word in {w for one in some for w in content_of(one.trouble)})
    shared = [word for word, count in said.items() if count >= least and len(word) <= LONGEST_WORD]
    return tuple(sorted(sorted(shared, key=lambda word: (-said[word], word))[:MOST_WORDS]))
