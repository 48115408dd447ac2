"""How vacation responders and ticket robots word themselves, for when their headers do not say it.

Subjects are tried at the start, after the reply prefixes that responders put there; a body counts
only by its first sentences. "I am on vacation" alone is no robot: customers say it too. It becomes
one by a responder's manners, or by being all there is in an answer to a mail.
"""

from __future__ import annotations

import re

from services.core.mail.reports.wording import find_wording, opens_with_wording

OPENING_CHARS = 700
BARE_NOTE_CHARS = 300
_QUOTED = re.compile(r"^\s*(?:\w{0,12}|[|+])\s?[>|]")


def automatic_subject(subject: str) -> str:
    """The words by which a subject is an automatic reply's, or ""."""
    return opens_with_wording("auto_subjects", subject.strip())


def automatic_opening(text: str, answers: bool) -> str:
    """The words near a body's beginning by which a robot gives itself away, or "".

    `answers` says whether the mail is a reply: only then is a bare "I am away" taken for a robot's.
    """
    own = " ".join(" ".join(line for line in text.split("\n") if not _QUOTED.match(line)).split())
    opening = own[:OPENING_CHARS]
    return find_wording("auto_openings", opening) or _absence_note(own, opening, answers)


def _absence_note(own: str, opening: str, answers: bool) -> str:
    """A statement of absence with a responder's manners, or alone in an answer; who asks a question is a person."""
    if re.search("[?？]", opening):
        return ""
    absence = find_wording("absences", opening)
    bare = answers and len(own) <= BARE_NOTE_CHARS
    return absence if absence and (bare or find_wording("absence_manners", opening)) else ""
