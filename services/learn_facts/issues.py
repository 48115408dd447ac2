"""Which of the troubles that a participant has reported a new report is of. Pure.

The extractor is shown the known keys and asked to repeat them; what it words anew is recognised here. Two keys name one
trouble where each says what the other says, up to one word more: "csv export timeout" is "csv export times out", and
"pdf export timeout" is another.
"""

from __future__ import annotations

from collections.abc import Iterable

from services.learn_facts.participant import KnownIssue
from services.learn_facts.wordforms import content_of, unsaid

LEAST_SHARED = 2  # words that make two keys of different length one trouble


def known_trouble(key: str, issues: Iterable[KnownIssue]) -> KnownIssue | None:
    """The reported trouble that a key names: the nearest in words, of several the most reported; None for a new one."""
    likely = [(_distance(key, one.issue_key), one) for one in issues]
    found = [(distance, -one.reports, one.issue_key, one) for distance, one in likely if distance is not None]
    return min(found, key=lambda near: near[:3])[3] if found else None


def _distance(key: str, known: str) -> int | None:
    """How far two keys of one trouble are apart, 0 to 2; None for two troubles."""
    if key == known:
        return 0
    one, other = content_of(key), content_of(known)
    more, missing = unsaid(one, other), unsaid(other, one)
    if not one or not other or (more and missing):
        return None
    added = more + missing
    if not added:
        return 1
    near = len(added) == 1 and not added[0][0].isdigit() and min(len(one), len(other)) >= LEAST_SHARED
    return 2 if near else None
