"""The port to the language model: what a processor asks, and what comes back.

A request is data. Its stable part stands first (`system`, then the layers marked `shared`), so that two
mails of one inbox have byte-identical prompts up to the first layer that speaks of a participant;
the cache mark is set there. Providers render the request; nobody else does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Purpose = Literal["reply", "reflect", "condense", "investigate"]


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of context. `items` is the same content as data (for the offline model and for audits).

    `trusted` is False for text that other people wrote: the renderer fences it. `about` is ours: what the layer is.
    """

    name: str
    text: str
    items: tuple[Mapping[str, Any], ...] = ()
    shared: bool = False
    trusted: bool = True
    about: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool the model may call; `schema` is the JSON Schema of its input."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model proposes. `input` is as it came: not validated yet.

    `malformed` is empty, or says why the input cannot be used (cut off, not JSON, not an object);
    `input` is then empty and the call must be answered with an error, never run.
    """

    id: str
    name: str
    input: Mapping[str, Any]
    malformed: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Our answer to one call; `error` says to the model that it was refused and why."""

    call_id: str
    content: str
    error: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """One finished round of the conversation: what the model said, and our answers to its calls.

    Without results it is a reminder: the model called nothing, and is asked again to call a tool.
    """

    answer: Answer
    results: tuple[ToolResult, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked. `fence` is the unguessable delimiter for untrusted text, made from the event's id.

    `model` and `effort` are those of the settings where they are empty.
    """

    purpose: Purpose
    system: str
    layers: tuple[Layer, ...]
    task: str
    tools: tuple[Tool, ...] = ()
    must_call: str = ""  # the tool to be called, or ""; some models cannot be forced, so an answer may lack it
    history: tuple[Exchange, ...] = ()
    fence: str = ""
    max_tokens: int = 2048
    model: str = ""
    effort: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, as the provider counts them."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said. `stop` is the provider's stop reason (`end_turn`, `tool_use`, `max_tokens`, `refusal`)."""

    text: str
    calls: tuple[ToolCall, ...]
    stop: str
    model: str
    usage: Usage = field(default_factory=Usage)
    raw: tuple[Mapping[str, Any], ...] = ()  # the provider's own content blocks, sent back unchanged in `history`


class Model(Protocol):
    """A provider. Raises `ModelUnavailable` (temporary) or `ModelRefused` (permanent) from `errors`."""

    @property
    def name(self) -> str:
        """The provider's name, for events and logs."""
        ...

    async def ask(self, request: Request) -> Answer:
        """Ask once; retries of the provider's own temporary errors are inside."""
        ...

    async def close(self) -> None:
        """Close what connections there are."""
        ...
