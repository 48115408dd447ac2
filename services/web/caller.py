"""Who asks: the token that a request came with, known while the request is handled."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Protocol

UNNAMED = "api"


class Caller(Protocol):
    """A token of the settings, or one that a user made."""

    @property
    def name(self) -> str:
        """What is recorded as `by`."""

    @property
    def names_people(self) -> bool:
        """Whether it speaks for several people, so that `by` of its requests is believed."""

    @property
    def requests_per_minute(self) -> int:
        """How many requests it may make."""

    def may(self, scope: str) -> bool:
        """Whether it is for this."""


_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


def remember(token: Caller) -> None:
    """From now on this request is made with `token`."""
    _caller.set(token)


def name_of_caller() -> str:
    """What is recorded as `by` where a request says nothing."""
    token = _caller.get()
    return token.name if token else UNNAMED


def spoken_by(said: str) -> str:
    """What is recorded as `by`: what the request says counts only with a token that speaks for several people."""
    token = _caller.get()
    return said if token is None or token.names_people else token.name
