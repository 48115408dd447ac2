"""Asking the model from within a handler: each answer is kept at once and never asked for again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol

from schemas.events.replies import ContextLayer, TokenUsage
from services.core.app import App
from services.core.clock import monotonic
from services.core.outages.model import note
from services.model.breaker import ModelPaused
from services.model.port import Answer, Layer, Request
from services.model.prompt import fingerprint
from services.model.recorded import ASKED, answer_from_json, answer_to_json, step_of
from services.model.usage import sum_usage


class Asking(Protocol):
    """Who asks: the work on an event, which keeps each answer, or a trial, which keeps none."""

    @property
    def app(self) -> App:
        """The deployment whose model is asked."""

    async def checkpoint(self, step: str, ask: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """The answer of `ask`, or the one that was kept of it."""


async def ask(work: Asking, request: Request) -> Answer:
    """The model's answer to `request` within what is being handled."""

    async def call() -> dict[str, Any]:
        began, outcome, metrics = monotonic(), "failed", work.app.metrics
        try:
            answer = await work.app.model.ask(request)
            outcome = "answered"
            metrics.used_tokens(request.purpose, answer.usage, work.app.settings.model.dollars(answer.usage))
            return answer_to_json(answer) | {ASKED: fingerprint(request)}
        except ModelPaused:
            outcome = "paused"
            raise
        finally:
            metrics.asked_model(request.purpose, outcome, monotonic() - began)
            await note(work.app)

    return answer_from_json(await work.checkpoint(step_of(request), call))


def as_layer(layer: ContextLayer) -> Layer:
    """A layer of the event as the port takes it."""
    return Layer(**layer.model_dump(include={"name", "text", "items", "shared", "trusted", "about"}))


def token_usage(answers: Iterable[Answer]) -> TokenUsage:
    """What some answers cost together."""
    told = list(answers)
    total = sum_usage(answer.usage for answer in told)
    return TokenUsage(
        calls=len(told),
        input=total.input,
        output=total.output,
        cache_read=total.cache_read,
        cache_write=total.cache_write,
    )
