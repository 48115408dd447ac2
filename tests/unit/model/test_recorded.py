"""Recorded answers, and the JSON in which a journal keeps them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.errors import Permanent
from services.model.port import Answer, Exchange, Layer, Request, Tool, ToolCall, ToolResult, Usage
from services.model.recorded import (
    AnswerNeverRecorded,
    RecordedModel,
    answer_from_json,
    answer_to_json,
    exchange_from_json,
    exchange_to_json,
    request_from_json,
    request_to_json,
    step_of,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
OBJECT = st.dictionaries(
    TEXT, st.none() | st.booleans() | st.integers() | TEXT | st.lists(TEXT, max_size=2), max_size=3
)
CALLS = st.lists(st.builds(ToolCall, TEXT, TEXT, OBJECT, TEXT), max_size=2).map(tuple)
ANSWERS = st.builds(
    Answer, TEXT, CALLS, TEXT, TEXT, st.builds(Usage, *[st.integers(0)] * 4), st.lists(OBJECT, max_size=2).map(tuple)
)
RESULTS = st.lists(st.builds(ToolResult, TEXT, TEXT, st.booleans()), max_size=2).map(tuple)
EXCHANGES = st.builds(Exchange, ANSWERS, RESULTS)


def a_request(*history: Exchange) -> Request:
    layers = (Layer("mail", "Hi", ({"from": "ada", "n": 1},), trusted=False), Layer("persona", "Acme", shared=True))
    tools = (Tool("reply", "Answer.", {"type": "object", "properties": {}}),)
    return Request("reply", "system", layers, "task", tools, "reply", history, "fence", 100)


@given(ANSWERS)
def test_answers_survive_json(answer: Answer) -> None:
    """An answer read back from JSON text equals the one that was written."""
    assert answer_from_json(json.loads(json.dumps(answer_to_json(answer)))) == answer


@given(EXCHANGES)
def test_rounds_and_requests_survive_json(exchange: Exchange) -> None:
    """So do a round, and a request with its history."""
    assert exchange_from_json(json.loads(json.dumps(exchange_to_json(exchange)))) == exchange
    request = a_request(exchange)
    assert request_from_json(json.loads(json.dumps(request_to_json(request)))) == request


def test_older_recordings_still_read() -> None:
    """A recording from before a field existed reads with that field's default."""
    old: dict[str, Any] = {
        "text": "Hi",
        "calls": [{"id": "1", "name": "reply", "input": {}}],
        "stop": "x",
        "model": "m",
    }
    assert answer_from_json(old) == Answer("Hi", (ToolCall("1", "reply", {}),), "x", "m")


class _Shelf:
    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], Answer] = {}

    async def find(self, event_id: str, step: str) -> Answer | None:
        return self.answers.get((event_id, step))


async def test_recorded_model_says_what_was_said() -> None:
    """Each round of an event gets its own recorded answer, found by the event and the step."""
    shelf = _Shelf()
    said = [Answer(text, (), "end_turn", "claude") for text in ("first", "second")]
    shelf.answers = {("e1", "model.reply.0"): said[0], ("e1", "model.reply.1"): said[1]}
    model = RecordedModel(shelf, "e1")
    assert await model.ask(a_request()) == said[0]
    assert await model.ask(a_request(Exchange(said[0], ()))) == said[1]


async def test_missing_recording_is_said_clearly() -> None:
    """A replay that lacks an answer names the event and the step, and is not tried again."""
    with pytest.raises(AnswerNeverRecorded, match=r"event e2, step model\.reply\.0") as caught:
        await RecordedModel(_Shelf(), "e2").ask(a_request())
    assert isinstance(caught.value, Permanent)


def test_step_names_purpose_and_round() -> None:
    """A step tells purposes and rounds of one event apart, whatever the mail says."""
    assert step_of(a_request()) == "model.reply.0"
    assert step_of(Request("reflect", "s", (), "t")) == "model.reflect.0"
