"""Keeps what is known of a person, facts apart, in the tables."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from schemas.events import memory as ev
from schemas.events.profile import ProfileChanged
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers, Apply
from services.core.db import Connection, queries
from services.learn_facts.facts.apply import args_of

SQL = queries(__file__)


def _one(statement: str) -> Apply:
    async def apply(conn: Connection, envelope: Envelope) -> None:
        await conn.execute(getattr(SQL, statement), args_of(envelope))

    return apply


async def _state_changed(conn: Connection, envelope: Envelope) -> None:
    args = {**args_of(envelope), "refused_because": ""}
    await conn.execute(SQL.set_state, args)
    await conn.execute(SQL.log_transition, args)


async def _signals_noted(conn: Connection, envelope: Envelope) -> None:
    args = args_of(envelope)
    await conn.execute(SQL.set_signals, {**args, "tag_list": list(args["tags"])})
    if args["issue_key"]:
        await conn.execute(SQL.upsert_issue, args)
    if args["issue_resolved"]:
        await conn.execute(SQL.resolve_issues, args)


async def _issues_resolved(conn: Connection, envelope: Envelope) -> None:
    args = args_of(envelope)
    await conn.execute(SQL.resolve_issue if args["issue_key"] else SQL.resolve_issues, args)


async def _session(conn: Connection, envelope: Envelope) -> None:
    args = args_of(envelope)
    await conn.execute(
        SQL.upsert_session, {**args, "entities": list(args["entities"]), "actions": list(args["actions"])}
    )


async def _brief_written(conn: Connection, envelope: Envelope) -> None:
    args = _brief(envelope)
    await conn.execute(SQL.drop_divergences, args)
    await conn.execute(SQL.upsert_brief, args)


async def _brief_diverged(conn: Connection, envelope: Envelope) -> None:
    args = _brief(envelope)
    await conn.execute(SQL.drop_divergences, args)
    await conn.execute(SQL.insert_divergence, args)


def _brief(envelope: Envelope) -> dict[str, Any]:
    args = args_of(envelope)
    return {**args, "bases": list(args["bases"]), "keeps": list(args["keeps"])}


async def _profile_changed(conn: Connection, envelope: Envelope) -> None:
    event = envelope.data
    assert isinstance(event, ProfileChanged)
    args = {**event.model_dump(), "workspace": envelope.workspace, "at": envelope.time, "cause": envelope.causation_id}
    await conn.execute(SQL.set_fields, {**args, "fields": Jsonb(event.fields)})
    await conn.execute(SQL.remove_fields, {**args, "removed": list(event.removed)})


APPLIERS: Appliers = {
    ev.ParticipantSeen: _one("upsert_participant"),
    ProfileChanged: _profile_changed,
    ev.ParticipantStateChanged: _state_changed,
    ev.ParticipantTransitionRefused: _one("log_transition"),
    ev.SignalsNoted: _signals_noted,
    ev.IssuesResolved: _issues_resolved,
    ev.BriefWritten: _brief_written,
    ev.BriefDiverged: _brief_diverged,
    ev.SessionNoted: _session,
}
