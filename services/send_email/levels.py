"""The approval level of a draft: what the settings say, and what people's approvals of its intent have earned. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

from schemas.events.replies import ApprovalLevel, ReplyDrafted
from services.core.settings import ApprovalSettings

APPROVES = "a person approves each reply"
WORDS_IT = "a person words each reply: approve it with your own text, or answer yourself"


@dataclass(frozen=True, slots=True)
class Level:
    """A draft's level, and why it waits where it does. `earned`: it is `auto` because approvals of its intent were."""

    level: ApprovalLevel
    why: str = ""
    earned: bool = False


def level_of_draft(draft: ReplyDrafted, said: ApprovalLevel, is_open: bool, settings: ApprovalSettings) -> Level:
    """The level; `is_open` says whether approvals of its intent are earned. Only a `review` can be lifted by that."""
    floors = ", ".join(one.replace("_", " ") for one in draft.score.floors) if draft.score else ""
    if said == "human_only":
        return Level("human_only", WORDS_IT)
    if said == "auto":
        return Level("review", f"it breaks a floor: {floors}") if floors and settings.hold_floors else Level("auto")
    if not (is_open and settings.earn and draft.decision == "reply" and draft.score is not None):
        return Level("review", APPROVES)
    if floors:
        return Level("review", f"its intent is open, but it breaks a floor: {floors}")
    if draft.score.value < settings.score:
        return Level("review", f"its intent is open, but its score is {draft.score.value:.2f}")
    return Level("auto", earned=True)


def edited_share(draft: str, final: str) -> float:
    """The share of words that differ between a draft and what a person made of it, from 0 to 1; white space is none."""
    before, after = draft.split(), final.split()
    return 0.0 if before == after else max(0.0001, round(1 - SequenceMatcher(None, before, after).ratio(), 4))


def is_own_wording(level: str, draft: str, final: str) -> bool:
    """Whether a person's approval may send it: a draft that is `human_only` leaves in their own words alone."""
    return level != "human_only" or (bool(final) and edited_share(draft, final) > 0)
