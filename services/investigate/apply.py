"""Applies the events of investigations to their tables. A rebuild calls these alone, in version order."""

from __future__ import annotations

from psycopg.types.json import Jsonb

from schemas.events.investigations import (
    InvestigationClosed,
    InvestigationOpened,
    InvestigationsExpired,
    ProposalDecided,
    RoundTaken,
)
from services.core.bus.appliers import fields_of, runs
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers
from services.core.db import Connection, queries
from services.model.usage import tokens_of

SQL = queries(__file__)


async def _opened(conn: Connection, envelope: Envelope) -> None:
    data = envelope.data
    assert isinstance(data, InvestigationOpened)
    said = data.model_dump(include={"investigation_id", "participant_id", "thread_id", "question", "by"})
    await conn.execute(SQL.open, {**said, **_of(envelope)})


async def _round(conn: Connection, envelope: Envelope) -> None:
    data = envelope.data
    assert isinstance(data, RoundTaken)
    used = {"tokens_in": tokens_of(data.usage) - data.usage.output, "tokens_out": data.usage.output}
    await conn.execute(SQL.take_round, {"investigation_id": data.investigation_id, "number": data.number, **used})


async def _closed(conn: Connection, envelope: Envelope) -> None:
    data = envelope.data
    assert isinstance(data, InvestigationClosed)
    said = data.model_dump(exclude={"kept", "proposals", "usage", "rounds", "outputs"})
    lists = {"conflicts": list(data.conflicts), "dropped": list(data.dropped)}
    outputs = Jsonb([one.model_dump(mode="json") for one in data.outputs])
    await conn.execute(SQL.close, {**said, **lists, "outputs": outputs, **_of(envelope)})
    for place, one in enumerate(data.proposals):
        content = Jsonb(one.model_dump(mode="json", exclude={"proposal_id"}))
        args = {**_ids(data), "proposal_id": one.proposal_id, "place": place, "content": content}
        await conn.execute(SQL.propose, {**args, **_of(envelope)})
    for file in data.kept:
        statement = SQL.drop_file if file.text is None else SQL.keep_file
        await conn.execute(statement, {**_ids(data), "path": file.path, "text": file.text, **_of(envelope)})


async def _decided(conn: Connection, envelope: Envelope) -> None:
    await conn.execute(SQL.decide, fields_of(envelope))


def _ids(data: InvestigationClosed) -> dict[str, object]:
    return {"investigation_id": data.investigation_id, "participant_id": data.participant_id}


def _of(envelope: Envelope) -> dict[str, object]:
    return {"workspace": envelope.workspace, "version": envelope.version, "at": envelope.time}


APPLIERS: Appliers = {
    InvestigationOpened: _opened,
    RoundTaken: _round,
    InvestigationClosed: _closed,
    ProposalDecided: _decided,
    InvestigationsExpired: runs(SQL.expire, SQL.expire_proposals, SQL.expire_files),
}
