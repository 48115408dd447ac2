"""Pure decisions about what people here did: their acts source facts of the class `ours`."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from schemas.events.memory import FactRecorded
from schemas.events.threads import StateChanged
from services.learn_facts.participant import Participant
from services.learn_facts.policy import Policy
from services.memory.facts import plain_key
from services.memory.support import Support, confidence

LONGEST = 300  # characters of a reason


def resolved_by_hand(
    who: Participant, step: StateChanged, fact_id: UUID, now: datetime, policy: Policy
) -> FactRecorded | None:
    """A person resolved a thread and said how ("with a $50 credit"): how it ended is remembered, as ours."""
    by, _, how = step.reason.partition(": ")
    if not who.exists or step.trigger != "human" or step.to_state != "resolved" or not how.strip():
        return None
    issue = next((one.issue_key for one in who.issues if one.thread_id == step.thread_id), "thread")
    told = how.strip()[:LONGEST]
    return FactRecorded(
        participant_id=who.participant_id,
        fact_id=fact_id,
        kind="resolution",
        key=plain_key(issue),
        value=told,
        text=f"We resolved it ({issue}): {told}",
        single_valued=False,
        confidence=confidence([Support("ours", None, step.thread_id)], policy.learning.confidence),
        importance=policy.importance("resolution", policy.learning.importance_of_acts),
        trust="ours",
        valid_from=now,
        source_thread=step.thread_id,
        rule=f"{by} resolved the thread",
    )
