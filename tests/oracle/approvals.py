"""What people make of drafts is counted once, and an intent opens and closes exactly where the rule says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import sqrt

from tests.oracle.evidence import Earning, Evidence, Row

STEPS = {"approval.opened.v1": True, "approval.closed.v1": False}
CORRECTIONS = ("edited", "rejected", "answered_by_hand", "reopened")
UNNAMED = ("", "other")  # drafts of which nobody says what they are alike in earn nothing
Z = 1.959963984540054


@dataclass(slots=True)
class _Intent:
    """One intent, replayed: what was decided (when, of which reply, how), and since when it counts."""

    is_open: bool = False
    since: datetime | None = None
    decided: list[tuple[datetime, str, str]] = field(default_factory=list)

    def last(self, over: int) -> Sequence[tuple[datetime, str, str]]:
        """The last decisions that count, by their time."""
        counting = [one for one in self.decided if self.since is None or one[0] >= self.since]
        return sorted(counting, reverse=True)[:over]


def counted_once(evidence: Evidence) -> Iterator[str]:
    """Each draft that a person approved is counted, once and as what it was; nothing else is counted as approved.

    Of a reply whose customer was erased nobody knows any more what it was.
    """
    counted = Counter((one["reply_id"], one["outcome"]) for one in evidence.by_type["approval.counted.v1"])
    yield from (
        f"reply {reply} was counted {count} times as {what}" for (reply, what), count in counted.items() if count > 1
    )
    meant = set()
    for one in evidence.by_type["reply.approved.v1"]:
        if one["approved_by"] != "policy" and not one["by"] and one["intent"]:
            meant.add((one["reply_id"], "edited" if one["edited"] else "unchanged"))
    found = {one for one in counted if one[1] in ("unchanged", "edited") and ("delivery", one[0]) not in evidence.lost}
    yield from (f"reply {reply} was approved {what} and not counted" for reply, what in meant - found)
    yield from (f"reply {reply} was counted as {what} and not approved so" for reply, what in found - meant)


def steps_follow(evidence: Evidence) -> Iterator[str]:
    """An intent opens with the approval that reaches the bound, closes with the first correction, and else does neither.

    Drafts of no named intent open nothing. Where a sender who counted was erased since, it may have opened or not.
    """
    if evidence.earning is None:
        return
    recipient = {one["reply_id"]: one["recipient"] for one in evidence.by_type["reply.approved.v1"]}
    rows = {one["approval_id"]: one["is_open"] for one in evidence.tables["approvals"]}
    lost = {id for kind, id in evidence.lost if kind == "delivery"}
    for id, events in evidence.of_approval.items():
        intent, wanted = _Intent(), None
        name = f"intent {events[0]['data']['intent']} of {events[0]['data']['inbox']}"
        for one in [*events, None]:
            step = None if one is None or one["data"].get("by") else STEPS.get(one["type"])
            unsure = {step, wanted} == {None, True} and any(
                of in lost for _, of, _ in intent.last(evidence.earning.over)
            )
            if step != wanted and not unsure:
                yield f"{name} was to be {_said(wanted)} and was {_said(step)} at version {one and one['version']}"
            if one is not None:
                wanted = _next(intent, one, recipient, evidence.earning)
        if rows.get(id) != intent.is_open:
            yield f"{name} is {_said(rows.get(id))} and the decisions say {_said(intent.is_open)}"


def earned_while_open(evidence: Evidence) -> Iterator[str]:
    """No draft left by itself for having been earned before its intent was open."""
    opened = set()
    for event in evidence.events:
        one = event["data"]
        if event["type"] == "approval.opened.v1":
            opened.add((one["inbox"], one["intent"]))
        elif event["type"] == "reply.approved.v1" and one.get("earned") and (one["inbox"], one["intent"]) not in opened:
            yield f"reply {one['reply_id']} left as earned before {one['intent']} was open"


def _next(intent: _Intent, event: Row, recipient: dict[str, str], rule: Earning) -> bool | None:
    """Take the event in; the step that has to follow at once, if any."""
    if event["type"] in STEPS:
        intent.is_open = STEPS[event["type"]]
        intent.since = intent.since if intent.is_open else event["time"]
        return None
    reply, outcome = event["data"]["reply_id"], event["data"]["outcome"]
    if outcome == "held":
        return None
    intent.decided.append((event["time"], reply, outcome))
    if intent.is_open:
        return False if outcome in CORRECTIONS else None
    last = intent.last(rule.over)
    good = [one[1] for one in last if one[2] == "unchanged"]
    senders = {recipient.get(one, "").rpartition("@")[2] for one in good}
    if outcome != "unchanged" or event["data"]["intent"] in UNNAMED:
        return None
    return True if _bound(len(good), len(last)) >= rule.bound and len(senders) >= rule.senders else None


def _bound(good: int, of: int) -> float:
    """The lower bound of Wilson's interval, 95 %."""
    share, square = good / of if of else 0, Z * Z
    spread = Z * sqrt((share * (1 - share) + square / (4 * of)) / of) if of else 0
    return max(0.0, (share + square / (2 * of) - spread) / (1 + square / of)) if of else 0.0


def _said(is_open: bool | None) -> str:
    return {True: "open", False: "closed", None: "left as it was"}[is_open]
