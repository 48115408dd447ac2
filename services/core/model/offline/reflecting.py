"""What one closed turn teaches: summary, fact operations, relations, signals, brief. See `Reflection`.

Facts come from the author's new text alone, each with its verbatim quote; our own words go into the summary only.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

from schemas.model_output import BRIEF_WORDS, SUMMARY_WORDS, ParticipantStateName, Reflection
from services.core.model.offline import tone
from services.core.model.offline.facts import Stated, stated
from services.core.model.offline.sentences import one_line, sentences, words
from services.core.model.offline.view import Known, Line, View
from services.core.model.offline.wishes import body_of, read_wishes

_QUOTE_LIMIT = 300
_MOST_CHARACTERS = 600
_THIRD_PERSON = {
    "name": "The customer is called {value}.",
    "company": "{who} works at {value}.",
    "role": "{who} is {value}.",
    "plan": "{who} is on the {value} plan.",
    "users": "{who} has {value} users.",
    "location": "{who} is at {value}.",
    "uses": "{who} uses {value}.",
    "renewal": "{who} renewed the subscription.",
    "colleague": "{value} is a colleague of {who}.",
    "absence": "{who} is {value}.",
}
_EDGES = {"company": "works_at", "plan": "is_on_plan", "uses": "uses", "colleague": "works_with"}
_ISSUES = frozenset(("bug_report", "billing", "complaint", "cancellation"))
_CUSTOMER_WORDS = ("plan", "renewal")


def reflect(view: View) -> dict[str, Any]:
    """The input of the tool `reflect`, JSON data that `Reflection` has validated."""
    written = (view.now or datetime(1970, 1, 1, tzinfo=UTC)).date()
    text = "\n\n".join(mail.text for mail in view.mails)
    facts = stated(text, written)
    signals = _signals(view, text, facts)
    who = next((fact.value for fact in facts if fact.key == "name"), view.name) or "The customer"
    operations = [_operation(fact, who, view.facts) for fact in facts]
    operations += _issue(view, text, who, signals)
    summary = _summary(view, who)
    reflection = Reflection.model_validate(
        {
            "summary": summary,
            "facts": operations,
            "relations": _relations(facts, who),
            "signals": signals,
            "participant": _participant(view, signals, facts),
            "brief": _brief(view, who, facts, summary),
        }
    )
    return reflection.model_dump(mode="json")


def _signals(view: View, text: str, facts: list[Stated]) -> dict[str, Any]:
    newest = view.mails[-1]
    body = body_of(newest.text)
    named = ("company", "name")
    own = [one.value for one in view.facts if one.key in named] + [one.value for one in facts if one.key in named]
    names = " ".join([newest.name, *own])
    return {
        "sentiment": tone.sentiment(body),
        "frustrated": tone.is_frustrated(body),
        "intent": tone.intent(body),
        "issue_key": tone.issue_key(body_of(text), newest.subject, names),
        "issue_resolved": read_wishes(newest.text).settled,
        "tags": [],
    }


def _operation(fact: Stated, who: str, current: Iterable[Known]) -> dict[str, Any]:
    """UPDATE if another value is stored under the same kind and key, else ADD (which corroborates an equal one)."""
    stored = next((one for one in current if (one.kind, one.key) == (fact.kind, fact.key)), None)
    changes = stored is not None and stored.value.lower() != fact.value.lower() and fact.key != "preference"
    sentence = _THIRD_PERSON.get(fact.key, '{who} said: "{quote}"')
    return {
        "op": "UPDATE" if changes else "ADD",
        "fact_id": stored.id if stored and changes else "",
        "kind": fact.kind,
        "key": fact.key,
        "value": fact.value,
        "text": sentence.format(who=who, value=fact.value, quote=one_line(fact.quote))[:_QUOTE_LIMIT],
        "quote": fact.quote,
        "importance": fact.importance,
        "valid_to": fact.valid_to,
    }


def _issue(view: View, text: str, who: str, signals: dict[str, Any]) -> list[dict[str, Any]]:
    """The trouble itself as issue history, so that a repeat is recognised."""
    if signals["issue_resolved"]:
        return _resolution(view, text, who)
    if not signals["issue_key"] or signals["intent"] not in _ISSUES:
        return _interaction(view, text, who)
    body = body_of(text)
    quote = tone.trouble(body) or tone.topic(body)
    if not quote or len(quote) > _QUOTE_LIMIT:
        return []
    about = one_line(tone.topic(body) or quote).rstrip(".!")
    weight = 7 if signals["frustrated"] else 6
    return [_added("issue_history", signals["issue_key"], about, f"{who} wrote to us about: {about}", quote, weight)]


def _resolution(view: View, text: str, who: str) -> list[dict[str, Any]]:
    """That the latest trouble is over, under the trouble's key."""
    issues = [fact for fact in view.facts if fact.kind == "issue_history"]
    quote = next((one for one in sentences(body_of(text)) if read_wishes(one).settled), "")
    if not issues or not quote:
        return []
    issue = max(issues, key=lambda fact: fact.at.timestamp() if fact.at else 0.0)
    said = f"{who} says that this is settled: {issue.value}"
    return [_added("resolution", issue.key, f"settled: {issue.value}"[:_QUOTE_LIMIT], said, quote, 6)]


def _interaction(view: View, text: str, who: str) -> list[dict[str, Any]]:
    """What the author last asked, where it is more than "where do we stand?"."""
    wishes = read_wishes(text)
    if wishes.recall or not wishes.questions or len(wishes.questions[0]) > _QUOTE_LIMIT:
        return []
    question = wishes.questions[0]
    return [
        _added("interaction", "last question", one_line(question), f"{who} asked: {one_line(question)}", question, 3)
    ]


def _added(kind: str, key: str, value: str, text: str, quote: str, importance: int) -> dict[str, Any]:
    text = text[:_QUOTE_LIMIT]
    return {
        "op": "ADD",
        "kind": kind,
        "key": key,
        "value": value,
        "text": text,
        "quote": quote,
        "importance": importance,
    }


def _relations(facts: Iterable[Stated], who: str) -> list[dict[str, str]]:
    return [
        {"op": "INSERT", "subject": who, "predicate": _EDGES[fact.key], "object": fact.value, "quote": fact.quote}
        for fact in facts
        if fact.key in _EDGES and who != "The customer"
    ]


def _participant(view: View, signals: dict[str, Any], facts: list[Stated]) -> dict[str, str] | None:
    state, reason = _standing(view.value("participant", "state") or "unknown", signals, facts)
    return {"state": state, "reason": reason} if state else None


def _standing(current: str, signals: dict[str, Any], facts: list[Stated]) -> tuple[ParticipantStateName | None, str]:
    intent = signals["intent"]
    pays = any(fact.key in _CUSTOMER_WORDS for fact in facts) or intent in ("purchase", "renewal")
    if intent in ("competitor", "cancellation") and current in ("customer", "vip", "returning"):
        return "at_risk", f"The mail speaks of leaving ({intent})."
    if current == "churned":
        return "returning", "A former customer writes again."
    if pays and current in ("unknown", "prospect", "at_risk") and intent not in ("competitor", "cancellation"):
        return "customer", "The mail says that they have or take a plan."
    if intent == "pricing_question" and current == "unknown":
        return "prospect", "The mail asks for prices."
    if intent == "billing" and current in ("unknown", "prospect"):
        return "customer", "The mail is about an invoice of theirs."
    return None, ""


def _summary(view: View, who: str) -> str:
    """The current summary and the new mails, a line each, at most 200 words: the first stays, the oldest others go."""
    current = [one for one in view.text("summary").splitlines() if one and not one.startswith("Pending:")]
    lines = current + [_told(mail, who) for mail in view.mails]
    lines += [_answered(line) for line in _our_answers(view)]
    goals = [str(goal) for item in view.items("thread") for goal in item.get("goals") or ()]
    lines += [f"Pending: {'; '.join(goals)}."] if goals else []
    lines = [line for line in lines if line]
    while len(words(" ".join(lines))) > SUMMARY_WORDS - 20 and len(lines) > 2:
        del lines[1]
    return "\n".join(lines)


def _our_answers(view: View) -> list[Line]:
    """What we said after the first of the new mails."""
    first = view.mails[0].at
    return [line for line in view.recent if line.ours and first and line.at and line.at >= first]


def _told(mail: Line, who: str) -> str:
    body = sentences(body_of(mail.text))
    wishes = read_wishes(mail.text)
    telling = [
        one for one in body if one in wishes.questions or tone.trouble(one) or tone.topic(one) or stated(one, date.min)
    ]
    chosen = (telling or body)[:3]
    month = f" in {mail.at:%B}" if mail.at else ""
    return f'{who} wrote{month}: "{_clipped(" ".join(chosen), 40)}".' if chosen else ""


def _answered(line: Line) -> str:
    body = sentences(body_of(line.text))
    return f'We answered: "{_clipped(" ".join(body[:3]), 30)}".' if body else ""


def _clipped(text: str, limit: int) -> str:
    parts = text[:_MOST_CHARACTERS].replace('"', "'").split()
    return " ".join(parts[:limit]) + (" ..." if len(parts) > limit else "")


def _brief(view: View, who: str, facts: list[Stated], summary: str) -> str:
    """Profile, facts by kind, and the newest thread, at most 500 words."""
    new = {(fact.kind, fact.key): fact.value for fact in facts}
    kept = {(fact.kind, fact.key): fact.value for fact in view.facts if fact.kind != "profile"} | new
    lines = [f"{who}, {view.value('participant', 'address') or view.mails[-1].address}".rstrip(", ")]
    for kind in sorted({kind for kind, _ in kept}):
        named = kind in ("customer_info", "identity", "contact_info")
        entries = [f"{key} {value}" if named else value for (one, key), value in kept.items() if one == kind]
        lines += [f"{kind.replace('_', ' ')}: {'; '.join(entries)}"] if entries else []
    lines.append(f"latest thread:\n{summary}")
    return _clipped_lines(lines, BRIEF_WORDS - 50)


def _clipped_lines(lines: list[str], limit: int) -> str:
    """Whole lines while they fit."""
    kept: list[str] = []
    for line in lines:
        if len(" ".join([*kept, line]).split()) <= limit:
            kept.append(line)
    return "\n".join(kept)
