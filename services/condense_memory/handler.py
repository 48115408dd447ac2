"""A period that ended is told once, by one checkpointed call of the model; what facts take along that go, goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schemas.events.periods import PeriodCondensed, PeriodEnded, PeriodsExpired, PeriodsRetentionDue, ShownRow
from schemas.events.retention import MemoryExpired
from schemas.model_output import tool_schema
from services.condense_memory.apply import SQL
from services.condense_memory.instructions import TASK, instructions
from services.condense_memory.judge import judged
from services.core.bus.checkpointed_model import ask, token_usage
from services.core.bus.processor import Handlers
from services.core.bus.work import Work
from services.core.db import fetch_one
from services.mail.masking import mask
from services.memory.condensed import PeriodRow, rows_of
from services.memory.grains import UNITS, kept_since
from services.model.port import Layer, Request, Tool
from services.model.prompt import make_fence

TOO_FEW = "too few rows are left"


async def on_ended(work: Work[PeriodEnded]) -> None:
    """Tell the period, or note that too little is left of it, so that it waits for nobody. Told before, it stays."""
    event, settings = work.event, work.app.settings.condense
    of = event.model_dump(include={"participant_id", "grain", "period", "starts_at", "ends_at"})
    async with work.reading() as conn:
        told = await fetch_one(conn, SQL.told, of)
        rows = await rows_of(conn, event.participant_id, event.starts_at, event.ends_at, work.now)
        where = await fetch_one(conn, SQL.inbox, of)
    if told:
        return
    inbox = str(where["inbox"]) if where else ""
    condensed = PeriodCondensed(**of, inbox=inbox, dropped=(TOO_FEW,))
    if len(rows) >= settings.rows_from:
        condensed = await _told(work, condensed, rows)
    async with work.unit() as unit:
        await unit.lock("periods", event.participant_id)
        if await unit.one(SQL.told, **of) is None:
            await unit.record(condensed)


async def on_memory_expired(work: Work[MemoryExpired]) -> None:
    """What rests on facts that are kept no longer is kept no longer."""
    gone = PeriodsExpired(participant_id=work.event.participant_id, fact_ids=work.event.fact_ids)
    async with work.unit() as unit:
        await unit.lock("periods", gone.participant_id)
        if await unit.one(SQL.rests_on, participant_id=gone.participant_id, fact_ids=list(gone.fact_ids)):
            await unit.record(gone)


async def on_retention_due(work: Work[PeriodsRetentionDue]) -> None:
    """What has had its time goes, the finest first; what no coarser period tells of yet is hidden, and stays."""
    due, keep = work.event, work.app.settings.retention.periods
    since = [kept_since(grain, due.due_at, keep) for grain in UNITS]
    async with work.unit() as unit:
        await unit.lock("periods", due.participant_id)
        args = {"participant_id": due.participant_id, "grains": list(UNITS), "since": since}
        if ids := tuple(row["period_id"] for row in await unit.all(SQL.outlived, **args)):
            await unit.record(PeriodsExpired(participant_id=due.participant_id, fact_ids=(), period_ids=ids))


async def _told(work: Work[PeriodEnded], condensed: PeriodCondensed, rows: Sequence[PeriodRow]) -> PeriodCondensed:
    settings = work.app.settings.condense
    shown = sorted(sorted(rows, key=lambda row: -row.weight)[: settings.rows_shown], key=lambda row: row.at)
    answer = await ask(work, _request(work, condensed.inbox, shown))
    sentences, dropped = judged(answer, shown, settings.sentences)
    return condensed.model_copy(
        update={
            "sentences": sentences,
            "rows": tuple(ShownRow(id=row.id, mark=row.mark) for row in shown),
            "left_out": len(rows) - len(shown),
            "dropped": dropped,
            "model": answer.model,
            "usage": token_usage([answer]),
        }
    )


def _request(work: Work[Any], inbox: str, rows: Sequence[PeriodRow]) -> Request:
    event, settings = work.event, work.app.settings
    items = tuple({"id": str(row.id), "at": row.at.isoformat(), "text": mask(row.told).text} for row in rows)
    lines = (f"- [{row.id}] {row.at:%Y-%m-%d}: {item['text']}" for row, item in zip(rows, items, strict=True))
    return Request(
        purpose="condense",
        system=instructions(settings, inbox, event.grain),
        layers=(Layer("rows", "\n".join(lines), items, trusted=False),),
        task=TASK.format(period=event.period, sentences=settings.condense.sentences),
        tools=(Tool("tell", "Tell the period.", tool_schema("tell")),),
        must_call="tell",
        fence=make_fence(work.app.secret, str(work.envelope.id)),
        max_tokens=settings.condense.answer_tokens,
    )


HANDLERS: Handlers = {
    PeriodEnded: on_ended,
    MemoryExpired: on_memory_expired,
    PeriodsRetentionDue: on_retention_due,
}
