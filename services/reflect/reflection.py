"""One conversation with the model about a turn: at most two answers, of which one becomes the event.

The model is asked once more where its answer cannot be used, or where a quote that would change what is known stands in
nothing that was said. Each answer is a checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

import structlog

from schemas.events.memory import MailSignals, RelationProposal, TurnReflected
from schemas.events.replies import FactProposal
from schemas.model_output import FactOperation, Reflection, Room, reflection_schema
from services.core.bus.checkpointed_model import ask, token_usage
from services.core.bus.work import Work
from services.mail.masking import mask
from services.memory.facts import plain_key
from services.memory.quotes import find_quote
from services.model.port import Answer, Exchange, Request, Tool, ToolResult
from services.model.prompt import make_fence
from services.reflect.instructions import CONDENSE, about_briefs, instructions, task
from services.reflect.materials import Materials
from services.reflect.salvage import ReflectionUnusable, salvage
from services.reflect.turn import Turn

log = structlog.get_logger(__name__)

MISQUOTED = "{facts}: the quote stands in nothing that was said: copy the words exactly, or leave the fact out"
CONDENSED = 2  # what part of its room a condensed summary may have


async def reflect_on(work: Work[Any], turn: Turn, materials: Materials) -> TurnReflected:
    """What the model makes of the turn. It is told once what was wrong, and has twice the room then."""
    learning = work.app.settings.learning
    room = Room(learning.summary_words // (CONDENSED if materials.condense else 1), learning.brief_words)
    request = _request(work, turn, materials)
    answers: list[Answer] = []
    why: list[str] = []
    usable: tuple[Reflection, list[str]] | None = None
    for times in (1, 2):
        answer = await ask(work, replace(request, max_tokens=times * request.max_tokens))
        answers.append(answer)
        try:
            usable = _reflection(answer, room)
            wrong = misquoted(usable[0], materials)
        except ReflectionUnusable as error:
            wrong = f"reflection unusable: {error}"
        if not wrong:
            break
        why.append(wrong)
        results = tuple(ToolResult(one.id, wrong, error=True) for one in answer.calls)
        request = replace(request, history=(*request.history, Exchange(answer, results)))
    if usable is None:
        log.warning("no usable reflection", reasons=why)
        return event_of(turn, materials, None, why, answers)
    reflection, refused = usable
    return event_of(turn, materials, reflection, why + refused, answers)


def _reflection(answer: Answer, room: Room) -> tuple[Reflection, list[str]]:
    call = next((one for one in answer.calls if one.name == "reflect"), None)
    if call is None or call.malformed:
        raise ReflectionUnusable(call.malformed if call else f"no call of `reflect` (stop: {answer.stop})")
    return salvage(call.input, room)


def misquoted(reflection: Reflection, materials: Materials) -> str:
    """What to tell the model of quotes that stand nowhere, for facts that would change what is known; "" if none.

    It names them by number: a model's words are none of ours.
    """
    wrong = [
        f"facts.{number}"
        for number, one in enumerate(reflection.facts)
        if (one.op != "ADD" or plain_key(one.key) in materials.known_keys)
        if not any(find_quote(one.quote, text) for text in materials.said)
    ]
    return MISQUOTED.format(facts=", ".join(wrong)) if wrong else ""


def _condense(materials: Materials, words: int) -> str:
    return CONDENSE.format(messages=materials.condense, words=words) if materials.condense else ""


def _request(work: Work[Any], event: Turn, materials: Materials) -> Request:
    settings = work.app.settings
    learning = settings.learning
    return Request(
        purpose="reflect",
        system=instructions(settings, event.inbox),
        layers=materials.layers,
        task=task(event)
        + _condense(materials, learning.summary_words // CONDENSED)
        + about_briefs([one.by for one in materials.briefs if one.shown]),
        tools=(
            Tool(
                "reflect",
                (Reflection.__doc__ or "").strip(),
                reflection_schema(Room(learning.summary_words, learning.brief_words)),
            ),
        ),
        must_call="reflect",
        fence=make_fence(work.app.secret, str(work.envelope.id)),
        max_tokens=learning.answer_tokens,
    )


def event_of(
    event: Turn, materials: Materials, reflection: Reflection | None, refused: list[str], answers: list[Answer]
) -> TurnReflected:
    """The event of a reflection, or of none, with what the answers cost together."""
    common = {**_about(event), "model": answers[-1].model, "usage": token_usage(answers)}
    if reflection is None:
        return TurnReflected(**common, summary="", covers_to=0, refused=tuple(refused))
    proposal = reflection.participant
    return TurnReflected(
        **common,
        summary=reflection.summary,
        covers_to=materials.covers_to,
        facts=tuple(_proposals(reflection.facts, materials)) if event.trusted else (),
        relations=tuple(_relations(reflection)) if event.trusted else (),
        signals=MailSignals.model_validate(reflection.signals.model_dump()),
        participant_state=proposal.state if proposal else "",
        participant_state_reason=proposal.reason if proposal else "",
        brief=mask(reflection.brief).text if event.trusted else "",
        brief_bases=tuple(one.version for one in materials.briefs) if event.trusted else (),
        refused=tuple(refused),
    )


def covered(event: Turn) -> TurnReflected:
    """What is recorded where nothing is left to ask."""
    return TurnReflected(**_about(event), summary="", covers_to=0, refused=("a later turn of the thread covers it",))


def learned_before(event: Turn, early: TurnReflected) -> TurnReflected:
    """What is recorded of a turn that was learned from while its reply waited: how it ended, and nothing else."""
    return TurnReflected(**_about(event), summary="", covers_to=0, again=True, signals=early.signals)


def unlearned(event: Turn) -> TurnReflected:
    """What is recorded of a turn whose author is not proven: nothing is learned from their words, or summarized."""
    why = "nothing proves who wrote: nothing is learned"
    return TurnReflected(**_about(event), summary="", covers_to=0, refused=(why,))


def _about(event: Turn) -> dict[str, Any]:
    names = ("turn_id", "thread_id", "participant_id", "inbox", "mail_ids", "trusted", "outcome")
    return {name: getattr(event, name) for name in names}


def _proposals(operations: Iterable[FactOperation], materials: Materials) -> Iterable[FactProposal]:
    for one in operations:
        fields = one.model_dump(exclude={"op"})
        yield FactProposal(op=one.op.lower(), mail_id=_source(one.quote, materials), **fields)


def _source(quote: str, materials: Materials) -> UUID | None:
    for mail in reversed(materials.mails):
        if find_quote(quote, mail.text):
            return mail.mail_id
    return None


def _relations(reflection: Reflection) -> Iterable[RelationProposal]:
    for one in reflection.relations:
        yield RelationProposal.model_validate({**one.model_dump(), "op": one.op.lower()})
