"""Loads all layers in one view of the tables and puts the assembled context on the log."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, Literal

from schemas.events.mail import FORWARDED
from schemas.events.replies import ChosenSetting, ContextLayer, MemoryLoaded
from schemas.events.suggestions import SuggestionAsked
from schemas.events.threads import AppliedBehaviour, TurnOpened
from services.core.bus.processor import Handlers
from services.core.bus.work import Work
from services.core.settings import context_of, shaped
from services.load_memory.layers import LAYERS
from services.load_memory.repeats import Said
from services.load_memory.section import fit
from services.load_memory.turn import Turn, load_mails, load_turn, query_of, recalls
from services.memory.embeddings import meanings
from services.memory.questions import asked

Purpose = Literal["reply", "suggestion"]
Chosen = dict[str, ChosenSetting]
FIXED = ChosenSetting(value="template", source="inbox")  # who is not proven gets the inbox's fixed reply
NAMED = ChosenSetting(value="named", source="inbox")  # a forwarder that the inbox trusts names the author


async def on_turn_opened(work: Work[TurnOpened]) -> None:
    """Assemble the context of a live turn; history is learned from, not answered."""
    event = work.event
    if event.mode == "history":
        return
    treatment = await _treatment(work)
    if treatment.get("unproven") == FIXED:
        async with work.unit() as unit:
            await unit.record(_loaded(event, settings=treatment))
        return
    await _load(work, event.behaviours, "reply", treatment)


async def _treatment(work: Work[TurnOpened]) -> Chosen:
    """How an author whom nothing proves is answered; empty for one who is proven.

    With the inbox's fixed reply no model is asked. Whom a forwarder names that the inbox trusts is answered as usual,
    without any memory.
    """
    event, inbox = work.event, work.app.settings.known_inbox(work.event.inbox)
    if event.trusted:
        return {}
    async with work.reading() as conn:
        mails = await load_mails(conn, list(event.mail_ids))
    if all(FORWARDED in mail.flags for mail in mails):
        return {"unproven": NAMED}
    return {"unproven": FIXED} if inbox is not None and inbox.unproven == "template" else {}


async def on_suggestion_asked(work: Work[SuggestionAsked]) -> None:
    """The same context, for what the agent would answer where a person has the thread."""
    await _load(work, work.event.behaviours, "suggestion", own_words=work.event.words)


async def _load(
    work: Work[Any],
    behaviours: tuple[AppliedBehaviour, ...],
    purpose: Purpose,
    treatment: Chosen | None = None,
    own_words: str = "",
) -> None:
    event = work.event
    turn = replace(await prepare(work, behaviours), own_words=own_words)
    if event.mail_ids and not turn.mails:  # they went with their writer, who was erased before this was handled
        return
    layers = await load_layers(LAYERS, turn)
    async with work.unit() as unit:
        chosen = {name: ChosenSetting(value=one.value, source=one.source) for name, one in turn.chosen.items()}
        version = work.app.in_force.stored.version
        shaping = {"settings": {**chosen, **(treatment or {})}, "settings_version": version}
        await unit.record(_loaded(event, layers=tuple(layers), purpose=purpose, **shaping))


def _loaded(event: TurnOpened | SuggestionAsked, **loaded: Any) -> MemoryLoaded:
    """The event about one turn or suggestion."""
    of = event.model_dump(include={"turn_id", "thread_id", "participant_id", "inbox", "mail_ids", "trusted"})
    of |= {"by": event.by} if isinstance(event, SuggestionAsked) else {}
    return MemoryLoaded(**of, **{"layers": (), **loaded})


async def prepare(work: Work[Any], behaviours: tuple[AppliedBehaviour, ...] = ()) -> Turn:
    """Read the turn's mails and embed what they ask."""
    event, app = work.event, work.app
    async with work.reading() as conn:
        mails, earlier, addresses = await load_turn(conn, event, work.workspace)
    inbox = app.settings.inbox(event.inbox)
    address = mails[-1].author_addr if event.trusted and mails else ""
    chosen = shaped(app.settings, inbox, address, [(f"turn {one.name}", one.set) for one in behaviours])
    text = "\n\n".join(mail.text for mail in reversed(mails))
    wanted = recalls(context_of(app.settings, chosen), text, earlier, work.now)
    questions = asked(text, work.now, app.settings.recall.questions) if wanted else ()
    texts = [query_of(mails, 2000), *(one.words for one in questions)]
    meaning, *others = await meanings(app.embedder, texts)
    return Turn(
        app=app,
        workspace=work.workspace,
        now=work.now,
        thread_id=event.thread_id,
        participant_id=event.participant_id if event.trusted else None,
        inbox=inbox,
        mails=mails,
        meaning=meaning,
        asked=tuple(zip(questions, others, strict=True)),
        recalls=wanted,
        chosen=chosen,
        behaviours=behaviours,
        addresses=addresses,
    )


async def load_layers(layers: Sequence[ModuleType], turn: Turn) -> list[ContextLayer]:
    """Layers within their budgets, read side by side in one view of the tables. One that fails ends all.

    What one says, those after it do not repeat.
    """
    async with turn.app.database.snapshot(turn.workspace) as conn:
        loading = [asyncio.create_task(layer.load(turn, conn)) for layer in layers]
        try:
            found = await asyncio.gather(*loading)
        except BaseException:
            for task in loading:
                task.cancel()
            await asyncio.gather(*loading, return_exceptions=True)
            raise
    said, fitted = Said(mail.author_name for mail in turn.mails), []
    for layer, section in zip(layers, found, strict=True):
        marks = {"shared": layer.SHARED, "trusted": layer.TRUSTED, "about": layer.ABOUT}
        fitted.append(fit(layer.NAME, said.news(section), layer.budget(turn), **marks))
        said.add(fitted[-1])
    return fitted


HANDLERS: Handlers = {TurnOpened: on_turn_opened, SuggestionAsked: on_suggestion_asked}
