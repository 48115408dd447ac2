"""How vacation responders and ticket robots word themselves, for when their headers do not say it.

Subjects are tried at the start, after the reply prefixes that responders put there; a body counts
only by its first sentences. "I am on vacation" alone is no robot: customers say it too. It becomes
one by a responder's manners, or by being all there is in an answer to a mail.
"""

from __future__ import annotations

import re

from services.core.mail.reports.wording import wording

OPENING_CHARS = 700
BARE_NOTE_CHARS = 300
_QUOTED = re.compile(r"^\s*(?:\w{0,12}|[|+])\s?[>|]")


def automatic_subject(subject: str) -> str:
    """The words by which a subject is an automatic reply's, or ""."""
    found = wording("auto_subjects", at_start=True).search(subject.strip())
    return found.group(0).strip() if found else ""


def automatic_opening(text: str, answers: bool) -> str:
    """The words near a body's beginning by which a robot gives itself away, or "".

    `answers` says whether the mail is a reply: only then is a bare "I am away" taken for a robot's.
    """
    own = " ".join(" ".join(line for line in text.split("\n") if not _QUOTED.match(line)).split())
    opening = own[:OPENING_CHARS]
    found = wording("auto_openings").search(opening)
    return found.group(0) if found else _absence_note(own, opening, answers)


def _absence_note(own: str, opening: str, answers: bool) -> str:
    """A statement of absence with a responder's manners, or alone in an answer; who asks a question is a person."""
    found = wording("absences").search(opening)
    if not found or re.search("[?？]", opening):
        return ""
    bare = answers and len(own) <= BARE_NOTE_CHARS
    return found.group(0) if bare or wording("absence_manners").search(opening) else ""
