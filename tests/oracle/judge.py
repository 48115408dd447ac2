"""The verdict on one deployment at rest: its figures, and every promise that it broke, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tests.oracle import (
    approvals,
    bounces,
    erased,
    incidents,
    investigations,
    mails,
    outages,
    outreach,
    replies,
    rest,
    tables,
    threads,
)
from tests.oracle.evidence import Evidence

RULES = (
    mails.received_once, mails.one_ending,
    replies.at_most_once, replies.to_the_author, replies.settled, replies.in_order,
    threads.versions, threads.legal_steps, threads.one_turn_at_a_time, threads.turns_cover_what_waits,
    threads.rejected_by_somebody,
    tables.equal_their_rebuild, tables.say_what_events_say, tables.versions_are_the_newest,
    rest.published, rest.done_by_all, rest.no_timer_due, rest.nothing_open,
    rest.offsets_complete, rest.dead_letters_are_poison,
    outages.fail_no_turn, outages.hold_what_is_newer,
    approvals.counted_once, approvals.steps_follow, approvals.earned_while_open,
    outreach.once_a_person, outreach.never_to_whom_wants_none, outreach.each_has_an_end,
    incidents.reported_once, incidents.customers_once, incidents.answered_once,
    investigations.end_once, bounces.noted_once, bounces.suppressed_for_good, erased.leaves_no_trace,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judged:
    """The figures, and what was wrong. `outcomes` counts mails, the others replies and messages."""

    mails: int
    outcomes: Mapping[str, int]
    sent: int
    unknown: int
    accepted: int
    duplicates: int
    faults: tuple[str, ...]

    @property
    def answered(self) -> int:
        """Mails that a reply covers, be it the one that hands over to a person."""
        return self.outcomes.get("sent", 0) + self.outcomes.get("escalated", 0)

    @property
    def parked(self) -> int:
        """Mails that the filters set aside."""
        return sum(self.outcomes.get(one, 0) for one in mails.SET_ASIDE)

    def line(self, **more: object) -> str:
        """The figures in one line."""
        figures = {
            "mails": self.mails, "answered": self.answered, "sent": self.sent, "unknown": self.unknown,
            "accepted": self.accepted, "duplicates": self.duplicates, "outcomes": dict(self.outcomes), **more,
        }  # fmt: skip
        return ", ".join(f"{name} {value}" for name, value in figures.items())


def judge(evidence: Evidence) -> Judged:
    """Ask every rule."""
    copies = Counter(one.message_id for one in evidence.accepted)
    return Judged(
        mails=len(evidence.by_type["mail.received.v1"]),
        outcomes=mails.outcomes(evidence),
        sent=len(evidence.by_type["reply.sent.v1"]),
        unknown=len(evidence.by_type["reply.unknown.v1"]),
        accepted=sum(copies.values()),
        duplicates=sum(copies.values()) - len(copies),
        faults=tuple(fault for rule in RULES for fault in rule(evidence)),
    )
