"""Claude over the Anthropic SDK, or any server that speaks its Messages API.

Invariants: nothing but an answer, `ModelUnavailable` (`ModelDenied`) or `ModelRefused` ever leaves `ask`, and it ends
in the budget of the settings: a server's Retry-After is obeyed only if it fits.
The SDK sends the key as a bearer token; other servers also get the older `x-api-key`, which some know alone.
An option that the server refuses by name with a 400 is left out from then on, so other models and servers do as
well as they can: without `tool_choice` (Claude Sonnet 5.5 and Opus 5.5 take none that forces) words must do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

import anthropic
from anthropic import APIConnectionError, APIStatusError, AsyncAnthropic

from services.core.errors import ModelDenied, ModelRefused, ModelUnavailable
from services.model.anthropic_answer import from_wire
from services.model.anthropic_wire import refused_options, to_wire
from services.model.port import Answer, Request
from services.model.settings import ANTHROPIC_URL, ModelSettings

_NO_KEY = "none"  # what a server that needs no key is sent: the SDK insists on one
_UNFORCEABLE = ("claude-sonnet-5-5", "claude-opus-5-5")
_TEMPORARY = frozenset({408, 409, 425, 429})
_DENIED = frozenset({401, 402, 403})  # no question passes until a person does something about the key or the account
_WORDS_OF_THE_SERVER = 300  # characters of its message that we repeat
_ADVICE = {
    400: "the request is not valid for this model; check the model's name and the size of the prompt",
    401: "the API key is wrong or revoked; set a valid one",
    402: "the account cannot pay; add credit or another key",
    403: "the API key may not use this model; allow it in the provider's console or choose another model",
    404: "the model or the address does not exist; check the model's name and the base URL",
    413: "the prompt is too large; lower the token budgets of the context layers",
}


class AnthropicModel:
    """The provider `anthropic`. One instance serves many questions at once; close it when the process ends."""

    name = "anthropic"

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._without = frozenset({"tool_choice"} if settings.model.startswith(_UNFORCEABLE) else ())
        key = settings.key or _NO_KEY
        self._client = AsyncAnthropic(
            api_key=key,
            default_headers={"x-api-key": key} if settings.base_url.rstrip("/") not in ("", ANTHROPIC_URL) else None,
            base_url=settings.base_url or ANTHROPIC_URL,
            timeout=settings.timeout_s,
            max_retries=settings.max_retries,
            middleware=[_refuse_waits_over(settings.budget_s)],
        )

    async def ask(self, request: Request) -> Answer:
        """Ask once, retries included. A refusal by the model is an answer (`stop`), not an error."""
        try:
            async with asyncio.timeout(self._settings.budget_s):
                return from_wire(await self._send(request))
        except TimeoutError as error:
            raise ModelUnavailable(f"No answer within {self._settings.budget_s:g} s.") from error
        except (ValueError, RecursionError) as error:
            raise ModelUnavailable(f"The server's answer is not a message: {error}") from error
        except anthropic.AnthropicError as error:
            raise _meaning_of(error, self._settings) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _send(self, request: Request) -> str:
        while True:
            wire = to_wire(request, self._settings, without=self._without)
            try:
                return await self._create(wire)
            except anthropic.BadRequestError as error:
                refused = refused_options(wire, str(error))
                if not refused:
                    raise
            self._without |= refused

    async def _create(self, wire: dict[str, Any]) -> str:
        response = await self._client.messages.with_raw_response.create(**wire)
        return str(response.http_response.text)


def _meaning_of(error: anthropic.AnthropicError, settings: ModelSettings) -> ModelUnavailable | ModelRefused:
    if isinstance(error, APIConnectionError):
        return ModelUnavailable(f"The model's server did not answer: {error.__cause__ or error}")
    if not isinstance(error, APIStatusError):
        return ModelRefused(f"The request could not be sent: {error}")
    status, said = error.status_code, str(error.api_message or error.message)[:_WORDS_OF_THE_SERVER]
    if status in _TEMPORARY or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ModelUnavailable(f"The model's server answered {status}: {said}")
    advice = _ADVICE.get(status, "the server does not accept this request; check the base URL")
    words = f"Status {status} for model {settings.model!r}: {advice}. The server says: {said}"
    return ModelDenied(words) if status in _DENIED else ModelRefused(words)


def _refuse_waits_over(budget_s: float) -> Callable[[Any, Callable[[Any], Awaitable[Any]]], Awaitable[Any]]:
    """A step of the SDK's retry loop that gives up at once when Retry-After asks for more time than there is."""

    async def attempt(request: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        response = await call_next(request)
        wait_s = _retry_after_s(response.http_response.headers.get("retry-after"))
        if not response.http_response.is_success and wait_s > budget_s:
            raise ModelUnavailable(f"The model's server asks to come back in {wait_s:g} s.")
        return response

    return attempt


def _retry_after_s(header: str | None) -> float:
    """Retry-After in seconds (RFC 9110, 10.2.3); 0 for none or a date, whose wait the budget bounds anyway."""
    try:
        return float(header or 0)
    except ValueError:
        return 0.0
