"""What was so at one time, as it was known at another: each fact with the marks that it had then.

Rows of `facts` say how a fact stands today. How sure we were of it, how it was trusted, since when it was taken to be
so, whether it was pinned or stale is made from what was recorded: its sources said by the one time and learned by the
other, and the decisions made by the earlier of the two. How sure those sources make us is judged by the rules of today.
A merge that was undone since is not seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from services.core.db import Connection, fetch_all
from services.core.settings import ConfidenceSettings
from services.memory.derived import lapsed_among
from services.memory.support import STANDARD, Support, confidence
from services.operations.memory.facts import RememberedFact, facts_of, made_stale
from services.operations.memory.people import SQL


@dataclass(frozen=True, slots=True)
class Mark:
    """A decision on how a fact stands: `pinned`, `unpinned`, `stale`, or `corroborated`, which judges again."""

    decision: str
    at: datetime


async def as_of(
    conn: Connection,
    workspace: str,
    participant_id: UUID,
    *,
    valid_at: datetime,
    known_at: datetime,
    rules: ConfidenceSettings = STANDARD,
) -> list[RememberedFact]:
    """What was so at one time, as it was known at another."""
    when = {"valid_at": valid_at, "known_at": known_at}
    args: dict[str, Any] = {"workspace": workspace, "participant_id": participant_id, **when}
    facts = await facts_of(conn, SQL.as_of, args)
    args["fact_ids"] = [one.fact_id for one in facts]
    supports: dict[UUID, list[Support]] = defaultdict(list)
    marks: dict[UUID, list[Mark]] = defaultdict(list)
    for row in await fetch_all(conn, SQL.supports_then, args):
        supports[row.pop("shown_by")].append(Support(**row))
    for row in await fetch_all(conn, SQL.marks_then, args):
        marks[row.pop("fact_id")].append(Mark(**row))
    stale = await lapsed_among(conn, workspace, args["fact_ids"], valid_at, known_at)
    then = [as_then(one, supports[one.fact_id], marks[one.fact_id], known_at, rules) for one in facts]
    return [made_stale(one, stale.get(one.fact_id)) for one in then]


def as_then(
    fact: RememberedFact,
    supports: Sequence[Support],
    marks: Sequence[Mark],
    known_at: datetime,
    rules: ConfidenceSettings = STANDARD,
) -> RememberedFact:
    """The fact as it stood: `supports` and `marks` are those of then, in the order of recording."""
    own = [one for one in supports if one.fact_id == fact.fact_id]
    pinned = stale_since = None
    for mark in marks:
        match mark.decision:
            case "pinned" | "unpinned":
                pinned = mark.decision == "pinned"
            case "stale":
                stale_since = mark.at
            case _:
                stale_since = None
    return replace(
        _undone(fact, known_at),
        confidence=confidence(supports, rules),
        trust=_trust(own),
        valid_from=min(one.said_at for one in own if one.said_at),
        pinned=bool(pinned),
        stale_since=stale_since,
    )


def _trust(own: Sequence[Support]) -> str:
    """The first source's, unless that was inferred: then that of the first who said so in so many words."""
    first = own[0].trust
    return next((one.trust for one in own if one.trust != "inferred"), first) if first == "inferred" else first


def _undone(fact: RememberedFact, known_at: datetime) -> RememberedFact:
    """The fact without an end that was not known yet."""
    if fact.superseded_at is None or fact.superseded_at <= known_at:
        return fact
    return replace(fact, superseded_at=None, superseded_by=None, retracted_at=None, merged_into=None, valid_to=None)
