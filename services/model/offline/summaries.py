"""The rolling texts: a thread's summary and a participant's brief, both of constant size.

A summary is a line for each mail and each answer; the first line stays, the oldest others go.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from schemas.model_output import BRIEF_WORDS, SUMMARY_WORDS
from services.model.offline import tone
from services.model.offline.facts import Stated, stated
from services.model.offline.requests import body_of, read_requests
from services.model.offline.sentences import sentences
from services.model.offline.view import Line, View

_MARGIN = 20  # words left free below the limit
_LINE_CHARACTERS = 600
_PENDING = "Pending: "
_NAMED_KINDS = ("customer_info", "identity", "contact_info", "order_info")


def summary(view: View, who: str) -> str:
    """The current summary and the new mails, at most 200 words."""
    lines = [line for line in view.text("summary").splitlines() if line and not line.startswith(_PENDING)]
    lines += [_asked(mail, who) for mail in view.mails]
    lines += [_answered(line) for line in _our_answers(view)]
    goals = [str(goal) for item in view.items("thread") for goal in item.get("goals") or ()]
    lines += [f"{_PENDING}{'; '.join(goals)}"] if goals else []
    lines = [line for line in lines if line]
    while len(" ".join(lines).split()) > SUMMARY_WORDS - _MARGIN and len(lines) > 2:
        del lines[1]
    return "\n".join(lines)


def brief(view: View, who: str, facts: Iterable[Stated], latest: str) -> str:
    """Profile, facts by kind, and the newest thread, at most 500 words, whole lines only."""
    kept = {(fact.kind, fact.key): fact.value for fact in view.facts if fact.kind != "profile"}
    kept |= {(fact.kind, fact.key): fact.value for fact in facts}
    lines = [f"{who}, {view.value('participant', 'address') or view.mails[-1].address}".rstrip(", ")]
    lines += [_kind_line(kind, kept) for kind in sorted({kind for kind, _ in kept})]
    return _whole_lines([*lines, "latest thread:", *latest.splitlines()], BRIEF_WORDS - _MARGIN)


def _kind_line(kind: str, kept: dict[tuple[str, str], str]) -> str:
    named = kind in _NAMED_KINDS
    entries = [f"{key} {value}" if named else value for (one, key), value in kept.items() if one == kind]
    return f"{kind.replace('_', ' ')}: {'; '.join(entries)}"


def _whole_lines(lines: list[str], limit: int) -> str:
    kept: list[str] = []
    for line in lines:
        if len(" ".join([*kept, line]).split()) <= limit:
            kept.append(line[:_LINE_CHARACTERS])
    return "\n".join(kept)


def _our_answers(view: View) -> list[Line]:
    """What we said after the first of the new mails."""
    first = view.mails[0].at
    return [line for line in view.recent if line.ours and first and line.at and line.at >= first]


def _asked(mail: Line, who: str) -> str:
    """The mail's questions, issues and statements in its own words; its first sentences if it has none."""
    body = sentences(body_of(mail.text))
    asked = read_requests(mail.text).questions
    telling = [one for one in body if one in asked or tone.trouble(one) or tone.topic(one) or stated(one, date.min)]
    chosen = (telling or body)[:3]
    month = f" in {mail.at:%B}" if mail.at else ""
    return f'{who} wrote{month}: "{_clipped(" ".join(chosen), 40)}".' if chosen else ""


def _answered(line: Line) -> str:
    body = sentences(body_of(line.text))
    return f'We answered: "{_clipped(" ".join(body[:3]), 30)}".' if body else ""


def _clipped(text: str, limit: int) -> str:
    parts = text[:_LINE_CHARACTERS].replace('"', "'").split()
    return " ".join(parts[:limit]) + (" ..." if len(parts) > limit else "")
