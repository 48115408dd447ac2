"""A desk, a model that says what it is told to, and the work around them: no database, no network."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, Literal
from uuid import UUID

from schemas.events.replies import ContextLayer, MemoryLoaded
from services.core.metrics import Metrics
from services.core.settings import ApprovalSettings, LearningSettings
from services.core.stored_settings import InForce
from services.generate_reply.desk import AnsweredMail, Desk
from services.model.port import Answer, Request, ToolCall, Usage
from services.model.settings import ModelSettings

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
FIRST, SECOND = UUID(int=11), UUID(int=12)
MAILS = (
    AnsweredMail(FIRST, "We have 40 seats.\nPlease help."),
    AnsweredMail(SECOND, "One more thing: we have 40 seats."),
)
REPLY = {"text": "Hello Ada.", "state": "awaiting_reply"}
VIP = {"state": "vip", "reason": "says so"}
FACT = {
    "kind": "customer_info",
    "key": "seats",
    "value": "40",
    "text": "Acme has 40 seats.",
    "quote": "40 seats",
    "importance": 6,
}


def loaded(*, trusted: bool = True, purpose: Literal["reply", "suggestion"] = "reply") -> MemoryLoaded:
    return MemoryLoaded(
        purpose=purpose,
        turn_id=UUID(int=1),
        thread_id=UUID(int=2),
        participant_id=UUID(int=3),
        inbox="support",
        mail_ids=(FIRST, SECOND),
        trusted=trusted,
        layers=(
            ContextLayer(name="thread", text="state: new", items=({"goals": ["Confirm the address"]},), trusted=False),
            ContextLayer(name="mail", text="Hi", trusted=False),
        ),
    )


def desk(*, trusted: bool = True, purpose: Literal["reply", "suggestion"] = "reply") -> Desk:
    learning = LearningSettings(quote_characters=60)
    settings = SimpleNamespace(learning=learning, approval=ApprovalSettings())
    app: Any = SimpleNamespace(settings=settings, in_force=InForce())
    return Desk(loaded(trusted=trusted, purpose=purpose), app=app, workspace="main", now=NOW, mails=MAILS)


def call(name: str, given: Any = None, *, id: str = "c1", malformed: str = "") -> ToolCall:
    return ToolCall(id, name, {} if given is None else given, malformed)


def answer(*calls: ToolCall, stop: str = "tool_use", text: str = "") -> Answer:
    return Answer(text, calls, stop, "told", Usage(input=1))


class Told:
    """A model that gives these answers, in order, and keeps what it was asked."""

    name = "told"
    state = SimpleNamespace(mode="closed", until=0.0)  # as of a circuit that nothing has opened
    noted = (False, 0.0)

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.asked: list[Request] = []

    async def ask(self, request: Request) -> Answer:
        self.asked.append(request)
        return self._answers.pop(0)


def work(model: Told, kept: dict[str, Any] | None = None) -> Any:
    """Work whose checkpoints are a dict."""
    answers: dict[str, Any] = {} if kept is None else kept

    async def checkpoint(step: str, ask: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        if step not in answers:
            answers[step] = await ask()
        found: dict[str, Any] = answers[step]
        return found

    return SimpleNamespace(
        app=SimpleNamespace(model=model, metrics=Metrics(), settings=SimpleNamespace(model=ModelSettings())),
        checkpoint=checkpoint,
    )
