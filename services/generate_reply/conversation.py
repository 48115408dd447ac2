"""The rounds with the model: it calls tools, each call is validated and run, until one of them ends the turn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import structlog
from pydantic import ValidationError

from schemas.events.replies import AgentAct
from schemas.model_output import TOOL_INPUTS
from services.core.bus.checkpointed_model import Asking, ask
from services.core.errors import Permanent
from services.generate_reply.desk import Desk
from services.generate_reply.tools import LOOKUPS, TOOLS
from services.generate_reply.tools.refusal import CallRefused
from services.mail.masking import mask
from services.model.port import Answer, Exchange, Request, ToolCall, ToolResult

log = structlog.get_logger(__name__)

MOST_CALLS = 16  # of one answer: a mail may order a thousand, and each is paid for again in every later round
MOST_SHOWN = 100_000  # characters that searches show in one turn, before the last one


class ModelDeclined(Permanent):
    """The model refused to answer this mail."""


class NoDecision(Permanent):
    """The model did not end the turn within its rounds."""


async def converse(work: Asking, request: Request, desk: Desk, rounds: int) -> list[Answer]:
    """Ask until `desk.decision` is set; every answer, in order. Raises `ModelDeclined` or `NoDecision`."""
    try:
        return [answer async for _, answer in rounds_of(work, request, desk, rounds)]
    finally:
        for refused in desk.refused:
            log.warning("tool call refused", call=refused)


async def rounds_of(work: Asking, request: Request, desk: Desk, rounds: int) -> AsyncIterator[tuple[Request, Answer]]:
    """Each question with its answer, until `desk.decision` is set. Raises `ModelDeclined` or `NoDecision`."""
    for _ in range(rounds):
        answer = await ask(work, request)
        yield request, answer
        if answer.stop == "refusal":
            raise ModelDeclined(f"the model declined: {answer.text[:300]}")
        results = await _run_calls(work, answer.calls, desk)
        if desk.decision is not None:
            return
        history = (*request.history, Exchange(answer, tuple(results)))
        request = replace(request, history=history, must_call="" if answer.calls else "reply")
    raise NoDecision(f"the model did not decide within {rounds} rounds")


async def _run_calls(work: Asking, calls: Sequence[ToolCall], desk: Desk) -> list[ToolResult]:
    """The answers to the calls of one answer, in order; what is beyond `MOST_CALLS` is not run."""
    results = [await run_call(work, call, desk) for call in calls[:MOST_CALLS]]
    if beyond := calls[MOST_CALLS:]:
        desk.refused.append(f"{len(beyond)} calls more than {MOST_CALLS} in one answer")
        results += [ToolResult(call.id, f"at most {MOST_CALLS} calls in one answer", error=True) for call in beyond]
    return results


async def run_call(work: Asking, call: ToolCall, desk: Desk) -> ToolResult:
    """Validate and run one call; a refusal goes back to the model and onto the draft."""
    try:
        content = await (_looked_up(work, call, desk) if call.name in LOOKUPS else _run(call, desk))
    except (CallRefused, ValidationError) as error:
        said = _in_words(error)
        desk.refused.append(f"{call.name}: {said}"[:500])
        return ToolResult(call.id, said, error=True)
    return ToolResult(call.id, content)


async def _looked_up(work: Asking, call: ToolCall, desk: Desk) -> str:
    """What a search found, masked, and kept so that a second attempt reads the same conversation."""

    async def look() -> dict[str, Any]:
        before, sendable = set(desk.passages), set(desk.sendable)
        content = mask(await _run(call, desk)).text
        acts = [one.model_dump() for one in desk.acts[done:]]
        new = {"passages": sorted(desk.passages - before), "sendable": sorted(desk.sendable - sendable)}
        return {"content": content, "acts": acts, **new}

    if desk.characters_shown >= MOST_SHOWN:
        raise CallRefused("enough has been looked up for this mail: decide with what you know, or escalate")
    done = len(desk.acts)
    kept = await work.checkpoint(f"tool.{call.id}", look)
    desk.passages.update(kept.get("passages", ()))
    desk.sendable.update(kept.get("sendable", ()))
    desk.acts[done:] = [AgentAct.model_validate(one) for one in kept.get("acts", ())]
    desk.characters_shown += len(kept["content"])
    if call.name == "search_knowledge":
        desk.looked_up.append(str(kept["content"]))
    return str(kept["content"])


async def _run(call: ToolCall, desk: Desk) -> str:
    if call.malformed:
        raise CallRefused(f"the input cannot be read: {call.malformed}")
    if call.name not in TOOLS:
        raise CallRefused(f"there is no tool named {call.name!r}")
    if desk.decision is not None:
        raise CallRefused("the turn has ended already")
    return await TOOLS[call.name](TOOL_INPUTS[call.name].model_validate(call.input), desk)


def _in_words(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())[:1000]
    return str(error)
