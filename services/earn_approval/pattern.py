"""An intent of an inbox as a decision sees it, how its events change it (`evolve`), and how it is read (`load`).

Invariant: the pattern after an event is what `load` reads after `apply` wrote that event (a property test holds them
together). So a decision reads a pattern once, and carries it on from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.events.approvals import ApprovalClosed, ApprovalCounted, ApprovalEvent, ApprovalOpened, Outcome
from services.core.bus.unit import Unit
from services.earn_approval.apply import SQL
from services.mail.sender import sender_of


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one draft; `sender` is whom the draft was to (`services.mail.sender`), if that is known."""

    at: datetime
    reply_id: UUID
    outcome: Outcome
    sender: str = ""


@dataclass(frozen=True, slots=True)
class Pattern:
    """An intent of an inbox: whether it is open, and the last `over` decisions that count, the newest first.

    What was decided before `counted_from` counts no more. `sender` is whom the draft was to that is about to be
    counted; `known` says that this very outcome of it was counted before.
    """

    over: int
    is_open: bool = False
    counted_from: datetime | None = None
    decisions: tuple[Decision, ...] = ()
    sender: str = ""
    known: bool = False

    @property
    def senders(self) -> frozenset[str]:
        """Those whose drafts were approved unchanged among the decisions."""
        return frozenset(one.sender for one in self.decisions if one.outcome == "unchanged" and one.sender)


def evolve(pattern: Pattern, event: ApprovalEvent, at: datetime) -> Pattern:
    """The pattern after an event of the time `at`."""
    match event:
        case ApprovalCounted():
            return _counted(pattern, event, at)
        case ApprovalOpened():
            return replace(pattern, is_open=True)
        case ApprovalClosed():
            return _counting(replace(pattern, is_open=False, counted_from=at), pattern.decisions)
    return pattern


def _counted(pattern: Pattern, event: ApprovalCounted, at: datetime) -> Pattern:
    known, pattern = pattern.known, replace(pattern, known=True)
    if known or event.outcome == "held":  # a resolution that held is told to people, and earns nothing
        return pattern
    new = Decision(at, event.reply_id, event.outcome, pattern.sender)
    return _counting(pattern, (*pattern.decisions, new))


def _counting(pattern: Pattern, decisions: Iterable[Decision]) -> Pattern:
    """The pattern with those of the decisions that count, in the order in which `load` reads them."""
    count = [one for one in decisions if pattern.counted_from is None or one.at >= pattern.counted_from]
    count.sort(key=lambda one: one.outcome)
    count.sort(key=lambda one: (one.at, one.reply_id), reverse=True)
    return replace(pattern, decisions=tuple(count[: pattern.over]))


async def load(unit: Unit, approval_id: UUID, over: int, counted: ApprovalCounted | None = None) -> Pattern:
    """The pattern, locked until the end of the transaction, with what counts of the draft that is `counted` next."""
    args: dict[str, Any] = {
        "approval_id": approval_id,
        "over": over,
        "reply_id": counted and counted.reply_id,
        "outcome": counted and counted.outcome,
    }
    statements = (SQL.approval, SQL.decisions, SQL.counted, SQL.recipient)
    rows, decisions, known, to = await unit.read_locked("approval", approval_id, statements, **args)
    return Pattern(
        over=over,
        is_open=bool(rows and rows[0]["is_open"]),
        counted_from=rows[0]["counted_from"] if rows else None,
        decisions=tuple(_decision(**one) for one in decisions),
        sender=_sender(to[0]["recipient"]) if to else "",
        known=bool(known),
    )


def _decision(recipient: str | None, **row: Any) -> Decision:
    return Decision(**row, sender=_sender(recipient))


def _sender(recipient: str | None) -> str:
    return sender_of(recipient) if recipient else ""
