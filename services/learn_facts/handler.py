"""Reads the participant under their lock, decides, records."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.lifecycle import ParticipantStateRequested
from schemas.events.mail import EmailRead
from schemas.events.memory import (
    BriefWritten,
    FactRecorded,
    FactRequested,
    ParticipantStateChanged,
    TurnReflected,
)
from schemas.events.merging import ParticipantMergeRequested, ParticipantSplitRequested
from schemas.events.profile import ProfileRequested
from schemas.events.replies import ReplyDrafted
from schemas.events.retention import MemoryRetentionDue
from schemas.events.threads import StateChanged
from services.core.bus.processor import Handlers
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.settings import LearningSettings, Settings
from services.learn_facts import consequences, decide_acts, decide_person, decide_session, issues
from services.learn_facts.apply_facts import SQL
from services.learn_facts.expiring import on_due
from services.learn_facts.load import load, load_turn
from services.learn_facts.meaning import meanings_of
from services.learn_facts.merging import on_merge_asked
from services.learn_facts.participant import KnownFact, Participant, Source
from services.learn_facts.policy import valid_from
from services.learn_facts.profile import on_profile
from services.learn_facts.proposals import learn, policy_of, policy_of_app
from services.learn_facts.relations import relate
from services.learn_facts.requests import on_request
from services.learn_facts.seeing import on_email
from services.learn_facts.splitting import on_split
from services.memory.embedding_cache import attach, embed_cached


async def on_draft(work: Work[ReplyDrafted]) -> None:
    """What the agent noted while it read takes effect at once, whether or not the reply is ever sent."""
    draft = work.event
    if draft.participant_id is None or not draft.trusted or not (draft.facts or draft.participant_state):
        return
    meanings = await meanings_of(work, draft.facts)
    async with work.unit() as unit:
        who, sources = await load_turn(unit, draft.participant_id, draft.mail_ids, draft.thread_id)
        who = await learn(unit, who, draft.facts, sources, policy_of(work, draft.inbox))
        await meanings.give(unit, who)
        await _stand(unit, who, draft.participant_state, draft.participant_state_reason)


async def on_reflected(work: Work[TurnReflected]) -> None:
    """Facts, graph, lifecycle, signals, brief and session of one reflection."""
    event = work.event
    if event.participant_id is None or not event.trusted or not event.covers_to:
        return
    meanings = await meanings_of(work, event.facts)
    async with work.unit() as unit:
        who, sources = await load_turn(unit, event.participant_id, event.mail_ids, event.thread_id)
        who = await learn(unit, who, event.facts, sources, policy_of(work, event.inbox))
        await meanings.give(unit, who)
        await relate(unit, event.participant_id, event.relations, sources, work.app.settings.learning)
        learned = [one.data for one in unit.stored]
        said_at = _imported_from(sources, event.mail_ids, work.app.settings.learning)
        said = event.participant_state_reason
        who = await _stand(unit, who, event.participant_state, said, event.signals.intent, said_at)
        if event.brief:
            await unit.record(BriefWritten(participant_id=event.participant_id, text=event.brief))
        await _note_signals(unit, who, event, work.app.settings, said_at)
        if said_at is None:
            await unit.record(decide_session.noted(who, event, learned, unit.now, work.app.settings.session))


async def _note_signals(
    unit: Unit, who: Participant, event: TurnReflected, settings: Settings, said_at: datetime | None
) -> None:
    """Mood, risk and troubles; of imported mail the troubles alone."""
    of = {"mail_ids": list(event.mail_ids), "thread_id": event.thread_id, "turn_id": event.turn_id}
    row = await unit.one(SQL.uncounted, **of)
    assert row is not None
    about = who, event.signals, event.thread_id
    noted: EventData | None
    if said_at is None:
        counted = {"mails": row["mails"], "thread_over": row["over"]}
        noted = decide_person.note_signals(*about, settings.people, **counted)
    else:
        noted = decide_person.note_past(*about, said_at, settings.people, thread_over=row["over"])
    for one in (noted, issues.trouble_over(who, event.signals, said_at)):
        if one is not None:
            await unit.record(one)


async def on_state_wish(work: Work[ParticipantStateRequested]) -> None:
    """A person moves somebody along the lifecycle: by its edges alone, and logged with who and why."""
    command = work.event
    reason = f"{command.by}: {command.reason}" if command.reason else command.by
    async with work.unit() as unit:
        who = await load(unit, command.participant_id)
        step = decide_person.transition(who, command.to_state, "human", reason) if who.exists else None
        if step is not None:
            await unit.record(step)


async def on_thread_step(work: Work[StateChanged]) -> None:
    """What a person did for a customer is remembered as ours; in a thread that is resolved no trouble is open."""
    step = work.event
    by_hand = {step.participant_id} if step.participant_id and step.trigger == "human" else set()
    if not by_hand and step.to_state != "resolved":
        return
    async with work.unit() as unit:
        by_hand = {one for one in by_hand if await unit.one(SQL.wrote_in, thread_id=step.thread_id, participant_id=one)}
        reported = await unit.all(SQL.reported_in, thread_id=step.thread_id) if step.to_state == "resolved" else []
        for participant_id in sorted({*by_hand, *(row["participant_id"] for row in reported)}):
            who = await load(unit, participant_id)
            fact = decide_acts.resolved_by_hand(who, step, unit.id_for("act"), unit.now, policy_of_app(work))
            if fact is not None and participant_id in by_hand:
                await unit.record(fact)
            over = issues.issues_over(who, step.thread_id)
            if over is not None and step.to_state == "resolved":
                await unit.record(over)


async def on_recorded(work: Work[FactRecorded]) -> None:
    """Give the new fact its vector, and let a near-duplicate of it become one with it."""
    async with work.app.database.reading() as conn:
        (vector,) = await embed_cached(conn, work.app.embedder, [work.event.text])
        await attach(conn, work.app.embedder, {work.event.fact_id: vector})
    if work.event.single_valued or work.event.past:
        return
    async with work.unit() as unit:
        who = await load(unit, work.event.participant_id)
        same = consequences.alike(who, work.event.fact_id)
        if len(same) < 2:
            return
        learning = work.app.settings.learning
        merged = consequences.merge(who, work.event.fact_id, await _similarity(work, unit, same), learning)
        if merged is not None:
            await unit.record(merged)


async def _similarity(work: Work[FactRecorded], unit: Unit, facts: Sequence[KnownFact]) -> consequences.Similarity:
    """The cosine of two of these facts' sentences; every vector is in the cache already."""
    vectors = await embed_cached(unit.conn, work.app.embedder, [one.text for one in facts])
    by_fact = {one.fact_id: vector for one, vector in zip(facts, vectors, strict=True)}
    return lambda one, other: float(by_fact[one.fact_id] @ by_fact[other.fact_id])


def _imported_from(
    sources: Sequence[Source], mail_ids: Collection[UUID], learning: LearningSettings
) -> datetime | None:
    """When the imported mails of a turn were written, the last of them; None for a turn of what is written now."""
    of_turn = [one for one in sources if one.mail_id in mail_ids]
    if not any(one.history for one in of_turn):
        return None
    return max(valid_from(one.sent_at, one.received_at, history=one.history, learning=learning) for one in of_turn)


async def _stand(
    unit: Unit, who: Participant, proposed: str, reason: str, intent: str = "", said_at: datetime | None = None
) -> Participant:
    """The steps of the lifecycle that a turn brings; the participant as they stand then."""
    for event in decide_person.standing(who, proposed, reason, intent, said_at):
        await unit.record(event)
        if isinstance(event, ParticipantStateChanged):
            who = replace(who, state=event.to_state)
    return who


HANDLERS: Handlers = {
    ProfileRequested: on_profile,
    ParticipantStateRequested: on_state_wish,
    ParticipantMergeRequested: on_merge_asked,
    ParticipantSplitRequested: on_split,
    EmailRead: on_email,
    ReplyDrafted: on_draft,
    TurnReflected: on_reflected,
    StateChanged: on_thread_step,
    FactRequested: on_request,
    FactRecorded: on_recorded,
    MemoryRetentionDue: on_due,
}
