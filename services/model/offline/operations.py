"""Fact operations: what an author stated, set against what is stored about them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from schemas.model_output import Signals
from services.model.offline import tone
from services.model.offline.facts import Stated
from services.model.offline.requests import read_requests
from services.model.offline.sentences import one_line, sentences
from services.model.offline.view import Known, View

_LIMIT = 300  # characters of a quote, a value or a text
_THIRD_PERSON = {
    "name": "The customer is called {value}.",
    "company": "{who} works at {value}.",
    "role": "{who} is {value}.",
    "plan": "{who} is on the {value} plan.",
    "seats": "{who} has {value} users.",
    "city": "{who} is at {value}.",
    "uses": "{who} uses {value}.",
    "renewal": "{who} renewed the subscription.",
    "colleague": "{value} is a colleague of {who}.",
    "absence": "{who} is {value}.",
}
_ISSUES = frozenset(("bug_report", "billing", "complaint", "cancellation"))


def operations(view: View, text: str, who: str, facts: Iterable[Stated], signals: Signals) -> list[dict[str, Any]]:
    """All operations of a turn, each with a quote from `text`, which is `view.body`."""
    stated = [_operation(fact, who, view.facts) for fact in facts]
    matter = _matter(view, text, who, signals)
    return stated + ([matter] if matter else [])


def third_person(fact: Stated, who: str) -> str:
    """The fact as a sentence that can be understood alone."""
    pattern = _THIRD_PERSON.get(fact.key.split()[0], '{who} said: "{quote}"')
    return pattern.format(who=who, value=fact.value, quote=one_line(fact.quote))[:_LIMIT]


def remembered(fact: Stated, who: str) -> dict[str, Any]:
    """A fact as tools take it, whatever becomes of it."""
    return {
        "kind": fact.kind,
        "key": fact.key,
        "value": fact.value,
        "text": third_person(fact, who),
        "quote": fact.quote,
        "importance": fact.importance,
        "valid_to": fact.valid_to,
    }


def _operation(fact: Stated, who: str, current: Iterable[Known]) -> dict[str, Any]:
    """UPDATE if another value is stored under the same kind and key, else ADD (which corroborates an equal one)."""
    stored = next((one for one in current if (one.kind, one.key) == (fact.kind, fact.key)), None)
    changed = stored is not None and stored.value.lower() != fact.value.lower()
    return {
        "op": "UPDATE" if changed else "ADD",
        "fact_id": stored.id if stored and changed else "",
        **remembered(fact, who),
    }


def _matter(view: View, text: str, who: str, signals: Signals) -> dict[str, Any] | None:
    """What the mail is about: a trouble, its end, or a question; None for small talk."""
    if signals.issue_resolved:
        return _resolution(view, text, who)
    if signals.issue_key and signals.intent in _ISSUES:
        return _issue(text, who, signals)
    return _question(text, who)


def _issue(text: str, who: str, signals: Signals) -> dict[str, Any] | None:
    """The trouble itself, so that a repeat is recognised."""
    quote = tone.trouble(text) or tone.topic(text)
    about = one_line(tone.topic(text) or quote).rstrip(".!")
    weight = 7 if signals.frustrated else 6
    return _added("issue_history", signals.issue_key, about, f"{who} wrote to us about: {about}", quote, weight)


def _resolution(view: View, text: str, who: str) -> dict[str, Any] | None:
    """That the latest trouble is over, under the trouble's key."""
    issues = [fact for fact in view.facts if fact.kind == "issue_history"]
    if not issues:
        return None
    issue = max(issues, key=lambda fact: fact.at.timestamp() if fact.at else 0.0)
    quote = next((one for one in sentences(text) if read_requests(one).settled), "")
    said = f"{who} says that this is settled: {issue.value}"
    return _added("resolution", issue.key, f"settled: {issue.value}", said, quote, 6)


def _question(text: str, who: str) -> dict[str, Any] | None:
    """What the author last asked, where it is more than "where do we stand?"."""
    requests = read_requests(text)
    if requests.recall or not requests.questions:
        return None
    asked = one_line(requests.questions[0])
    return _added("interaction", "question", asked, f"{who} asked: {asked}", requests.questions[0], 3)


def _added(kind: str, key: str, value: str, text: str, quote: str, importance: int) -> dict[str, Any] | None:
    if not quote or len(quote) > _LIMIT:
        return None
    return {
        "op": "ADD",
        "kind": kind,
        "key": key,
        "value": value[:_LIMIT],
        "text": text[:_LIMIT],
        "quote": quote,
        "importance": importance,
    }
