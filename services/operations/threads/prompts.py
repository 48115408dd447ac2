"""What the model read before it decided: made again from the stored context and answers, by the code that made it then.

No prompt is stored: the context is, and each answer with a fingerprint of the request that it answered. So what is made
again is known to be what was sent, or known not to be. Nobody is asked, and nothing is looked up again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from schemas.events.replies import MemoryLoaded
from services.core.app import App
from services.core.bus.envelope import Envelope
from services.core.bus.work import Work
from services.core.db import fetch_all, queries
from services.core.keys import is_sealed
from services.generate_reply import PROCESSOR
from services.generate_reply.conversation import ModelDeclined, NoDecision, rounds_of
from services.generate_reply.handler import SQL as DRAFTING
from services.generate_reply.handler import desk_of
from services.generate_reply.prompt import opening
from services.model.port import Answer, Request
from services.model.prompt import Passage, fingerprint, in_words, passages
from services.model.recorded import ASKED, AnswerNeverRecorded, step_of
from services.model.settings import OFFLINE_NAME
from services.operations.retention.expired_events import BODIES, gone_since
from services.operations.threads.explanations import Told

SQL = queries(__file__, "prompts.sql")

# as_sent: the fingerprint of each request is that of the one that was sent. another: it is not. rebuilt: made of what
# is stored, and no fingerprint says whether it is what was sent. offline: the offline model read the same as data.
# no_model: nobody was asked. gone: its texts are not kept any more.
Standing = Literal["as_sent", "rebuilt", "another", "offline", "no_model", "gone"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that the model read in a turn, in order, and what it said last; `standing` says how sure that is.

    `cut`: answers of later rounds are not kept any more, so that what followed the first is not here.
    """

    thread_id: UUID
    turn_id: UUID
    at: datetime
    standing: Standing
    model: str
    passages: tuple[Passage, ...] = ()
    answer: str = ""
    cut: bool = False


class _Recorded(Work[MemoryLoaded]):
    """A context in the hands of whoever wrote the reply, whose answers are those that were kept."""

    def __init__(self, told: Envelope, app: App, answers: Mapping[str, dict[str, Any]]) -> None:
        super().__init__(told.data, told, PROCESSOR.name, app, {})  # type: ignore[arg-type]
        self.answers = answers

    async def checkpoint(self, step: str, ask: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        if step not in self.answers:
            raise AnswerNeverRecorded(f"the answer to {step} is not kept")
        return self.answers[step]


async def prompt_of(app: App, told: Told) -> Prompt:
    """The prompt of a turn, with the rounds of its conversation."""
    envelope = told.row.envelope()
    event = envelope.data
    assert isinstance(event, MemoryLoaded)
    models = [one.model for one in told.decisions]
    of: dict[str, Any] = {"thread_id": event.thread_id, "turn_id": event.turn_id, "at": envelope.time}
    if BODIES.name in gone_since(told.row.data):
        return Prompt(**of, standing="gone", model=models[-1] if models else "")
    if event.setting("unproven", "") == "template":
        return Prompt(**of, standing="no_model", model="")
    async with app.database.transaction(envelope.workspace) as conn:
        args = {"consumer": PROCESSOR.name, "event_id": envelope.id}
        kept = await fetch_all(conn, SQL.answers, args)
        mails = await fetch_all(conn, DRAFTING.mails, {"mail_ids": list(event.mail_ids)})
    work = _Recorded(envelope, app, {row["step"]: row["answer"] for row in kept if not is_sealed(row["answer"])})
    first = opening(event, str(envelope.id), app.secret)
    rounds = await _rounds(work, first, mails)
    request, answer = rounds[-1] if rounds else (first, None)
    model = answer.model if answer else next(iter(models), "")
    return Prompt(
        **of,
        standing=_standing(work, [one for one, _ in rounds], model),
        model=model,
        passages=passages(request),
        answer=in_words(answer) if answer else "",
        cut=len(rounds) < max((one.usage.calls for one in told.decisions), default=0),
    )


async def _rounds(work: _Recorded, first: Request, mails: list[dict[str, Any]]) -> list[tuple[Request, Answer]]:
    """Each request with its answer, as far as answers are kept."""
    event, found = work.event, []
    most = event.setting("tool_rounds", work.app.settings.context.tool_rounds)
    try:
        async for one in rounds_of(work, first, desk_of(work.app, event, mails, now=work.now), most):
            found.append(one)
    except (AnswerNeverRecorded, ModelDeclined, NoDecision):
        pass  # what came until then is what was sent
    return found


def _standing(work: _Recorded, requests: list[Request], model: str) -> Standing:
    if model == OFFLINE_NAME:
        return "offline"
    asked = [work.answers[step].get(ASKED) for step in map(step_of, requests)]
    if not asked or None in asked:
        return "rebuilt"
    return "as_sent" if asked == list(map(fingerprint, requests)) else "another"
