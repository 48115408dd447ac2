"""What the model would write for a context: asked as a turn asks, and thrown away.

Nothing of it is stored, recorded or sent: answers are kept nowhere, and tools change nothing but the desk. What it
costs is counted in the metrics, as every question to the model is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from schemas.events.replies import MemoryLoaded, TokenUsage
from services.core.app import App
from services.core.bus.checkpointed_model import token_usage
from services.core.db import fetch_all
from services.generate_reply.conversation import ModelDeclined, NoDecision, rounds_of
from services.generate_reply.handler import SQL, desk_of
from services.generate_reply.prompt import opening
from services.model.port import Answer
from services.model.usage import Unpriced, priced

LONGEST_S = 120.0  # of all rounds together


@dataclass(frozen=True, slots=True)
class Trial:
    """What would be decided, or why nothing would be; with what asking cost, as `services.model.usage.priced` says."""

    decision: str  # reply, no_reply, escalate, or "" where there is none
    text: str
    reason: str
    citations: tuple[str, ...]
    refused_calls: tuple[str, ...]
    model: str
    usage: TokenUsage
    dollars: float | None
    unpriced: Unpriced


@dataclass(frozen=True, slots=True)
class _Unkept:
    """Stands where a turn has its work: each answer is asked for, and kept nowhere."""

    app: App

    async def checkpoint(self, step: str, ask: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        return await ask()


async def try_draft(app: App, event: MemoryLoaded, fence: str) -> Trial:
    """Let the model decide on a context; `fence` names the trial, and makes the delimiter of what others wrote.

    Raises `TimeoutError`, and what asking the model raises where it is away.
    """
    async with app.database.reading() as conn:
        mails = await fetch_all(conn, SQL.mails, {"mail_ids": list(event.mail_ids)})
    desk, reason = desk_of(app, event, mails, now=app.now()), ""
    rounds = event.setting("tool_rounds", app.settings.context.tool_rounds)
    answers: list[Answer] = []
    try:
        async with asyncio.timeout(LONGEST_S):
            async for _, answer in rounds_of(_Unkept(app), opening(event, fence, app.secret), desk, rounds):
                answers.append(answer)
    except (ModelDeclined, NoDecision) as error:
        reason = str(error)
    decided, usage, model = desk.decision, token_usage(answers), answers[-1].model if answers else ""
    dollars, unpriced = priced(app.settings.model, model, usage)
    return Trial(
        decision=decided.kind if decided else "",
        text=decided.text if decided else "",
        reason=decided.reason if decided else reason,
        citations=tuple(decided.citations) if decided else (),
        refused_calls=tuple(desk.refused),
        model=model,
        usage=usage,
        dollars=dollars,
        unpriced=unpriced,
    )
