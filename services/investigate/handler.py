"""An investigation goes on by its own events: a round is one checkpointed call of the model, and causes the next.

What is stored of a round is stored with its answer, in one transaction. A process that dies between two rounds asks
nothing twice; one that dies within a round finds the answer in the checkpoint.
"""

from __future__ import annotations

from typing import Any

from schemas.events.base import EventData
from schemas.events.investigations import (
    CallResult,
    InvestigationClosed,
    InvestigationOpened,
    InvestigationRequested,
    InvestigationsExpired,
    InvestigationsRetentionDue,
    InvestigationStopRequested,
    Outcome,
    ProposalDecided,
    ProposalDecisionRequested,
    Proposed,
    RoundTaken,
)
from schemas.events.marks import ThreadMarksRequested
from schemas.events.memory import BriefRequested, FactRequested
from schemas.model_output import TOOL_INPUTS, tool_schema
from services.core.bus.checkpointed_model import ask, token_usage
from services.core.bus.processor import Handlers
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.db import fetch_all, fetch_one, row_as, rows_as
from services.core.storable import storable
from services.investigate.apply import SQL
from services.investigate.assemble import (
    LAST,
    SYSTEM,
    TASK,
    Folder,
    Known,
    KnownFact,
    KnownIssue,
    Message,
    Person,
    assembled,
)
from services.investigate.closing import Ending, Meanwhile, closed, ending_of, note_for_people, quoted_mails
from services.investigate.folder import Tree, changes, listing
from services.investigate.story import Story, story_of
from services.investigate.tool_calls import TOOLS, OpenFolder, run_calls
from services.memory.embeddings import meanings
from services.memory.knowledge import Passage, search_knowledge
from services.model.port import Answer, Layer, Request, Tool
from services.model.prompt import make_fence
from services.model.recorded import answer_to_json

KIND = "investigations"
BY = "investigation"  # who leaves the note


async def on_requested(work: Work[InvestigationRequested]) -> None:
    """Open it with the folder as it is now, or refuse; the same request again changes nothing."""
    asked, settings = work.event, work.app.settings.investigate
    found = await _found(work) if settings.enabled else "investigations are off: set investigate.enabled"
    ids = {"participant_id": asked.participant_id, "investigation_id": asked.investigation_id}
    async with work.unit() as unit:
        await unit.lock(KIND, asked.participant_id)
        if await unit.one(SQL.one, **ids):
            return
        row = await unit.one(SQL.open_ones, **ids)
        if row and row["n"] >= settings.at_once:
            found = f"{row['n']} investigations of this person are open (investigate.at_once)"
        await unit.record(_unworked(asked, "refused", found) if isinstance(found, str) else found)


async def on_opened(work: Work[InvestigationOpened]) -> None:
    """The first round."""
    await _take_round(work, taken=0)


async def on_round(work: Work[RoundTaken]) -> None:
    """The next round, unless it is over."""
    await _take_round(work, taken=work.event.number)


async def on_stop(work: Work[InvestigationStopRequested]) -> None:
    """No further round; what is in the scratchpad by now is kept."""
    asked = work.event
    async with work.unit() as unit:
        await unit.lock(KIND, asked.participant_id)
        story = await story_of(unit.conn, work.workspace, asked.participant_id, asked.investigation_id)
        if story:
            ending = Ending("stopped", None, f"{asked.by} stopped it", len(story.rounds), story.usage)
            await _close(work, unit, story.opened, story.tree, ending)


async def on_decision(work: Work[ProposalDecisionRequested]) -> None:
    """An accepted proposal is asked for as the person's own change, which learn_facts accepts or refuses."""
    asked = work.event
    ids = asked.model_dump(include={"participant_id", "investigation_id", "proposal_id"})
    async with work.unit() as unit:
        await unit.lock(KIND, asked.participant_id)
        row = await unit.one(SQL.proposal, **ids)
        if row is None or row["state"] != "waiting":
            return
        proposed = Proposed.model_validate({**row["content"], "proposal_id": asked.proposal_id})
        request = await unit.record(_change(asked, proposed)) if asked.accept else None
        decided = ProposalDecided(**ids, accepted=asked.accept, by=asked.by, request_id=request.id if request else None)
        await unit.record(decided)


async def on_retention_due(work: Work[InvestigationsRetentionDue]) -> None:
    """The words of those that ended before the moment go."""
    due = work.event
    async with work.unit() as unit:
        await unit.lock(KIND, due.participant_id)
        rows = await unit.all(SQL.old_ones, participant_id=due.participant_id, before=due.before)
        if ids := tuple(row["investigation_id"] for row in rows):
            await unit.record(InvestigationsExpired(participant_id=due.participant_id, investigation_ids=ids))


async def give_up(unit: Unit, error: BaseException) -> bool:
    """An investigation whose round cannot be taken has failed, and says so on its thread."""
    data = unit.cause.data
    if not isinstance(data, InvestigationRequested | InvestigationOpened | RoundTaken):
        return False
    await unit.lock(KIND, data.participant_id)
    row = await unit.one(SQL.one, participant_id=data.participant_id, investigation_id=data.investigation_id)
    thread = row["of_thread"] if row else getattr(data, "thread_id", None)
    if thread is None:
        return False
    if row is None or row["state"] == "open":
        end = InvestigationClosed(
            investigation_id=data.investigation_id,
            participant_id=data.participant_id,
            thread_id=thread,
            outcome="failed",
            question=getattr(data, "question", ""),
            by=getattr(data, "by", ""),
            reason=storable(f"{type(error).__name__}: {error}"[:500]),
            rounds=row["rounds"] if row else 0,
        )
        await unit.record(end)
        await unit.record(_note(end))
    return True


async def _found(work: Work[InvestigationRequested]) -> InvestigationOpened | str:
    """The investigation with its folder, or why there is none."""
    asked = work.event
    async with work.reading() as conn:
        thread = await fetch_one(conn, SQL.thread, asked.model_dump(include={"thread_id", "participant_id"}))
    if thread is None:
        return "there is no such thread"
    if not thread["wrote"]:
        return "nobody proven wrote in this thread: of whom nothing proves, nothing is known"
    folder, brief = await _folder(work, str(thread["inbox"]))
    return InvestigationOpened(
        investigation_id=asked.investigation_id,
        participant_id=asked.participant_id,
        thread_id=asked.thread_id,
        inbox=str(thread["inbox"]),
        question=asked.question,
        by=asked.by,
        files=folder.files,
        mail_ids=folder.mail_ids,
        fact_ids=folder.fact_ids,
        brief=brief,
    )


async def _folder(work: Work[InvestigationRequested], inbox: str) -> tuple[Folder, str]:
    """The folder, and the version of the brief in it."""
    asked, settings = work.event, work.app.settings.investigate
    passages = await _passages(work, inbox)
    args = {"participant_id": asked.participant_id, "workspace": work.workspace, "now": work.now}
    async with work.reading() as conn:
        brief = await fetch_one(conn, SQL.brief, args)
        known = Known(
            person=await row_as(conn, Person, SQL.person, args),
            profile={row["field"]: str(row["value"]) for row in await fetch_all(conn, SQL.profile, args)},
            issues=await rows_as(conn, KnownIssue, SQL.issues, args),
            brief=brief["text"] if brief else "",
            facts=await rows_as(conn, KnownFact, SQL.facts, args),
            messages=await rows_as(conn, Message, SQL.messages, {**args, "most": settings.messages}),
            kept={row["path"]: row["text"] for row in await fetch_all(conn, SQL.kept, args)},
            passages=passages,
        )
    return assembled(known, asked.thread_id, settings.folder_bytes), brief["version"] if brief else ""


async def _passages(work: Work[InvestigationRequested], inbox: str) -> list[Passage]:
    app, question = work.app, work.event.question
    if not app.settings.investigate.passages:
        return []
    (meaning,) = await meanings(app.embedder, [question or " "])
    async with work.reading() as conn:
        return await search_knowledge(
            conn,
            workspace=work.workspace,
            space=app.settings.space_of(inbox),
            query_text=question,
            meaning=meaning,
            limit=app.settings.investigate.passages,
        )


async def _take_round(work: Work[InvestigationOpened] | Work[RoundTaken], taken: int) -> None:
    event, settings = work.event, work.app.settings.investigate
    async with work.reading() as conn:
        story = await story_of(conn, work.workspace, event.participant_id, event.investigation_id)
    if story is None or len(story.rounds) != taken:
        return
    answer = await ask(work, _request(work, story))
    worked = run_calls(story.tree, answer.calls, settings)
    this = _round(story, answer, worked, settings.rounds)
    ending = ending_of(story, this, answer, worked, settings)
    async with work.unit() as unit:
        await unit.lock(KIND, event.participant_id)
        row = await unit.one(SQL.one, participant_id=event.participant_id, investigation_id=event.investigation_id)
        stored = await unit.record(this)
        if row is None or row["state"] != "open":  # it was stopped while the model wrote
            unit.mark_done(stored)
        elif ending:
            unit.mark_done(stored)
            await _close(work, unit, story.opened, worked.tree, ending)


async def _close(work: Work[Any], unit: Unit, opened: InvestigationOpened, tree: Tree, ending: Ending) -> None:
    args = {"participant_id": opened.participant_id, "mail_ids": quoted_mails(ending.finish)}
    kept = {row["path"]: row["text"] for row in await unit.all(SQL.kept, **args)}
    mails = {row["mail_id"]: row["text"] for row in await unit.all(SQL.quotable, **args)}
    end = closed(opened, tree, ending, Meanwhile(mails, kept, work.app.settings.learning.brief_words))
    await unit.record(end)
    await unit.record(_note(end))


def _request(work: Work[Any], story: Story) -> Request:
    settings, opened = work.app.settings.investigate, story.opened
    files = tuple({"path": one.path, "text": one.text} for one in opened.files)
    found = {one.path: one.text or "" for one in opened.files}
    folder = f"{found.get('AGENTS.md', '')}\n\n{listing(found)}"
    return Request(
        purpose="investigate",
        system=SYSTEM,
        layers=(Layer("question", opened.question), Layer("folder", folder, files, trusted=False)),
        task=TASK.format(rounds=settings.rounds),
        tools=tuple(Tool(name, (TOOL_INPUTS[name].__doc__ or "").strip(), tool_schema(name)) for name in TOOLS),
        must_call="finish" if len(story.rounds) + 1 >= settings.rounds else "",
        history=story.exchanges,
        fence=make_fence(work.app.secret, str(opened.investigation_id)),
        max_tokens=settings.answer_tokens,
    )


def _round(story: Story, answer: Answer, worked: OpenFolder, rounds: int) -> RoundTaken:
    number = len(story.rounds) + 1
    return RoundTaken(
        investigation_id=story.opened.investigation_id,
        participant_id=story.opened.participant_id,
        number=number,
        answer=answer_to_json(answer),
        results=_with_warning(worked.results) if number + 1 == rounds else tuple(worked.results),
        edits=changes(story.tree, worked.tree),
        usage=token_usage([answer]),
    )


def _with_warning(results: list[CallResult]) -> tuple[CallResult, ...]:
    """The answers to the last calls but one; not every model can be forced to call a tool."""
    return tuple(
        one.model_copy(update={"content": f"{one.content}\n{LAST}"}) if place == len(results) else one
        for place, one in enumerate(results, 1)
    )


def _unworked(asked: InvestigationRequested, outcome: Outcome, reason: str) -> InvestigationClosed:
    said = asked.model_dump(include={"investigation_id", "participant_id", "thread_id", "question", "by"})
    return InvestigationClosed(**said, outcome=outcome, reason=reason)


def _note(end: InvestigationClosed) -> ThreadMarksRequested:
    return ThreadMarksRequested(thread_id=end.thread_id, note=note_for_people(end), note_trigger="ai", by=BY)


def _change(asked: ProposalDecisionRequested, proposed: Proposed) -> EventData:
    """The request that an accepted proposal becomes."""
    who: dict[str, Any] = {"participant_id": asked.participant_id, "by": asked.by}
    if proposed.op == "brief":
        return BriefRequested(**who, op="edit", text=proposed.text, base=proposed.base)
    said = proposed.model_dump(include={"op", "fact_id", "kind", "key", "value", "text"})
    return FactRequested(**who, **said)


HANDLERS: Handlers = {
    InvestigationRequested: on_requested,
    InvestigationOpened: on_opened,
    RoundTaken: on_round,
    InvestigationStopRequested: on_stop,
    ProposalDecisionRequested: on_decision,
    InvestigationsRetentionDue: on_retention_due,
}
