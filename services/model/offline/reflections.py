"""What one closed turn teaches: summary, fact operations, relations, signals, brief. See `Reflection`.

Facts come from the author's new text alone, each with its verbatim quote; our own words go into the summary only.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

from schemas.model_output import ParticipantProposal, ParticipantStateName, Reflection, Relation, Signals
from services.model.offline import tone
from services.model.offline.facts import Stated, stated
from services.model.offline.operations import operations
from services.model.offline.requests import body_of, read_requests
from services.model.offline.summaries import brief, summary
from services.model.offline.view import View

_UNNAMED = "The customer"
_NO_DATE = datetime(1970, 1, 1, tzinfo=UTC)
_EDGES = {"company": "works_at", "plan": "is_on_plan", "uses": "uses", "colleague": "works_with"}
_PAYING_KEYS = ("plan", "renewal date")
_NAMES = ("company", "name")
_UNTAGGED = ("other", "thanks")


def reflect(view: View) -> dict[str, Any]:
    """The input of the tool `reflect`, as JSON data that `Reflection` has validated."""
    text = view.body
    facts = stated(text, (view.now or _NO_DATE).date())
    signals = _signals(view, text, facts)
    who = next((fact.value for fact in facts if fact.key == "name"), view.name) or _UNNAMED
    told = summary(view, who)
    reflection = Reflection.model_validate(
        {
            "summary": told,
            "facts": operations(view, text, who, facts, signals),
            "relations": _relations(facts, who),
            "signals": signals,
            "participant": _lifecycle(view.value("participant", "state") or "unknown", signals, facts),
            "brief": brief(view, who, facts, told),
        }
    )
    return reflection.model_dump(mode="json")


def _signals(view: View, text: str, facts: Iterable[Stated]) -> Signals:
    newest = view.mails[-1]
    body = body_of(newest.text)
    own = [one.value for one in view.facts if one.key in _NAMES] + [one.value for one in facts if one.key in _NAMES]
    return Signals(
        sentiment=tone.sentiment(body),
        frustrated=tone.is_frustrated(body),
        frustrated_mails=len(list(takewhile(lambda one: tone.is_frustrated(body_of(one.text)), reversed(view.mails)))),
        intent=tone.intent(body),
        issue_key=tone.issue_key(text, newest.subject, " ".join([newest.name, *own])),
        issue_resolved=read_requests(newest.text).settled,
        tags=[] if tone.intent(body) in _UNTAGGED else [tone.intent(body)],
    )


def _relations(facts: Iterable[Stated], who: str) -> list[Relation]:
    return [
        Relation(subject=who, predicate=_EDGES[fact.key.split()[0]], object=fact.value, quote=fact.quote)
        for fact in facts
        if fact.key.split()[0] in _EDGES and who != _UNNAMED
    ]


def _lifecycle(current: str, signals: Signals, facts: Iterable[Stated]) -> ParticipantProposal | None:
    """A step of the lifecycle, where the mail shows one; the first rule that holds decides."""
    leaving = signals.intent in ("competitor", "cancellation")
    pays = any(fact.key in _PAYING_KEYS for fact in facts) or signals.intent in ("purchase", "renewal")
    rules: tuple[tuple[bool, tuple[str, ...], ParticipantStateName, str], ...] = (
        (leaving, ("customer", "vip", "returning"), "at_risk", f"The mail speaks of leaving ({signals.intent})."),
        (True, ("churned",), "returning", "A former customer writes again."),
        (pays and not leaving, ("unknown", "prospect"), "customer", "They have or take a plan."),
        (signals.intent in ("purchase", "renewal"), ("at_risk",), "customer", f"They stay ({signals.intent})."),
        (signals.intent == "pricing_question", ("unknown",), "prospect", "The mail asks for prices."),
        (signals.intent == "billing", ("unknown", "prospect"), "customer", "The mail is about an invoice of theirs."),
    )
    for holds, states, proposed, reason in rules:
        if holds and current in states:
            return ParticipantProposal(state=proposed, reason=reason)
    return None
