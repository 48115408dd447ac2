"""A fact as its readers see it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

HAPPENED = frozenset({"event", "interaction", "resolution", "issue_history", "action", "note"})
"""Kinds of what happened: it has a day, and is not so from then on."""

KINDS = (
    "customer_info",
    "order_info",
    "preference",
    "issue_history",
    "contact_info",
    "identity",
    "goal",
    "event",
    "relationship",
    "interaction",
    "resolution",
    "note",
)
"""The standard kinds in the order in which they are read; further ones follow."""

_BETWEEN_WORDS = re.compile(r"[\s_-]+")


def plain_key(key: str) -> str:
    """A key as facts are kept under: "Renewal_Date", "renewal-date" and "renewal date" are the last one."""
    return _BETWEEN_WORDS.sub(" ", key.casefold()).strip()


def whose_word(trust: str) -> str:
    """Who says a fact, as the model reads it: a customer's word binds nobody, whatever it says of us."""
    return {"human": "a colleague's word", "ours": "our own word"}.get(trust, "the customer's word")


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of `facts`; what each column means stands in the migration `0010_memory.sql`."""

    fact_id: UUID
    participant_id: UUID
    kind: str
    key: str
    value: str
    text: str
    confidence: float
    importance: float
    weight: float
    trust: str
    pinned: bool
    valid_from: datetime
    valid_to: datetime | None
    expires_at: datetime | None
    recorded_at: datetime
    superseded_at: datetime | None
    source_message_id: str | None
    quote: str | None
    said_at: datetime | None = None

    @property
    def last_said_at(self) -> datetime:
        """When it was last said to be so (valid time)."""
        return max(self.valid_from, self.said_at or self.valid_from)
