"""What a reply took: time from hop to hop, by when each event was stored, and money, by the prices that are set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Literal
from uuid import UUID

from schemas.events.mail import EmailRead, MailReceived
from schemas.events.replies import (
    MemoryLoaded,
    ReplyApproved,
    ReplyDeferred,
    ReplyDiscarded,
    ReplyDrafted,
    ReplyFailed,
    ReplyHeld,
    ReplySent,
    ReplyUnknown,
)
from schemas.events.suggestions import SuggestionAsked, SuggestionDrafted
from schemas.events.threads import TurnOpened
from services.core.db import Connection, fetch_all, queries
from services.model.settings import ModelSettings
from services.model.usage import Unpriced, priced
from services.operations.threads.explanations import Explanation

SQL = queries(__file__, "cost.sql")

Stage = Literal[
    "received",
    "understood",
    "taken_up",
    "remembered",
    "drafted",
    "held",
    "approved",
    "deferred",
    "left",
    "unknown",
    "failed",
    "discarded",
]
STAGES: Mapping[str, Stage] = MappingProxyType(
    {
        MailReceived.TYPE: "received",
        EmailRead.TYPE: "understood",
        TurnOpened.TYPE: "taken_up",
        SuggestionAsked.TYPE: "taken_up",
        MemoryLoaded.TYPE: "remembered",
        ReplyDrafted.TYPE: "drafted",
        SuggestionDrafted.TYPE: "drafted",
        ReplyHeld.TYPE: "held",
        ReplyApproved.TYPE: "approved",
        ReplyDeferred.TYPE: "deferred",
        ReplySent.TYPE: "left",
        ReplyUnknown.TYPE: "unknown",
        ReplyFailed.TYPE: "failed",
        ReplyDiscarded.TYPE: "discarded",
    }
)


@dataclass(frozen=True, slots=True)
class Hop:
    """A stage that a reply came to: when, how many milliseconds after the first, and after the one before it."""

    stage: Stage
    at: datetime
    since_ms: int
    took_ms: int


@dataclass(frozen=True, slots=True)
class Money:
    """What the model took for one decision, in US dollars by the prices of now; None where that is not known."""

    reply_id: UUID
    dollars: float | None
    unpriced: Unpriced = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """Both of one turn; no hops where its events are archived."""

    hops: tuple[Hop, ...]
    money: tuple[Money, ...]


async def cost_of(conn: Connection, workspace: str, model: ModelSettings, why: Explanation) -> Cost:
    """What the replies of a turn took."""
    args = {
        "workspace": workspace,
        "event_id": why.event_id,
        "mail_ids": list(why.mail_ids),
        "reply_ids": [one.reply_id for one in why.decisions],
        "types": list(STAGES),
    }
    rows = await fetch_all(conn, SQL.hops, args)
    stages = [(STAGES[row["type"]], row["stored_at"]) for row in rows]
    return Cost(
        _hops(stages), tuple(Money(one.reply_id, *priced(model, one.model, one.usage)) for one in why.decisions)
    )


def _hops(stages: list[tuple[Stage, datetime]]) -> tuple[Hop, ...]:
    """Each stage with its milliseconds, which add up; where clocks of two machines differ, none is less than 0."""
    since = [max(0, round((at - stages[0][1]).total_seconds() * 1000)) for _, at in stages]
    return tuple(
        Hop(stage, at, now, max(0, now - before))
        for (stage, at), now, before in zip(stages, since, [0, *since], strict=False)
    )
