"""Reads the participant under their lock, decides, records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from schemas.events.mail import EmailRead
from schemas.events.memory import (
    BriefWritten,
    FactRecorded,
    FactRequested,
    ParticipantSeen,
    RelationProposal,
    RelationRecorded,
    SessionNoted,
    TurnReflected,
)
from schemas.events.replies import FactProposal, ReplyDrafted
from services.core.bus.processor import Handlers
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.memory.embedding_cache import embed_facts
from services.core.memory.quotes import find_quote
from services.learn_facts import decide_facts, decide_person
from services.learn_facts.apply import SQL
from services.learn_facts.participant import KnownFact, KnownIssue, Participant, Source
from services.learn_facts.policy import Support

SESSION = timedelta(hours=24)


async def on_email(work: Work[EmailRead]) -> None:
    """Somebody whom we can trust to be who they say wrote to us."""
    mail = work.event
    if mail.participant_id is None or mail.author is None or mail.verdict.kind != "answer" or not mail.identity.trusted:
        return
    async with work.unit() as unit:
        who = await load(unit, mail.participant_id)
        if not who.exists or (mail.author.name and mail.author.name != who.name):
            await unit.record(
                ParticipantSeen(participant_id=mail.participant_id, addr=mail.author.addr, name=mail.author.name)
            )


async def on_draft(work: Work[ReplyDrafted]) -> None:
    """What the agent noted while it read takes effect at once, whether or not the reply is ever sent."""
    draft = work.event
    if draft.participant_id is None or not draft.trusted or not (draft.facts or draft.participant_state):
        return
    async with work.unit() as unit:
        await _learn(unit, draft.participant_id, draft.facts, draft.mail_ids)
        await _move(unit, draft.participant_id, draft.participant_state, draft.participant_state_reason)


async def on_reflected(work: Work[TurnReflected]) -> None:
    """Facts, graph, lifecycle, signals, brief and session of one reflection."""
    event = work.event
    if event.participant_id is None or not event.trusted or not event.covers_to:
        return
    async with work.unit() as unit:
        sources = await _learn(unit, event.participant_id, event.facts, event.mail_ids)
        await _relate(unit, event.participant_id, event.relations, sources)
        await _move(unit, event.participant_id, event.participant_state, event.participant_state_reason)
        who = await load(unit, event.participant_id)
        await unit.record(decide_person.note_signals(who, event.signals, event.thread_id))
        if event.brief:
            await unit.record(BriefWritten(participant_id=event.participant_id, text=event.brief))
        await unit.record(
            SessionNoted(
                participant_id=event.participant_id,
                thread_id=event.thread_id,
                summary=event.summary,
                expires_at=unit.now + SESSION,
            )
        )
    await work.house.cache.drop(f"brief:{work.workspace}:{event.participant_id}")


async def on_request(work: Work[FactRequested]) -> None:
    """A person adds, corrects, pins or takes back a fact."""
    async with work.unit() as unit:
        who = await load(unit, work.event.participant_id)
        for event in decide_facts.request(who, work.event, unit.id_for("fact"), unit.now):
            await unit.record(event)


async def on_recorded(work: Work[FactRecorded]) -> None:
    """Give new facts their vectors."""
    async with work.house.database.reading() as conn:
        await embed_facts(conn, work.house.embedder, work.workspace)


async def load(unit: Unit, participant_id: UUID) -> Participant:
    """The participant, held until the end of the transaction."""
    await unit.lock("participant", participant_id)
    row = await unit.one(SQL.participant, participant_id=participant_id)
    facts = await unit.all(SQL.facts, workspace=unit.workspace, participant_id=participant_id)
    sources = await unit.all(SQL.sources, fact_ids=[fact["fact_id"] for fact in facts])
    issues = await unit.all(SQL.issues, participant_id=participant_id)
    supports: dict[UUID, list[Support]] = {}
    for one in sources:
        supports.setdefault(one["fact_id"], []).append(Support(one["trust"], one["mail_id"], one["thread_id"]))
    known = tuple(KnownFact(**fact, supports=tuple(supports.get(fact["fact_id"], ()))) for fact in facts)
    told = {name: row[name] for name in ("name", "state", "sentiment", "frustrated_in_row")} if row else {}
    return Participant(
        participant_id=participant_id,
        exists=row is not None,
        **told,
        tags=tuple(row["tags"]) if row else (),
        facts=known,
        issues=tuple(KnownIssue(**issue) for issue in issues),
    )


async def _learn(
    unit: Unit, participant_id: UUID, proposals: Iterable[FactProposal], mail_ids: Sequence[UUID]
) -> list[Source]:
    rows = await unit.all(SQL.mails, mail_ids=list(mail_ids), participant_id=participant_id)
    sources = [_source(row) for row in rows]
    for number, proposal in enumerate(proposals):
        who = await load(unit, participant_id)
        cited = _cited(proposal, sources)
        for event in decide_facts.propose(who, proposal, cited, unit.id_for(f"fact/{number}")):
            await unit.record(event)
    return sources


async def _relate(
    unit: Unit, participant_id: UUID, relations: Iterable[RelationProposal], sources: list[Source]
) -> None:
    for one in relations:
        cited = next((source for source in sources if find_quote(one.quote, source.text)), None)
        if cited is None or not cited.trusted:
            continue
        await unit.record(
            RelationRecorded(
                participant_id=participant_id,
                relation_id=decide_facts.relation_id(participant_id, one.subject, one.predicate, one.object),
                **one.model_dump(exclude={"quote"}),
                quote=one.quote[:300],
                source_mail=cited.mail_id,
            )
        )


async def _move(unit: Unit, participant_id: UUID, to_state: str, reason: str) -> None:
    if to_state:
        event = decide_person.transition(await load(unit, participant_id), to_state, "ai", reason)
        if event is not None:
            await unit.record(event)


def _cited(proposal: FactProposal, sources: list[Source]) -> Source | None:
    if proposal.mail_id is not None:
        return next((one for one in sources if one.mail_id == proposal.mail_id), None)
    return next((one for one in sources if find_quote(proposal.quote, one.text)), None)


def _source(row: dict[str, Any]) -> Source:
    return Source(
        mail_id=row["mail_id"],
        thread_id=row["thread_id"],
        message_id=row["message_id"],
        text=row["text"],
        received_at=row["received_at"],
        sent_at=row["sent_at"],
        history=row["mode"] == "history",
        trusted=row["trusted"],
    )


HANDLERS: Handlers = {
    EmailRead: on_email,
    ReplyDrafted: on_draft,
    TurnReflected: on_reflected,
    FactRequested: on_request,
    FactRecorded: on_recorded,
}
