"""The approval level of a draft: what the settings say, and what people's approvals of its intent have earned. Pure."""

from __future__ import annotations

from dataclasses import dataclass

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
    if draft.proactive:
        return Level("review", draft.reason)
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
