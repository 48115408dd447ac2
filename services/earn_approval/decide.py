"""When an intent opens and when it closes. Pure.

It opens with an approval unchanged, where the lower bound over the last decisions reaches what the settings ask, and
closes with the first correction, which is also the first decision that counts from then on. One sender opens nothing:
whoever writes many easy mails would earn what leaves unread next.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from schemas.events.approvals import (
    CORRECTIONS,
    ApprovalClosed,
    ApprovalCounted,
    ApprovalOpened,
    ApprovalRequested,
    Count,
    Outcome,
)
from services.core.settings import ApprovalSettings
from services.core.settings.oversight import UNEARNABLE
from services.core.wilson import wilson

Step = ApprovalOpened | ApprovalClosed


@dataclass(frozen=True, slots=True)
class Pattern:
    """An intent of an inbox: whether it is open, and the last decisions that count, the newest first.

    `senders` are those whose drafts were approved unchanged among them (`services.mail.sender`).
    """

    is_open: bool
    decisions: Sequence[Outcome]
    senders: AbstractSet[str] = frozenset()

    def count(self, settings: ApprovalSettings) -> Count:
        """The numbers that a step rests on."""
        last = self.decisions[: settings.over]
        unchanged = sum(one == "unchanged" for one in last)
        bound = round(wilson(unchanged, len(last)), 4)
        return Count(unchanged=unchanged, of=len(last), bound=bound, threshold=settings.bound)


def step_after(counted: ApprovalCounted, pattern: Pattern, settings: ApprovalSettings) -> Step | None:
    """The step that follows from a decision that is among the `pattern`'s, if any."""
    named = counted.model_dump(include={"approval_id", "inbox", "intent"})
    count = pattern.count(settings)
    told = f"{count.unchanged} of the last {count.of} approved unchanged, lower bound {count.bound:.2f}"
    if pattern.is_open:
        if counted.outcome not in CORRECTIONS:
            return None
        return ApprovalClosed(**named, count=count, reason=f"{counted.outcome.replace('_', ' ')}; {told}")
    earnable = settings.earn and counted.intent not in UNEARNABLE
    if not (earnable and counted.outcome == "unchanged" and count.bound >= settings.bound):
        return None
    if len(pattern.senders) < settings.senders:
        return None
    return ApprovalOpened(**named, count=count, reason=f"{told}, {settings.bound:.2f} asked for")


def requested(asked: ApprovalRequested, pattern: Pattern, settings: ApprovalSettings) -> Step | None:
    """The step that a person asks for, unless it stands so already."""
    if asked.open == pattern.is_open:
        return None
    told = asked.model_dump(include={"approval_id", "inbox", "intent", "by", "reason"})
    kind = ApprovalOpened if asked.open else ApprovalClosed
    return kind(**told, count=pattern.count(settings))
