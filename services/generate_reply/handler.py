"""From the loaded memory to the draft."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.events.replies import DraftScore, Entity, MemoryLoaded, ReplyDrafted
from schemas.events.suggestions import SuggestionDrafted
from services.core.app import App
from services.core.approval_level import level_when_written
from services.core.bus.checkpointed_model import token_usage
from services.core.bus.processor import Handlers
from services.core.bus.work import Work
from services.core.db import fetch_several, queries
from services.generate_reply.citations import sendable_passages, shown_facts, shown_passages
from services.generate_reply.conversation import converse
from services.generate_reply.desk import AnsweredMail, Decision, Desk
from services.generate_reply.grounds import Grounds
from services.generate_reply.prompt import opening
from services.generate_reply.score import Written, scored
from services.model.port import Answer

SQL = queries(__file__)


async def on_memory_loaded(work: Work[MemoryLoaded]) -> None:
    """Let the model decide, then put its decision on the log."""
    event, app = work.event, work.app
    async with work.reading() as conn:
        of = event.model_dump(include={"turn_id", "participant_id"})
        asked = {**of, "mail_ids": list(event.mail_ids), "workspace": work.workspace}
        turns, mails = await fetch_several(conn, (SQL.open_turn, SQL.mails), asked)
    if event.purpose == "reply" and not turns:
        return
    desk = desk_of(work.app, work.event, mails, now=work.now, first_contact=any(row["first_contact"] for row in turns))
    if event.setting("unproven", "") == "template":
        async with work.unit() as unit:
            await unit.record(_fixed(event, desk, unit.id_for("reply")))
        return
    request = opening(event, str(work.envelope.id), app.secret)
    rounds = event.setting("tool_rounds", app.settings.context.tool_rounds)
    answers = await converse(work, request, desk, rounds)
    async with work.unit() as unit:
        if event.purpose == "suggestion":
            await unit.record(_suggestion(event, desk, answers))
        else:
            await unit.record(_draft(event, desk, answers, unit.id_for("reply")))


def desk_of(
    app: App, event: MemoryLoaded, mails: Iterable[Mapping[str, Any]], *, now: datetime, first_contact: bool = False
) -> Desk:
    """The desk as it is before the first round; `mails` are rows of those that are answered."""
    return Desk(
        event=event,
        app=app,
        workspace=app.settings.workspace,
        now=now,
        mails=tuple(AnsweredMail(**row) for row in mails),
        passages=shown_passages(event),
        known=shown_facts(event),
        sendable=sendable_passages(event),
        first_contact=first_contact,
    )


def _fixed(event: MemoryLoaded, desk: Desk, reply_id: UUID) -> ReplyDrafted:
    """The inbox's fixed reply to who is not proven; no model wrote a word of it."""
    desk.decision = Decision(kind="reply", text=desk.app.settings.inbox(event.inbox).unproven_reply)
    return _draft(event, desk, [], reply_id)


def _suggestion(event: MemoryLoaded, desk: Desk, answers: list[Answer]) -> SuggestionDrafted:
    """What would be answered, or why nothing would."""
    assert desk.decision is not None
    return SuggestionDrafted(
        turn_id=event.turn_id,
        thread_id=event.thread_id,
        participant_id=event.participant_id,
        text=desk.decision.text or desk.decision.reason,
        acts=tuple(desk.acts),
        model=answers[-1].model,
        usage=token_usage(answers),
        by=event.by,
    )


def _may_leave(event: MemoryLoaded, answers: list[Answer]) -> bool:
    """Whether the draft may leave by the settings alone: a model's words go to nobody whom nothing names or proves."""
    return event.trusted or not answers or event.setting("unproven", "") == "named"


def _draft(event: MemoryLoaded, desk: Desk, answers: list[Answer], reply_id: UUID) -> ReplyDrafted:
    """The draft. Of a turn whose author is not proven neither state nor goals are proposed (tools refuse all else)."""
    decision = desk.decision
    assert decision is not None
    score, unsupported = _scored(event, desk, decision) if answers and decision.text else (None, ())
    return ReplyDrafted.model_validate(
        {
            "reply_id": reply_id,
            "turn_id": event.turn_id,
            "thread_id": event.thread_id,
            "participant_id": event.participant_id,
            "inbox": event.inbox,
            "mail_ids": event.mail_ids,
            "trusted": event.trusted,
            "decision": decision.kind,
            "text": decision.text,
            "reason": decision.reason,
            "state": decision.state if event.trusted else "awaiting_reply",
            "goals_add": decision.goals_add if event.trusted else (),
            "goals_close": decision.goals_close if event.trusted else (),
            "citations": decision.citations,
            "facts_cited": decision.facts_cited if event.trusted else (),
            "attach": decision.attach,
            "facts": tuple(desk.facts) if event.trusted else (),
            "entities": tuple(Entity(name=name, value=value) for name, value in desk.entities.items()),
            "participant_state": desk.participant_state,
            "participant_state_reason": desk.participant_state_reason,
            "refused_calls": tuple(desk.refused),
            "acts": tuple(desk.acts),
            "model": answers[-1].model if answers else "",
            "usage": token_usage(answers),
            "approval": _level(event, desk, answers, score),
            "disclose_ai": event.setting("disclose_ai", None),
            "intent": decision.intent,
            "score": score,
            "unsupported": unsupported,
            "settings_version": desk.app.in_force.stored.version,
        }
    )


def _level(event: MemoryLoaded, desk: Desk, answers: list[Answer], score: DraftScore | None) -> str:
    """The approval level that the draft carries; "" where the deployment's setting holds."""
    assert desk.decision is not None
    chosen = event.settings.get("approval")
    said, source = (str(chosen.value), chosen.source) if chosen else ("", "")
    return level_when_written(
        desk.app.settings,
        event.inbox,
        desk.decision.intent,
        said,
        source,
        nobody_proven=not _may_leave(event, answers),
        breaks_floor=bool(score and score.floors),
    )


def _scored(event: MemoryLoaded, desk: Desk, decision: Decision) -> tuple[DraftScore, tuple[str, ...]]:
    """The score of a text. Of one that hands over to a person its own words count, since a person reads the mail."""
    grounds = Grounds.of(event.layers, desk.looked_up)
    hands_over = decision.kind == "escalate"
    mails = () if hands_over else tuple(one.text for one in desk.mails)
    written = Written(decision.text, mails, decision.citations, event.trusted)
    return scored(written, grounds, desk.first_contact and not hands_over)


HANDLERS: Handlers = {MemoryLoaded: on_memory_loaded}
