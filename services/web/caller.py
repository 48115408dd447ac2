"""Who asks: the token that a request came with, known for as long as the request is handled."""

from __future__ import annotations

from contextvars import ContextVar

from services.core.settings.api_tokens import ApiToken

UNNAMED = "api"
_caller: ContextVar[ApiToken | None] = ContextVar("caller", default=None)


def remember(token: ApiToken) -> None:
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
