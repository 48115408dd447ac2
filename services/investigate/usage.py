"""What calls of the model cost, put together. Pure."""

from __future__ import annotations

from schemas.events.replies import TokenUsage


def added(*used: TokenUsage) -> TokenUsage:
    """What some calls cost together."""
    names = TokenUsage.model_fields
    return TokenUsage(**{name: sum(getattr(one, name) for one in used) for name in names})


def tokens_of(used: TokenUsage) -> int:
    """Every token of it, in and out, cached or not."""
    return used.input + used.cache_read + used.cache_write + used.output
