"""Tokens: what a call used, as the provider counted it, and what a text will use, as we estimate it.

The estimate is only for budgets: cheap, without a vocabulary, the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable

from services.model.port import Usage

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


def prompt_tokens(usage: Usage) -> int:
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
