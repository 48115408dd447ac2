"""Folds participant events into the tables of learn_facts. A rebuild calls these alone, in version order."""

from __future__ import annotations

import hashlib
from typing import Any

from schemas.events import memory as ev
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers, Apply
from services.core.db import Connection, queries

SQL = queries(__file__)


def _args(envelope: Envelope) -> dict[str, Any]:
    return {
        **envelope.data.model_dump(),
        "workspace": envelope.workspace,
        "version": envelope.version,
        "at": envelope.time,
        "cause": envelope.causation_id,
        "event_id": envelope.id,
    }


def _one(statement: str) -> Apply:
    async def apply(conn: Connection, envelope: Envelope) -> None:
        await conn.execute(getattr(SQL, statement), _args(envelope))

    return apply


async def _log(conn: Connection, args: dict[str, Any], decision: str, reason: str) -> None:
    logged = {"fact_id": None, "key": "", **args, "decision": decision, "reason": reason}
    await conn.execute(SQL.log_fact, logged)


async def _recorded(conn: Connection, envelope: Envelope) -> None:
    args = _args(envelope)
    args["quote_sha256"] = hashlib.sha256(args["quote"].encode()).hexdigest() if args["quote"] else None
    await conn.execute(SQL.supersede, {**args, "supersedes": list(args["supersedes"])})
    await conn.execute(SQL.insert_fact, args)
    await conn.execute(SQL.insert_source, args)
    await _log(conn, args, "recorded", args["rule"])


async def _corroborated(conn: Connection, envelope: Envelope) -> None:
    args = _args(envelope)
    await conn.execute(SQL.set_confidence, args)
    await conn.execute(SQL.insert_source, args)
    await _log(conn, args, "corroborated", f"another message says so: confidence {args['confidence']}")


async def _retracted(conn: Connection, envelope: Envelope) -> None:
    args = _args(envelope)
    await conn.execute(SQL.retract, args)
    await _log(conn, args, "retracted", args["reason"])


async def _pinned(conn: Connection, envelope: Envelope) -> None:
    args = _args(envelope)
    await conn.execute(SQL.pin, args)
    await _log(conn, args, "pinned" if args["pinned"] else "unpinned", args["by"])


async def _refused(conn: Connection, envelope: Envelope) -> None:
    args = _args(envelope)
    await _log(conn, args, f"{args['op']} refused", args["reason"])


async def _state_changed(conn: Connection, envelope: Envelope) -> None:
    args = {**_args(envelope), "refused_because": ""}
    await conn.execute(SQL.set_state, args)
    await conn.execute(SQL.log_transition, args)


async def _signals_noted(conn: Connection, envelope: Envelope) -> None:
    args = _args(envelope)
    await conn.execute(SQL.set_signals, {**args, "tag_list": list(args["tags"])})
    if args["issue_key"]:
        await conn.execute(SQL.upsert_issue, args)
    if args["issue_resolved"]:
        await conn.execute(SQL.resolve_issues, args)


async def _relation(conn: Connection, envelope: Envelope) -> None:
    args = _args(envelope)
    await conn.execute(SQL.delete_relation if args["op"] == "delete" else SQL.upsert_relation, args)


APPLIERS: Appliers = {
    ev.ParticipantSeen: _one("upsert_participant"),
    ev.FactRecorded: _recorded,
    ev.FactCorroborated: _corroborated,
    ev.FactRetracted: _retracted,
    ev.FactPinned: _pinned,
    ev.FactRefused: _refused,
    ev.ParticipantStateChanged: _state_changed,
    ev.ParticipantTransitionRefused: _one("log_transition"),
    ev.SignalsNoted: _signals_noted,
    ev.BriefWritten: _one("upsert_brief"),
    ev.SessionNoted: _one("upsert_session"),
    ev.RelationRecorded: _relation,
}
