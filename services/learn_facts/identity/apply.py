"""Keeps in the tables who is one person with whom; each decision is a line of the log as well."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from schemas.events.merging import ParticipantMerged, ParticipantUnmerged
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers
from services.core.db import Connection
from services.learn_facts.facts.apply import SQL as FACTS
from services.learn_facts.facts.apply import args_of
from services.learn_facts.identity.load import SQL


async def _merged(conn: Connection, envelope: Envelope) -> None:
    event = envelope.data
    assert isinstance(event, ParticipantMerged)
    args = args_of(envelope)
    said = "; ".join([f"{event.by}: {event.reason}" if event.reason else event.by, *event.settled])
    await conn.execute(SQL.insert_alias, args)
    await conn.execute(FACTS.log_fact, {**args, **_line("merged with another participant", event.into, said)})


async def _unmerged(conn: Connection, envelope: Envelope) -> None:
    event = envelope.data
    assert isinstance(event, ParticipantUnmerged)
    args = args_of(envelope)
    said = f"{event.by}: {event.reason}" if event.reason else event.by
    await conn.execute(SQL.delete_alias, args)
    await conn.execute(FACTS.log_fact, {**args, **_line("taken apart from another participant", event.into, said)})


def _line(decision: str, other: UUID, reason: str) -> dict[str, Any]:
    return {"decision": decision, "fact_id": None, "key": "", "value": str(other), "reason": reason}


APPLIERS: Appliers = {ParticipantMerged: _merged, ParticipantUnmerged: _unmerged}
