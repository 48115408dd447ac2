"""What is remembered, said to the person it is about: one clause for each fact, in the second person."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from services.model.offline.sentences import one_line, terms
from services.model.offline.view import Known, Recollection

_CLAUSES = {
    "plan": "you are on the {value} plan",
    "seats": "you have {value} users",
    "company": "you are with {value}",
    "role": "your role is {value}",
    "city": "you are at {value}",
    "uses": "you use {value}",
    "renewal": "your subscription: {value}",
    "absence": "you are {value}",
}
_BY_KIND = {
    "issue_history": "you wrote to us about: {value}",
    "goal": "your goal: {value}",
    "interaction": 'your last question to us: "{value}"',
}
_WORTH_TELLING = ("issue_history", "goal", "customer_info", "order_info", "event", "interaction")
_OWN_DATA = ("profile", "identity", "customer_info", "contact_info", "order_info", "preference")
_ASKS_FOR_A_FACT = re.compile(r"\b(?:which|what|what's|how many|when|where|who|do you (?:have|know))\b", re.I)
_STATES = {
    "resolved": "settled",
    "closed": "settled",
    "awaiting_reply": "we wait for your answer",
    "escalated": "a colleague of ours has it",
}
_MOST = 5
_THREADS = 2


def clause(fact: Known) -> str:
    """One clause, without a full stop; numbers and names as they are stored."""
    pattern = _CLAUSES.get(fact.key.partition(" ")[0]) or _BY_KIND.get(fact.kind) or f"{fact.key}: {{value}}"
    month = f" (in {fact.at:%B})" if fact.at and fact.kind in ("issue_history", "interaction") else ""
    return pattern.replace("{value}", fact.value.rstrip(".")) + month


def told(facts: Iterable[Known], threads: Iterable[Mapping[str, Any]] = ()) -> list[str]:
    """What to say when somebody asks where things stand: open matters first, newest first within a kind.

    `threads` are earlier ones ({subject, state}); those that a fact tells of already are left out.
    """
    facts = list(facts)
    worth = sorted((fact for fact in facts if fact.kind in _WORTH_TELLING), key=_newest_first)
    worth.sort(key=lambda fact: _WORTH_TELLING.index(fact.kind))
    newest = {_subject(fact): fact for fact in reversed(worth)}
    lines = [clause(fact) + _outcome(fact, facts) for fact in worth if newest[_subject(fact)] is fact][:_MOST]
    known = set(terms(" ".join(lines)))
    return lines + [_thread_line(one) for one in threads if not set(terms(str(one.get("subject")))) <= known][:_THREADS]


def last_matter(facts: Sequence[Known], threads: Sequence[Mapping[str, Any]]) -> str:
    """One sentence on the last matter and how it went: the newest earlier thread, else the newest issue; or ""."""
    if threads:
        state = _STATES.get(str(threads[0].get("state")), "open")
        return f'Last time it was about "{threads[0].get("subject")}" ({state}).'
    issues = sorted((fact for fact in facts if fact.kind == "issue_history"), key=_newest_first)
    return f'Last time it was about "{issues[0].value}"{_outcome(issues[0], facts)}.' if issues else ""


def _thread_line(thread: Mapping[str, Any]) -> str:
    return f'our exchange "{thread.get("subject")}": {_STATES.get(str(thread.get("state")), "open")}'


def _outcome(issue: Known, facts: Sequence[Known]) -> str:
    settled = any(fact.kind == "resolution" and fact.key == issue.key for fact in facts)
    return ", which is settled" if issue.kind == "issue_history" and settled else ""


def _subject(fact: Known) -> tuple[str, str]:
    """What a fact is told once of: each key, and the last question only."""
    return fact.kind, "" if fact.kind == "interaction" else fact.key


def _newest_first(fact: Known) -> float:
    return -fact.at.timestamp() if fact.at else 0.0


def recollected(question: str, recollections: Iterable[Recollection]) -> Recollection | None:
    """What memory answers to a question, or to the sentence that it is part of; None where it was not asked."""
    asked = one_line(question)
    return next((one for one in recollections if asked and asked in one.question), None)


def remembered(found: Recollection) -> str:
    """What is sure, or rings a bell, as one paragraph; what only rings a bell is asked back."""
    if found.verdict == "sure":
        return f'This is what I have noted: "{found.gist}"'
    when = f" from {_days(found)}" if found.since else ""
    return f'I am not sure, but I have a note{when}: "{found.gist}" Is that what you mean?'


def _days(found: Recollection) -> str:
    first, last = found.since, found.until - timedelta(days=1) if found.until else None
    if first is None or last is None or last.date() <= first.date():
        return f"{first:%-d %B %Y}" if first else ""
    return f"{first:%-d %B %Y} to {last:%-d %B %Y}"


def asked_for(question: str, facts: Sequence[Known]) -> Known | None:
    """The fact that a question about the author's own affairs asks for ("which plan are we on?"), or None."""
    if not _ASKS_FOR_A_FACT.search(question):
        return None
    wanted = set(terms(question))
    own = [fact for fact in facts if fact.kind in _OWN_DATA]
    fitting = [fact for fact in own if (key := set(terms(fact.key))) and key <= wanted and len(wanted - key) <= 1]
    return fitting[-1] if fitting else None
