"""What a model once said, said again: for replay, where no model may be asked.

An answer is found by the event that was handled and the step of the question. The JSON forms of requests,
answers and exchanges are the ones that the journal's checkpoints hold; they survive a round trip unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import TypeAdapter

from services.core.errors import Permanent
from services.model.port import Answer, Exchange, Request

Json = dict[str, Any]

_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)
_EXCHANGE: TypeAdapter[Exchange] = TypeAdapter(Exchange)
_REQUEST: TypeAdapter[Request] = TypeAdapter(Request)


class AnswerNeverRecorded(Permanent):
    """No answer is recorded for this event and step, and a replay asks no model."""


class Recording(Protocol):
    """Where recorded answers are kept."""

    async def find(self, event_id: str, step: str) -> Answer | None:
        """The answer recorded under the event and the step, or None."""
        ...


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """A model that answers the questions of one event from what was recorded."""

    recording: Recording
    event_id: str
    name: str = "recorded"

    async def ask(self, request: Request) -> Answer:
        """The recorded answer. Raises `AnswerNeverRecorded` if there is none."""
        step = step_of(request)
        answer = await self.recording.find(self.event_id, step)
        if answer is None:
            raise AnswerNeverRecorded(f"No answer is recorded for event {self.event_id}, step {step}.")
        return answer

    async def close(self) -> None:
        """Nothing is open."""


def step_of(request: Request) -> str:
    """The step of a question within its event, e.g. `model.reply.2`: its purpose and the rounds before it."""
    return f"model.{request.purpose}.{len(request.history)}"


def answer_to_json(answer: Answer) -> Json:
    """An answer as JSON data (objects, lists, strings, numbers), for a journal's `jsonb`."""
    return _dump(_ANSWER, answer)


def answer_from_json(data: Mapping[str, Any]) -> Answer:
    """The answer again. Raises pydantic's `ValidationError` if the data is none."""
    return _ANSWER.validate_python(data)


def exchange_to_json(exchange: Exchange) -> Json:
    """A finished round as JSON data."""
    return _dump(_EXCHANGE, exchange)


def exchange_from_json(data: Mapping[str, Any]) -> Exchange:
    """The round again. Raises pydantic's `ValidationError` if the data is none."""
    return _EXCHANGE.validate_python(data)


def request_to_json(request: Request) -> Json:
    """A request as JSON data, history included: with it a reply can be explained and asked again."""
    return _dump(_REQUEST, request)


def request_from_json(data: Mapping[str, Any]) -> Request:
    """The request again. Raises pydantic's `ValidationError` if the data is none."""
    return _REQUEST.validate_python(data)


def _dump(adapter: TypeAdapter[Any], value: object) -> Json:
    dumped: Json = adapter.dump_python(value, mode="json")
    return dumped
