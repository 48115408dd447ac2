"""What a fact rests on, and how sure that makes us: never the model's own word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from schemas.events.memory import Trust

BASE: Mapping[Trust, float] = MappingProxyType({"inferred": 0.5, "ours": 0.7, "authenticated": 0.7, "human": 0.95})


@dataclass(frozen=True, slots=True)
class Support:
    """One message, or one person, that says so. `mail_id` is the customer's mail, or our own."""

    trust: Trust
    mail_id: UUID | None
    thread_id: UUID | None
    said_at: datetime | None = None
    fact_id: UUID | None = None  # whose row it is, where facts were merged


def confidence(supports: Iterable[Support]) -> float:
    """0..1 from distinct messages, distinct threads and the best source's trust.

    Each further message removes 40 % of the doubt that is left, each further thread another 20 %. Our own words
    are a source, never a further one.
    """
    told = list(supports)
    doubt = 1 - max(BASE[one.trust] for one in told)
    counted = [one for one in told if one.trust != "ours"]
    messages = len({one.mail_id or one.trust for one in counted}) or 1
    threads = len({one.thread_id for one in counted if one.thread_id}) or 1
    return round(1 - doubt * 0.6 ** (messages - 1) * 0.8 ** (threads - 1), 4)
