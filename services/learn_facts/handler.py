"""Reads the participant under their lock, decides, records."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.lifecycle import ParticipantStateRequested
from schemas.events.mail import EmailRead
from schemas.events.memory import BriefRequested, FactRecorded, FactRequested, TurnReflected
from schemas.events.merging import ParticipantMergeRequested, ParticipantSplitRequested
from schemas.events.profile import ProfileRequested
from schemas.events.replies import ReplyDrafted
from schemas.events.retention import MemoryExpired, MemoryRetentionDue
from schemas.events.threads import StateChanged
from services.core.bus.processor import Handlers
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.learn_facts.decide import noted, reflected
from services.learn_facts.facts import consequences
from services.learn_facts.facts.apply import SQL as FACTS
from services.learn_facts.facts.decide import resolved_by_hand
from services.learn_facts.facts.embeddings import vectors_of
from services.learn_facts.facts.policy import policy_of, policy_of_all, valid_from
from services.learn_facts.facts.proposals import Proposals
from services.learn_facts.facts.requests import answer
from services.learn_facts.facts.retention import Age, expired
from services.learn_facts.identity import decide as identity
from services.learn_facts.identity.load import keeper_of, load_merging, load_person, load_splitting
from services.learn_facts.load import SQL, load, load_concerned, load_counted, load_turn, load_without_facts
from services.learn_facts.participant import Fact
from services.learn_facts.people import People
from services.learn_facts.person import brief, issues, session
from services.learn_facts.person import decide as person
from services.learn_facts.person.apply import SQL as PERSON
from services.memory.embedding_cache import attach, embed_cached, vectors_of_texts

AT_ONCE = 4_000  # characters of what may be cited: more is judged in a thread, while others' work goes on


async def on_draft(work: Work[ReplyDrafted]) -> None:
    """What the agent noted while it read takes effect at once, whether or not the reply is ever sent."""
    draft = work.event
    if draft.participant_id is None or not draft.trusted or not (draft.facts or draft.participant_state):
        return
    vectors = await vectors_of(work, draft.facts)
    async with work.unit() as unit:
        people, proposed = await _proposed(work, unit, draft, draft.participant_id)
        people = await _record(unit, people, lambda known: noted(known, draft, proposed, unit.now), proposed)
        await vectors.give(unit, people[draft.participant_id])


async def on_reflected(work: Work[TurnReflected]) -> None:
    """Facts, graph, lifecycle, signals, brief and session of one reflection."""
    turn, settings = work.event, work.app.settings
    if turn.participant_id is None or not turn.trusted:
        return
    if turn.again:
        await _on_ended(work, turn.participant_id)
    if not turn.covers_to:
        return
    vectors = await vectors_of(work, turn.facts)
    async with work.unit() as unit:
        people, proposed = await _proposed(work, unit, turn, turn.participant_id)
        counted = await load_counted(unit, turn)
        people = await _record(
            unit, people, lambda known: reflected(known, turn, proposed, counted, unit.now, settings), proposed
        )
        await vectors.give(unit, people[turn.participant_id])


async def _on_ended(work: Work[TurnReflected], participant_id: UUID) -> None:
    """How a turn ended that was learned from before."""
    async with work.unit() as unit:
        who = await load_without_facts(unit, participant_id)
        event = session.ended(who, work.event, unit.now, work.app.settings.session)
        if event is not None:
            await unit.record(event)


async def _proposed(
    work: Work[Any], unit: Unit, turn: ReplyDrafted | TurnReflected, participant_id: UUID
) -> tuple[People, Proposals]:
    """Whom the proposals of a turn concern, and the proposals with what they may cite."""
    people, sources = await load_turn(unit, participant_id, turn.mail_ids, turn.thread_id, turn.facts)
    ids = [unit.id_for(f"fact/{number}") for number in range(len(turn.facts))]
    policy = policy_of(work.app.settings, turn.inbox)
    return people, Proposals(participant_id, turn.facts, ids, sources, policy)


async def _record(
    unit: Unit, people: People, decide: Callable[[People], Sequence[EventData]], proposed: Proposals | None = None
) -> People:
    """Record what `decide` decides, of what was `proposed`; everybody whom it concerns as they stand then.

    Deciding is pure. Where something under a further address rests on what it ends, it is done again, with them.
    """
    decided = await _decided(decide, people, proposed)
    concerned = await load_concerned(unit, people, decided)
    if concerned is not people:
        decided = await _decided(decide, concerned, proposed)
    for event in decided:
        await unit.record(event)
    return concerned.after(decided, unit.now)


async def _decided(
    decide: Callable[[People], Sequence[EventData]], people: People, proposed: Proposals | None
) -> Sequence[EventData]:
    """What is decided; a long mail of which much is proposed takes seconds, and no other event waits for it."""
    read = sum(len(one.text) for one in proposed.sources) if proposed is not None and proposed.facts else 0
    return await asyncio.to_thread(decide, people) if read > AT_ONCE else decide(people)


async def on_request(work: Work[FactRequested]) -> None:
    """A person adds, corrects, pins or takes back a fact, decided under the locks of all of the person's addresses."""
    asked, policy = work.event, policy_of_all(work.app.settings)
    async with work.unit() as unit:
        keeper = await keeper_of(unit, asked.participant_id, asked.fact_id)
        people = People.of(*await load_person(unit, keeper))
        new = unit.id_for("fact")
        await _record(unit, people, lambda known: answer(known, keeper, asked, new, unit.now, policy))


async def on_brief_asked(work: Work[BriefRequested]) -> None:
    """A person writes or deletes the brief, decided under the locks of all of the person's addresses."""
    asked = work.event
    async with work.unit() as unit:
        for event in brief.answer(await load_person(unit, asked.participant_id), asked, work.app.settings.learning):
            await unit.record(event)


async def on_merge_asked(work: Work[ParticipantMergeRequested]) -> None:
    """A person merges two participants, or takes them apart."""
    asked = work.event
    async with work.unit() as unit:
        for event in identity.answer(asked, await load_merging(unit, asked), unit.now):
            await unit.record(event)


async def on_split(work: Work[ParticipantSplitRequested]) -> None:
    """Two mailboxes that were kept under one id are taken apart."""
    asked = work.event
    async with work.unit() as unit:
        for event in identity.split(asked, await load_splitting(unit, asked), unit.now):
            await unit.record(event)


async def on_state_asked(work: Work[ParticipantStateRequested]) -> None:
    """A person moves somebody along the lifecycle: by its edges alone, and logged with who and why."""
    command = work.event
    reason = f"{command.by}: {command.reason}" if command.reason else command.by
    async with work.unit() as unit:
        who = await load(unit, command.participant_id)
        step = person.transition(who, command.to_state, "human", reason) if who.exists else None
        if step is not None:
            await unit.record(step)


async def on_thread_step(work: Work[StateChanged]) -> None:
    """What a person did for a customer is remembered as ours; in a thread that is resolved no trouble is open."""
    step, policy = work.event, policy_of_all(work.app.settings)
    by_hand = {step.participant_id} if step.participant_id and step.trigger == "human" else set()
    if not by_hand and step.to_state != "resolved":
        return
    async with work.unit() as unit:
        by_hand = {one for one in by_hand if await unit.one(SQL.wrote_in, thread_id=step.thread_id, participant_id=one)}
        reported = await unit.all(PERSON.reported_in, thread_id=step.thread_id) if step.to_state == "resolved" else []
        for participant_id in sorted({*by_hand, *(row["participant_id"] for row in reported)}):
            who = await load(unit, participant_id)
            fact = resolved_by_hand(who, step, unit.id_for("act"), unit.now, policy)
            if fact is not None and participant_id in by_hand:
                await unit.record(fact)
            over = issues.issues_over(who, step.thread_id)
            if over is not None and step.to_state == "resolved":
                await unit.record(over)


async def on_recorded(work: Work[FactRecorded]) -> None:
    """Give the new fact its vector, and let a near-duplicate of it become one with it."""
    (vector,) = await vectors_of_texts(work.app.database, work.app.embedder, [work.event.text])
    async with work.app.database.reading() as conn:
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


async def _similarity(work: Work[FactRecorded], unit: Unit, facts: Sequence[Fact]) -> consequences.Similarity:
    """The cosine of two of these facts' sentences; every vector is in the cache already."""
    vectors = await embed_cached(unit.conn, work.app.embedder, [one.text for one in facts])
    by_fact = {one.fact_id: vector for one, vector in zip(facts, vectors, strict=True)}
    return lambda one, other: float(by_fact[one.fact_id] @ by_fact[other.fact_id])


async def on_email(work: Work[EmailRead]) -> None:
    """Somebody whom we can trust to be who they say wrote to us; what is written now keeps the session alive."""
    mail, settings = work.event, work.app.settings
    heeded = mail.verdict.kind in ("answer", "human")
    if mail.participant_id is None or mail.author is None or not heeded or not mail.identity.trusted:
        return
    imported = mail.mode == "history"
    written = valid_from(mail.sent_at, work.envelope.time, history=True, learning=settings.learning)
    async with work.unit() as unit:
        who = await load_without_facts(unit, mail.participant_id)
        since = None if imported else await unit.one(PERSON.others_since, participant_id=mail.participant_id)
        moment = written if imported else unit.now
        event = person.seen(who, mail.author, moment, space=mail.space, others_since=since is not None)
        if event is not None:
            await unit.record(event.model_copy(update={"seen_at": written}) if imported else event)
        if imported:
            return
        for news in (person.come_back(who, unit.now), session.extended(who, unit.now, settings.session)):
            if news is not None:
                await unit.record(news)


async def on_profile(work: Work[ProfileRequested]) -> None:
    """A person sets or removes fields."""
    command = work.event
    async with work.unit() as unit:
        await unit.lock("participant", command.participant_id)
        rows = await unit.all(PERSON.profile, workspace=unit.workspace, participant_id=command.participant_id)
        event = person.change(command.participant_id, {row["field"]: row["value"] for row in rows}, command)
        if event is not None:
            await unit.record(event)


async def on_due(work: Work[MemoryRetentionDue]) -> None:
    """What of a participant's memory is older than it is to be kept goes, with the decisions about it."""
    days, who = work.app.settings.retention.facts_days, work.event.participant_id
    if not days:
        return
    async with work.unit() as unit:
        await unit.lock("participant", who)
        before = unit.now - timedelta(days=days)
        args = {"workspace": unit.workspace, "participant_id": who, "before": before}
        facts = expired([Age(**row) for row in await unit.all(FACTS.ages, **args)], before)
        relations = tuple(row["relation_id"] for row in await unit.all(FACTS.old_relations, **args))
        refusals = await unit.one(FACTS.old_refusals, **args)
        if facts or relations or (refusals and refusals["there"]):
            await unit.record(MemoryExpired(participant_id=who, before=before, fact_ids=facts, relation_ids=relations))
        old = await unit.one(PERSON.old_brief, **args)
        if old is not None:
            await unit.record(brief.expired(who, old["newer"]))


HANDLERS: Handlers = {
    ProfileRequested: on_profile,
    ParticipantStateRequested: on_state_asked,
    ParticipantMergeRequested: on_merge_asked,
    ParticipantSplitRequested: on_split,
    EmailRead: on_email,
    ReplyDrafted: on_draft,
    TurnReflected: on_reflected,
    StateChanged: on_thread_step,
    FactRequested: on_request,
    BriefRequested: on_brief_asked,
    FactRecorded: on_recorded,
    MemoryRetentionDue: on_due,
}
