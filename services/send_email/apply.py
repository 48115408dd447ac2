"""Applies delivery events to the ledger. A rebuild calls these alone, in version order."""

from __future__ import annotations

from typing import Any

from schemas.events import replies as ev
from schemas.events.replies import DraftScore
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers, Apply
from services.core.db import Connection, queries

SQL = queries(__file__)


def _args(envelope: Envelope, to_state: str, detail: str = "") -> dict[str, Any]:
    nothing = dict.fromkeys(("message_id", "blob", "recipient", "envelope_from", "retry_at", "departs_at", "tried_at"))
    left = envelope.data.happened_at if isinstance(envelope.data, ev.ReplySent) else None
    stamp = {"workspace": envelope.workspace, "version": envelope.version, "at": envelope.time, "sent_at": left}
    args = {
        **nothing,
        "attempt": 0,
        "inbox": "",
        "cc": (),
        "files": (),
        "intent": "",
        "model": "",
        **envelope.data.model_dump(),
        **stamp,
        **_score(getattr(envelope.data, "score", None)),
        "to_state": to_state,
        "detail": detail,
    }
    return {**args, "cc": list(args["cc"]), "files": list(args["files"])}


def _score(score: DraftScore | None) -> dict[str, Any]:
    return {"score": score and score.value, "floors": list(score.floors) if score else []}


def _created(to_state: str, detail_field: str = "") -> Apply:
    async def apply(conn: Connection, envelope: Envelope) -> None:
        detail = getattr(envelope.data, detail_field, "") if detail_field else ""
        await conn.execute(SQL.upsert_delivery, _args(envelope, to_state, detail))

    return apply


def _attempted(to_state: str, detail_field: str = "") -> Apply:
    async def apply(conn: Connection, envelope: Envelope) -> None:
        args = _args(envelope, to_state, getattr(envelope.data, detail_field, "") if detail_field else "")
        await conn.execute(SQL.set_state, args)
        await conn.execute(SQL.log_attempt, args)

    return apply


async def _failed(conn: Connection, envelope: Envelope) -> None:
    """What was refused when it was written may have no row yet."""
    event = envelope.data
    assert isinstance(event, ev.ReplyFailed)
    args = _args(envelope, "failed", event.error)
    await conn.execute(SQL.upsert_delivery if event.inbox else SQL.set_state, args)
    await conn.execute(SQL.log_attempt, args)


def _copied(sent_copy: str, detail_field: str = "") -> Apply:
    async def apply(conn: Connection, envelope: Envelope) -> None:
        waits = getattr(envelope.data, "retry_at", None) is not None
        detail = getattr(envelope.data, detail_field, "") if detail_field else ""
        args = _args(envelope, "sent", detail)
        await conn.execute(SQL.set_copy, {**args, "sent_copy": "waiting" if waits else sent_copy})

    return apply


async def _lifted(conn: Connection, envelope: Envelope) -> None:
    await conn.execute(SQL.lift, _args(envelope, ""))


async def _bounced(conn: Connection, envelope: Envelope) -> None:
    event = envelope.data
    assert isinstance(event, ev.ReplyBounced)
    args = _args(envelope, "bounced", event.diagnostic)
    if not event.of_copy:
        await conn.execute(SQL.set_state, args)
    if event.suppressed:
        await conn.execute(SQL.suppress, args)


APPLIERS: Appliers = {
    ev.ReplyHeld: _created("draft", "reason"),
    ev.ReplyApproved: _created("approved"),
    ev.ReplyDiscarded: _created("discarded", "reason"),
    ev.ReplySending: _attempted("sending"),
    ev.ReplySent: _attempted("sent", "response"),
    ev.ReplyDeferred: _attempted("approved", "error"),
    ev.ReplyUnknown: _attempted("unknown", "error"),
    ev.ReplyFailed: _failed,
    ev.ReplyBounced: _bounced,
    ev.SuppressionLifted: _lifted,
    ev.ReplyCopied: _copied("kept"),
    ev.ReplyNotCopied: _copied("missing", "error"),
}
