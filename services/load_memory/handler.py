"""Loads all layers in parallel and puts the assembled context on the log."""

from __future__ import annotations

import asyncio
from types import ModuleType
from typing import Any, Literal

from schemas.events.replies import ChosenSetting, ContextLayer, MemoryLoaded
from schemas.events.suggestions import SuggestionAsked
from schemas.events.threads import AppliedBehaviour, TurnOpened
from services.core.bus.processor import Handlers
from services.core.bus.work import Work
from services.core.memory.embeddings import meanings
from services.core.memory.questions import asked
from services.core.settings import context_of, shaped
from services.load_memory.layers import LAYERS
from services.load_memory.section import fit
from services.load_memory.turn import Turn, addresses_of, count_earlier, load_mails, query_of, recalls

Purpose = Literal["reply", "suggestion"]


async def on_turn_opened(work: Work[TurnOpened]) -> None:
    """Assemble the context of a live turn; history is learned from, not answered."""
    event = work.event
    if event.mode == "history":
        return
    await _load(work, event.behaviours, "reply")


async def on_suggestion_asked(work: Work[SuggestionAsked]) -> None:
    """The same context, for what the agent would answer where a person has the thread."""
    await _load(work, work.event.behaviours, "suggestion")


async def _load(work: Work[Any], behaviours: tuple[AppliedBehaviour, ...], purpose: Purpose) -> None:
    event = work.event
    turn = await prepare(work, behaviours)
    layers = await asyncio.gather(*(load_layer(layer, turn) for layer in LAYERS))
    async with work.unit() as unit:
        await unit.record(
            MemoryLoaded(
                turn_id=event.turn_id,
                thread_id=event.thread_id,
                participant_id=event.participant_id,
                inbox=event.inbox,
                mail_ids=event.mail_ids,
                trusted=event.trusted,
                layers=tuple(layers),
                purpose=purpose,
                settings={name: ChosenSetting(value=one.value, source=one.source) for name, one in turn.chosen.items()},
            )
        )


async def prepare(work: Work[Any], behaviours: tuple[AppliedBehaviour, ...] = ()) -> Turn:
    """Read the turn's mails and embed what they ask."""
    event, house = work.event, work.house
    async with work.reading() as conn:
        mails = await load_mails(conn, list(event.mail_ids))
        earlier = await count_earlier(conn, event.thread_id, list(event.mail_ids))
        addresses = await addresses_of(conn, work.workspace, event.participant_id if event.trusted else None)
    inbox = house.settings.inbox(event.inbox)
    address = mails[-1]["author_addr"] if event.trusted and mails else ""
    chosen = shaped(house.settings, inbox, address, [(f"turn {one.name}", one.set) for one in behaviours])
    text = "\n\n".join(mail["text"] for mail in reversed(mails))
    wanted = recalls(context_of(house.settings, chosen), text, earlier, work.now)
    questions = asked(text, work.now, house.settings.recall.questions) if wanted else ()
    texts = [query_of(mails, 2000), *(one.words for one in questions)]
    meaning, *others = await meanings(house.embedder, texts)
    return Turn(
        house=house,
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


async def load_layer(layer: ModuleType, turn: Turn) -> ContextLayer:
    """One layer within its budget, read in a view of its own."""
    async with turn.house.database.transaction(turn.workspace) as conn:
        found = await layer.load(turn, conn)
    return fit(layer.NAME, found, layer.budget(turn), shared=layer.SHARED, trusted=layer.TRUSTED)


HANDLERS: Handlers = {TurnOpened: on_turn_opened, SuggestionAsked: on_suggestion_asked}
