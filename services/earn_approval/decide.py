"""When an intent opens and when it closes. Pure.

It opens with an approval unchanged, where the lower bound over the last decisions reaches what the settings ask, and
closes with the first correction, which is also the first decision that counts from then on. One sender opens nothing:
whoever writes many easy mails would earn what leaves unread next.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from schemas.events.approvals import (
    CORRECTIONS,
    ApprovalClosed,
    ApprovalCounted,
    ApprovalEvent,
    ApprovalOpened,
    ApprovalRequested,
    Count,
)
from services.core.settings import ApprovalSettings
from services.core.settings.oversight import UNEARNABLE
from services.core.wilson import wilson
from services.earn_approval.pattern import Pattern, evolve

Step = ApprovalOpened | ApprovalClosed


def decide(
    pattern: Pattern, command: ApprovalCounted | ApprovalRequested, at: datetime, settings: ApprovalSettings
) -> Iterator[ApprovalEvent]:
    """What becomes of a draft is counted once, and may be a step; a person's request is one, unless it stands so."""
    if isinstance(command, ApprovalRequested):
        step = requested(command, pattern, settings)
    elif pattern.known:
        return
    else:
        yield command
        step = step_after(command, evolve(pattern, command, at), settings)
    if step is not None:
        yield step


def count_of(pattern: Pattern, settings: ApprovalSettings) -> Count:
    """The numbers that a step rests on."""
    unchanged, of = sum(one.outcome == "unchanged" for one in pattern.decisions), len(pattern.decisions)
    return Count(unchanged=unchanged, of=of, bound=round(wilson(unchanged, of), 4), threshold=settings.bound)


def step_after(counted: ApprovalCounted, pattern: Pattern, settings: ApprovalSettings) -> Step | None:
    """The step that follows from a decision that is among the `pattern`'s, if any."""
    named = counted.model_dump(include={"approval_id", "inbox", "intent"})
    count = count_of(pattern, settings)
    told = f"{count.unchanged} of the last {count.of} approved unchanged, lower bound {count.bound:.2f}"
    if pattern.is_open:
        if counted.outcome not in CORRECTIONS:
            return None
        return ApprovalClosed(**named, count=count, reason=f"{counted.outcome.replace('_', ' ')}; {told}")
    earnable = settings.earn and counted.intent not in UNEARNABLE
    if not (earnable and counted.outcome == "unchanged" and wilson(count.unchanged, count.of) >= settings.bound):
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
    return kind(**told, count=count_of(pattern, settings))
