"""What a fact rests on, and how sure that makes us: never the model's own word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from schemas.events.memory import Trust
from services.core.settings import ConfidenceSettings

STANDARD = ConfidenceSettings()


@dataclass(frozen=True, slots=True)
class Support:
    """One message, or one person, that says so. `mail_id` is the customer's mail, or our own."""

    trust: Trust
    mail_id: UUID | None
    thread_id: UUID | None
    said_at: datetime | None = None
    fact_id: UUID | None = None  # whose row it is, where facts were merged


def confidence(supports: Iterable[Support], rules: ConfidenceSettings = STANDARD) -> float:
    """0..1 from distinct messages, distinct threads and the best source's trust.

    Each further message removes a share of the doubt that is left, each further thread another. Our own words are a
    source, never a further one.
    """
    told = list(supports)
    doubt = 1 - max(float(getattr(rules, one.trust)) for one in told)
    counted = [one for one in told if one.trust != "ours"]
    messages = len({one.mail_id or one.trust for one in counted}) or 1
    threads = len({one.thread_id for one in counted if one.thread_id}) or 1
    left = (1 - rules.further_message) ** (messages - 1) * (1 - rules.further_thread) ** (threads - 1)
    return round(float(1 - doubt * left), 4)
