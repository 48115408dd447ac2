"""Applies what was decided about facts to their tables; each decision is a line of the log as well."""

from __future__ import annotations

import hashlib
from typing import Any

from schemas.events import memory as ev
from schemas.events.retention import MemoryExpired
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers
from services.core.db import Connection, queries

SQL = queries(__file__)


def args_of(envelope: Envelope) -> dict[str, Any]:
    """An event's data and its envelope as the parameters of a statement; `said` is its valid time."""
    data = envelope.data.model_dump()
    return {
        **data,
        "said": data.get("said_at") or data.get("seen_at") or envelope.time,
        "workspace": envelope.workspace,
        "version": envelope.version,
        "at": envelope.time,
        "cause": envelope.causation_id,
        "event_id": envelope.id,
    }


def _quoting(envelope: Envelope) -> dict[str, Any]:
    """The parameters of an event that cites a message, with the hash of its words."""
    args = args_of(envelope)
    quote = args["quote"]
    return {**args, "quote_sha256": hashlib.sha256(quote.encode()).hexdigest() if quote else None}


async def _log(conn: Connection, args: dict[str, Any], decision: str, reason: str) -> None:
    logged = {"fact_id": None, "key": "", "value": "", **args, "decision": decision, "reason": reason}
    await conn.execute(SQL.log_fact, logged)


async def _recorded(conn: Connection, envelope: Envelope) -> None:
    args = _quoting(envelope)
    await conn.execute(
        SQL.record_fact, {**args, "supersedes": list(args["supersedes"]), "parents": list(args["parents"])}
    )
    if args["past"] and args["single_valued"]:
        await conn.execute(SQL.end_before, args)


async def _corroborated(conn: Connection, envelope: Envelope) -> None:
    args = _quoting(envelope)
    await conn.execute(SQL.corroborate, args)
    await conn.execute(SQL.insert_source, {**args, "source_reply": None, "said_at": args["said_at"] or args["at"]})
    await _log(conn, args, "corroborated", f"another message says so: confidence {args['confidence']}")


async def _retracted(conn: Connection, envelope: Envelope) -> None:
    args = args_of(envelope)
    await conn.execute(SQL.retract, args)
    await _log(conn, args, "ended" if args["valid_to"] else "retracted", args["reason"])


async def _restored(conn: Connection, envelope: Envelope) -> None:
    args = args_of(envelope)
    await conn.execute(SQL.restore, args)
    await _log(conn, args, "restored", args["reason"])


async def _marked_stale(conn: Connection, envelope: Envelope) -> None:
    args = args_of(envelope)
    await conn.execute(SQL.mark_stale, args)
    await _log(conn, args, "stale", args["reason"])


async def _merged(conn: Connection, envelope: Envelope) -> None:
    args = args_of(envelope)
    await conn.execute(SQL.merge, {**args, "member_ids": list(args["members"])})
    await conn.execute(SQL.set_confidence, args)
    await _log(conn, args, "merged", args["reason"])


async def _unmerged(conn: Connection, envelope: Envelope) -> None:
    args = args_of(envelope)
    await conn.execute(SQL.unmerge, {**args, "member_ids": list(args["members"])})
    await conn.execute(SQL.set_confidence, args)
    await _log(conn, args, "unmerged", f"{args['by']} undid it")


async def _pinned(conn: Connection, envelope: Envelope) -> None:
    args = args_of(envelope)
    await conn.execute(SQL.pin, args)
    await _log(conn, args, "pinned" if args["pinned"] else "unpinned", args["by"])


async def _refused(conn: Connection, envelope: Envelope) -> None:
    args = args_of(envelope)
    await _log(conn, args, f"{args['op']} refused", args["reason"])


async def _expired(conn: Connection, envelope: Envelope) -> None:
    args = args_of(envelope)
    args |= {"facts": list(args["fact_ids"]), "relations": list(args["relation_ids"])}
    for name in ("drop_sources", "drop_parents", "drop_log", "drop_facts", "drop_relations"):
        await conn.execute(getattr(SQL, name), args)


async def _relation(conn: Connection, envelope: Envelope) -> None:
    args = args_of(envelope)
    await conn.execute(SQL.delete_relation if args["op"] == "delete" else SQL.upsert_relation, args)


APPLIERS: Appliers = {
    ev.FactRecorded: _recorded,
    ev.FactCorroborated: _corroborated,
    ev.FactRetracted: _retracted,
    ev.FactRestored: _restored,
    ev.FactMarkedStale: _marked_stale,
    ev.FactsMerged: _merged,
    ev.FactsUnmerged: _unmerged,
    ev.FactPinned: _pinned,
    ev.FactRefused: _refused,
    ev.RelationRecorded: _relation,
    MemoryExpired: _expired,
}
