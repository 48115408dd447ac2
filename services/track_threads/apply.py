"""Writes thread events to the tables of track_threads: the SQL twin of `evolve`. A rebuild calls it alone, in order."""

from __future__ import annotations

from typing import Any

from schemas.events import answers as person
from schemas.events import marks, proactive, ratings, retention
from schemas.events import threads as ev
from schemas.events.replies import MOST_ENTITIES
from services.core.bus.appliers import fields_of, runs
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers
from services.core.db import Connection, queries
from services.track_threads.evolve import answers

SQL = queries(__file__)


async def _mail_attached(conn: Connection, envelope: Envelope) -> None:
    args = fields_of(envelope)
    await _said(conn, {**args, "role": "customer", "by": "", "reply_id": None, "pending": args["waits"]})


async def _reply_attached(conn: Connection, envelope: Envelope) -> None:
    args = {**fields_of(envelope), "mail_id": None, "trusted": True, "pending": False}
    args["at"] = args["replied_at"] or args["at"]
    await _said(conn, args)


async def _said(conn: Connection, args: dict[str, Any]) -> None:
    """A row of the conversation, and the passages that find it."""
    await conn.execute(SQL.insert_conversation, args)
    await conn.execute(SQL.insert_passages, args)


async def _state_changed(conn: Connection, envelope: Envelope) -> None:
    args = fields_of(envelope)
    await conn.execute(SQL.set_state, args)
    await conn.execute(SQL.log_transition, {**args, "refused": ""})


async def _refused(conn: Connection, envelope: Envelope) -> None:
    args = fields_of(envelope)
    await conn.execute(SQL.log_transition, {**args, "refused": args["refused_because"]})


async def _bounce_noted(conn: Connection, envelope: Envelope) -> None:
    args = fields_of(envelope)
    detail = f"{args['kind']}: {args['diagnostic']}"
    await conn.execute(SQL.log_action, {**args, "action": "bounce noted", "detail": detail, "trigger": "system"})


async def _assigned(conn: Connection, envelope: Envelope) -> None:
    args = fields_of(envelope)
    detail = ": ".join(one for one in (args["assignee"] or "nobody", args["reason"]) if one)
    await conn.execute(SQL.set_assignee, args)
    await conn.execute(SQL.log_action, {**args, "action": "assigned", "detail": detail})


async def _snoozed(conn: Connection, envelope: Envelope) -> None:
    args = fields_of(envelope)
    await conn.execute(SQL.set_snoozed, args)
    await conn.execute(
        SQL.log_action, {**args, "action": "snoozed" if args["until"] else "woken", "detail": args["reason"]}
    )


async def _reply_accepted(conn: Connection, envelope: Envelope) -> None:
    args = fields_of(envelope)
    await conn.execute(SQL.log_action, {**args, "action": "reply accepted", "detail": args["by"], "trigger": "human"})


async def _reply_refused(conn: Connection, envelope: Envelope) -> None:
    args = fields_of(envelope)
    detail = f"{args['by']}: {args['reason']}"
    await conn.execute(SQL.log_action, {**args, "action": "reply refused", "detail": detail, "trigger": "human"})


async def _draft_refused(conn: Connection, envelope: Envelope) -> None:
    args = {**fields_of(envelope), "action": "draft refused", "trigger": "system"}
    await conn.execute(SQL.log_action, {**args, "detail": args["reason"]})


async def _priority_set(conn: Connection, envelope: Envelope) -> None:
    args = fields_of(envelope)
    detail = f"{args['from_priority']} -> {args['to_priority']}: {args['reason']}"
    await conn.execute(SQL.set_priority, args)
    await conn.execute(SQL.log_action, {**args, "action": "priority set", "detail": detail})


async def _tags_changed(conn: Connection, envelope: Envelope) -> None:
    args = fields_of(envelope)
    words = " ".join([*(f"+{one}" for one in args["added"]), *(f"-{one}" for one in args["removed"])])
    await conn.execute(SQL.set_tags, args)
    await conn.execute(SQL.log_action, {**args, "action": "tags changed", "detail": f"{words}: {args['reason']}"})


async def _entities_noted(conn: Connection, envelope: Envelope) -> None:
    args = fields_of(envelope)
    names = [one["name"] for one in args["entities"]]
    await conn.execute(SQL.forget_entities, {**args, "names": names})
    kept = {one["name"]: one["value"] for one in args["entities"] if one["value"]}
    await conn.execute(SQL.keep_entities, {**args, "names": list(kept), "texts": list(kept.values())})
    await conn.execute(SQL.bound_entities, {**args, "most": MOST_ENTITIES})


async def _rated(conn: Connection, envelope: Envelope) -> None:
    args = fields_of(envelope)
    await conn.execute(SQL.put_rating, args)
    detail = "good" if args["good"] else "bad"
    await conn.execute(SQL.log_action, {**args, "action": "answer rated", "detail": detail, "trigger": "system"})


async def _turn_opened(conn: Connection, envelope: Envelope) -> None:
    args = fields_of(envelope)
    await conn.execute(SQL.open_turn, args)
    await conn.execute(SQL.set_open_turn, args)


async def _turn_closed(conn: Connection, envelope: Envelope) -> None:
    closed = envelope.data
    assert isinstance(closed, ev.TurnClosed)
    args = fields_of(envelope)
    await conn.execute(SQL.close_turn, args)
    await conn.execute(SQL.set_open_turn, {**args, "turn_id": None})
    if answers(closed):
        await conn.execute(SQL.answer_pending, args)


APPLIERS: Appliers = {
    ev.ThreadOpened: runs(SQL.insert_thread),
    ev.ThreadLinked: runs(SQL.link_thread),
    ev.MailAttached: _mail_attached,
    ev.ReplyAttached: _reply_attached,
    ev.StateChanged: _state_changed,
    ev.TransitionRefused: _refused,
    ev.GoalAdded: runs(SQL.insert_goal),
    ev.GoalClosed: runs(SQL.close_goal),
    ev.ActionLogged: runs(SQL.log_action),
    ev.BounceNoted: _bounce_noted,
    marks.PrioritySet: _priority_set,
    marks.TagsChanged: _tags_changed,
    marks.NoteAdded: runs(SQL.insert_note),
    marks.EntitiesNoted: _entities_noted,
    marks.DeadlineChanged: runs(SQL.set_deadline),
    person.Assigned: _assigned,
    person.Snoozed: _snoozed,
    ratings.ReplyRated: _rated,
    person.ReplyAccepted: _reply_accepted,
    person.ReplyRefused: _reply_refused,
    proactive.DraftRefused: _draft_refused,
    retention.BodiesExpired: runs(
        SQL.delete_passages, SQL.empty_ratings, SQL.empty_conversation, SQL.empty_suggestions, SQL.expire_entities
    ),
    ev.TurnOpened: _turn_opened,
    ev.TurnClosed: _turn_closed,
}
