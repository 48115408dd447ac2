"""Who may approve a draft: its approval level, and every decider of it in order. Pure.

When it is written (`generate_reply`), `level_when_written`, which the draft carries:

1. A model's words to an author whom nothing names or proves wait for a person.
2. What a behaviour of the turn sets, else what the participant's settings say, counts.
3. Else what `approval.intents` says of the draft's intent. The intent is the model's word: a draft that breaks a floor
   is not lifted to `auto` by it.
4. Else what the inbox, else what the workspace says (`send.approval`, read when the draft is about to leave where the
   turn's context names none).

When it is about to leave (`send_email`), `level_when_sent`:

5. A draft that nobody asked for waits for a person.
6. `human_only` and `auto` stay; with `approval.hold_floors` an `auto` that breaks a floor waits for a person.
7. A `review` becomes `auto` where `earn_approval` has opened its intent, and it breaks no floor and scores enough.

Whatever comes of that, `services/send_email/unproven.py` is the last gate for an author whom nothing proves. Which
floors a draft breaks: `services/generate_reply/score.py`. When an intent opens: `services/earn_approval/decide.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from schemas.events.replies import ApprovalLevel, ReplyDrafted
from services.core.settings import ApprovalSettings, Settings

STRANGER = "stranger"  # marks what somebody of another company than the author's wrote into the thread
APPROVES = "a person approves each reply"
WORDS_IT = "a person words each reply: approve it with your own text, or answer yourself"


@dataclass(frozen=True, slots=True)
class Level:
    """A draft's level, and why it waits where it does. `earned`: it is `auto` because approvals of its intent were."""

    level: ApprovalLevel
    why: str = ""
    earned: bool = False


def level_when_written(
    settings: Settings, inbox: str, intent: str, said: str, source: str, *, nobody_proven: bool, breaks_floor: bool
) -> str:
    """The level that a draft carries; "" where the deployment's setting counts.

    `said` is what the cascade chose (`services/core/settings/cascade.py`), and `source` who said it.
    """
    if nobody_proven:
        return "review"
    if source.startswith(("turn ", "participant ")):
        return said
    entries = (one for one in settings.approval.intents if one.intent == intent and one.inbox in ("", inbox))
    level = next((one.level for one in entries), said)
    lifted = level == "auto" and (said or settings.send.approval) != "auto"
    return said if lifted and breaks_floor else level


def level_when_sent(draft: ReplyDrafted, said: ApprovalLevel, is_open: bool, settings: ApprovalSettings) -> Level:
    """The level under which it leaves or waits; `is_open` says whether approvals of its intent are earned."""
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
