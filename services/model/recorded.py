"""What a model once said, as checkpoints keep it: found by the event that was handled and the step of the question.

The JSON form of an answer survives a round trip unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from services.core.errors import Permanent
from services.model.port import Answer, Request

Json = dict[str, Any]

ASKED = "asked"  # beside an answer: the fingerprint of the request, by which one that is made again is known to be it

_ANSWER: TypeAdapter[Answer] = TypeAdapter(Answer)


class AnswerNeverRecorded(Permanent):
    """No answer is recorded for this event and step, and a replay asks no model."""


def step_of(request: Request) -> str:
    """The step of a question within its event, e.g. `model.reply.2`: its purpose and the rounds before it."""
    return f"model.{request.purpose}.{len(request.history)}"


def answer_to_json(answer: Answer) -> Json:
    """An answer as JSON data (objects, lists, strings, numbers), for a journal's `jsonb`."""
    dumped: Json = _ANSWER.dump_python(answer, mode="json")
    return dumped


def answer_from_json(data: Mapping[str, Any]) -> Answer:
    """The answer again. Raises pydantic's `ValidationError` if the data is none."""
    return _ANSWER.validate_python(data)
