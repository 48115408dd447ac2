"""The issues that a participant reported: which of them a new report is of, how often, and when it is over. Pure.

The extractor is shown the known keys and asked to repeat them; new wordings are recognised here. Two keys name one
issue where each says what the other says, up to one word more ("csv export timeout" is "csv export times out", and
"pdf export timeout" is another), or differ only in how they say that it does not work (`same_words`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.events.memory import IssuesResolved, MailSignals
from services.learn_facts.participant import KnownIssue, Participant
from services.memory.troubles import same_words
from services.memory.wording import content_of, numbers_of, unsaid

LEAST_SHARED = 2  # words that make two keys of different length one trouble


def known_trouble(key: str, issues: Iterable[KnownIssue]) -> KnownIssue | None:
    """The reported trouble that a key names: the nearest in words, of several the most reported; None for a new one."""
    likely = [(_distance(key, one.issue_key), one) for one in issues]
    found = [(distance, -one.reports, one.issue_key, one) for distance, one in likely if distance is not None]
    return min(found, key=lambda near: near[:3])[3] if found else None


def issues_over(who: Participant, thread_id: UUID) -> IssuesResolved | None:
    """The thread was resolved: what they reported in it is over, where it is not already."""
    if any(one.thread_id == thread_id and not one.resolved for one in who.issues):
        return IssuesResolved(participant_id=who.participant_id, thread_id=thread_id)
    return None


def trouble_over(who: Participant, signals: MailSignals, said_at: datetime | None = None) -> IssuesResolved | None:
    """They say that a trouble of theirs is over, in whatever thread; imported mail only after its last report."""
    known = known_trouble(signals.issue_key, who.issues) if signals.issue_key and signals.issue_resolved else None
    if known is None or known.resolved or (said_at and said_at < known.last_at):
        return None
    return IssuesResolved(participant_id=who.participant_id, thread_id=known.thread_id, issue_key=known.issue_key)


def report(key: str, known: KnownIssue | None, thread_id: UUID) -> dict[str, Any]:
    """A reported trouble and how often it was: another mail about an open one, in the same thread, is no new report."""
    if known is None:
        return {"issue_key": key, "issue_repeats": 1 if key else 0}
    again = known.resolved or known.thread_id != thread_id
    return {"issue_key": known.issue_key, "issue_repeats": known.reports + again}


def _distance(key: str, known: str) -> int | None:
    """How far two keys of one issue are apart, 0 to 2; None for two issues."""
    if key == known:
        return 0
    if same_words(key, known):
        return 1
    one, other = content_of(key), content_of(known)
    more, missing = unsaid(one, other), unsaid(other, one)
    if not one or not other or (more and missing) or numbers_of(key) != numbers_of(known):
        return None
    added = more + missing
    if not added:
        return 1
    near = len(added) == 1 and not added[0][0].isdigit() and min(len(one), len(other)) >= LEAST_SHARED
    return 2 if near else None
