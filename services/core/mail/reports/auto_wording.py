"""How vacation responders and ticket robots word themselves, for when their headers do not say it.

Subjects are tried at the start, after the reply prefixes that responders put there; a body counts
only by its first sentences, where a robot speaks and a person seldom does.
"""

from __future__ import annotations

import re

from services.core.mail.reports.wording import wording

OPENING_CHARS = 700
_QUOTED = re.compile(r"^\s*(?:\w{0,12}|[|+])\s?[>|]")


def automatic_subject(subject: str) -> str:
    """The words by which a subject is an automatic reply's, or ""."""
    found = wording("auto_subjects", at_start=True).search(subject.strip())
    return found.group(0).strip() if found else ""


def automatic_opening(text: str) -> str:
    """The words near a body's beginning by which a robot gives itself away, or ""."""
    own = (line for line in text.split("\n") if not _QUOTED.match(line))
    found = wording("auto_openings").search(" ".join(" ".join(own).split())[:OPENING_CHARS])
    return found.group(0) if found else ""
