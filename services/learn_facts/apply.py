"""Folds participant events into the tables of learn_facts. A rebuild calls these alone, in version order."""

from __future__ import annotations

from schemas.events import memory as ev
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers, Apply
from services.core.db import Connection
from services.learn_facts.apply_facts import FACT_APPLIERS, SQL, args_of
from services.learn_facts.identity.apply import MERGING_APPLIERS
from services.learn_facts.profile import PROFILE_APPLIERS


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


async def _relation(conn: Connection, envelope: Envelope) -> None:
    args = args_of(envelope)
    await conn.execute(SQL.delete_relation if args["op"] == "delete" else SQL.upsert_relation, args)


APPLIERS: Appliers = {
    ev.ParticipantSeen: _one("upsert_participant"),
    **FACT_APPLIERS,
    **PROFILE_APPLIERS,
    **MERGING_APPLIERS,
    ev.ParticipantStateChanged: _state_changed,
    ev.ParticipantTransitionRefused: _one("log_transition"),
    ev.SignalsNoted: _signals_noted,
    ev.IssuesResolved: _issues_resolved,
    ev.BriefWritten: _one("upsert_brief"),
    ev.SessionNoted: _session,
    ev.RelationRecorded: _relation,
}
