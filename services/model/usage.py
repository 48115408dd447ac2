"""Tokens: what a call used, as the provider counted it, what that cost, and what a text will use, as we estimate it.

The estimate is only for budgets: cheap, without a vocabulary, the same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from schemas.events.replies import TokenUsage
from services.model.port import Usage
from services.model.settings import OFFLINE_NAME, ModelSettings

# Why money is not known: no price is set; another model wrote it than the one whose prices are set.
Unpriced = Literal["", "no_prices", "other_model"]

_BYTES_IN_TWO_TOKENS = 7


def estimate_tokens(text: str) -> int:
    """About how many tokens `text` takes: one for every 3.5 bytes of UTF-8, rounded up; 0 for no text.

    Bytes, not characters, so that scripts whose letters take more tokens also count more. It errs on the
    high side for plain English (about 4.2 bytes a token), so that a budget held here is held at the provider.
    """
    return tokens_in(len(text.encode("utf-8", "surrogatepass")))


def tokens_in(utf8_bytes: int) -> int:
    """About how many tokens so many bytes of text take, rounded up."""
    return -(-2 * utf8_bytes // _BYTES_IN_TWO_TOKENS)


def prompt_tokens(usage: Usage | TokenUsage) -> int:
    """All tokens of the prompt: those read from the cache, those written to it and those that were neither."""
    return usage.input + usage.cache_read + usage.cache_write


def sum_usage(usages: Iterable[Usage]) -> Usage:
    """The usage of several calls together."""
    total = Usage()
    for usage in usages:
        total = Usage(
            input=total.input + usage.input,
            output=total.output + usage.output,
            cache_read=total.cache_read + usage.cache_read,
            cache_write=total.cache_write + usage.cache_write,
        )
    return total


def added(*used: TokenUsage) -> TokenUsage:
    """What some acts cost together."""
    names = TokenUsage.model_fields
    return TokenUsage(**{name: sum(getattr(one, name) for one in used) for name in names})


def tokens_of(used: TokenUsage) -> int:
    """Every token of it, in and out, cached or not."""
    return prompt_tokens(used) + used.output


def priced(model: ModelSettings, answered: str, usage: TokenUsage) -> tuple[float | None, Unpriced]:
    """What calls of the model that `answered` cost in US dollars, by the prices of now; else why that is not known."""
    if not usage.calls or answered == OFFLINE_NAME:
        return 0.0, ""
    if not any(model.prices.model_dump().values()):
        return None, "no_prices"
    if not _is_named(answered, model.model):
        return None, "other_model"
    return round(model.dollars(Usage(**usage.model_dump(exclude={"calls"}))), 6), ""


def _is_named(model: str, name: str) -> bool:
    """Whether the model that answered is the one of this name: providers say the name, or that of a dated version."""
    return re.fullmatch(rf"{re.escape(name.removesuffix('-latest'))}(-\d{{8}})?", model) is not None
