"""What the agent would answer to a question that nobody asked: with its real prompt, tools and rules, nothing stored.

There is no mail, no thread and no person: the model is shown who it is, its rules, the day, what our documents say and
the question, and is asked as it is for a suggestion, so that no tool notes anything. No answer is kept or sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from schemas.events.replies import ChosenSetting, MemoryLoaded
from services.core.app import App
from services.core.clock import random_id
from services.core.errors import Permanent
from services.core.settings import InboxSettings, shaped
from services.generate_reply.trial import Trial, try_draft
from services.load_memory.handler import load_layers
from services.load_memory.layers import behaviours, knowledge, mail, persona, today
from services.load_memory.turn import MailToAnswer, Turn
from services.memory.embeddings import meanings

LAYERS = (persona, behaviours, today, knowledge, mail)  # those that need no person and no thread, in their order
LONGEST = 2000  # characters of a question
TRIALS_PER_MINUTE = 6  # of one user: each is paid for


class InboxUnknown(Permanent):
    """There is no inbox of this name."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that the model was shown; `cited`: the answer says that it rests on it."""

    chunk_id: UUID
    title: str
    heading: str
    text: str
    score: float
    cited: bool


@dataclass(frozen=True, slots=True)
class TriedAnswer:
    """What would be answered, and the passages that the model was shown."""

    answer: Trial
    passages: tuple[Found, ...]


async def try_answer(app: App, inbox_name: str, question: str) -> TriedAnswer:
    """Ask the model. Raises `InboxUnknown`, `TimeoutError`, and what model and embedder raise where they are away."""
    inbox = app.settings.known_inbox(inbox_name)
    if inbox is None:
        raise InboxUnknown(f"there is no inbox {inbox_name}")
    event = await _context(app, inbox, question)
    answer = await try_draft(app, event, str(random_id()))
    shown = [item for layer in event.layers if layer.name == knowledge.NAME for item in layer.items]
    return TriedAnswer(answer, tuple(_found(item, item["id"] in answer.citations) for item in shown))


async def _context(app: App, inbox: InboxSettings, question: str) -> MemoryLoaded:
    """What the model is shown: of an author who is nobody, so that nothing is remembered or told of anybody."""
    (meaning,) = await meanings(app.embedder, [question])
    chosen = shaped(app.settings, inbox)
    asked = MailToAnswer(
        mail_id=random_id(),
        participant_id=None,
        message_id="",
        subject="",
        text=question,
        quoted="",
        signature="",
        author_name="",
        author_addr="",
        received_at=app.now(),
        language="",
        flags=[],
        attachments=[],
    )
    turn = Turn(
        app=app,
        workspace=app.settings.workspace,
        now=app.now(),
        thread_id=random_id(),
        participant_id=None,
        inbox=inbox,
        mails=(asked,),
        meaning=meaning,
        recalls=False,
        chosen=chosen,
    )
    return MemoryLoaded(
        turn_id=random_id(),
        thread_id=turn.thread_id,
        participant_id=None,
        inbox=inbox.name,
        mail_ids=(),
        trusted=False,
        layers=tuple(await load_layers(LAYERS, turn)),
        purpose="suggestion",
        settings={name: ChosenSetting(value=one.value, source=one.source) for name, one in chosen.items()},
    )


def _found(item: dict[str, Any], cited: bool) -> Found:
    named = {name: item[name] for name in ("title", "heading", "text", "score")}
    return Found(chunk_id=UUID(item["id"]), cited=cited, **named)
