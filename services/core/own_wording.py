"""How much of a draft a person changed, and whether that makes it theirs. Pure."""

from __future__ import annotations

from difflib import SequenceMatcher


def edited_share(draft: str, final: str) -> float:
    """The share of words that differ between a draft and what a person made of it, from 0 to 1; white space is none."""
    before, after = draft.split(), final.split()
    return 0.0 if before == after else max(0.0001, round(1 - SequenceMatcher(None, before, after).ratio(), 4))


def is_own_wording(level: str, draft: str, final: str) -> bool:
    """Whether a person's approval may send it: a draft that is `human_only` leaves in their own words alone."""
    return level != "human_only" or (bool(final) and edited_share(draft, final) > 0)
