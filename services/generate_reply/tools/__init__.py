"""The tools, by name. Adding one is a module with `run`, an input model in schemas/model_output.py, and a line.

A tool gets its validated input and the desk, and answers with text for the model. It raises `CallRefused`
where the code does not allow what the model asks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from schemas.model_output import TOOL_INPUTS, tool_schema
from services.generate_reply.desk import Desk
from services.generate_reply.tools import entities, finish, remember, search
from services.model.port import Tool

Run = Callable[[Any, Desk], Awaitable[str]]

TOOLS: Mapping[str, Run] = MappingProxyType(
    {
        "reply": finish.reply,
        "no_reply_needed": finish.no_reply,
        "escalate": finish.escalate,
        "remember_fact": remember.remember,
        "correct_fact": remember.correct,
        "forget_fact": remember.forget,
        "set_participant_state": remember.set_state,
        "set_entity": entities.set_entity,
        "get_entities": entities.get_entities,
        "search_memory": search.memory,
        "search_knowledge": search.knowledge,
    }
)

LOOKUPS = frozenset({"search_memory", "search_knowledge"})  # their answers are checkpointed


@cache
def definitions() -> tuple[Tool, ...]:
    """The tools as the model is told of them, in a fixed order, so that the cached prefix is stable."""
    return tuple(Tool(name, (TOOL_INPUTS[name].__doc__ or "").strip(), tool_schema(name)) for name in TOOLS)
