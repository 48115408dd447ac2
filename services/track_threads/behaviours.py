"""Behaviours: which of the operator's rules hold for an occasion, and what follows. Pure.

What is about the author (domain, state, tags, risk) holds for an authenticated author alone, so that nobody gets
another customer's treatment by writing in their name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from schemas.events.threads import AppliedBehaviour
from services.core.settings import Behaviour, When, says
from services.track_threads import marks
from services.track_threads.decide_steps import Events
from services.track_threads.thread import Thread


@dataclass(frozen=True, slots=True)
class Occasion:
    """What rules look at: the turn's mails, their author, and afterwards what became of the turn."""

    subjects: tuple[str, ...]
    texts: tuple[str, ...]
    authenticated: bool
    domains: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    participant_state: str = ""
    participant_tags: tuple[str, ...] = ()
    risk: str = ""
    outcome: str = ""
    intent: str = ""


def holding(rules: Iterable[Behaviour], occasion: Occasion, thread: Thread) -> tuple[Behaviour, ...]:
    """The rules that hold, in the order given."""
    return tuple(one for one in rules if _holds(one.when, occasion, thread))


def applied(rules: Iterable[Behaviour]) -> tuple[AppliedBehaviour, ...]:
    """What rules do to a turn, as it stands on the turn's event."""
    return tuple(AppliedBehaviour(name=one.name, say=one.then.say, set=says(one.then.set)) for one in rules)


def escalation(rules: Iterable[Behaviour]) -> str:
    """Why a person shall answer, "" where no rule says so."""
    return next((f"behaviour {one.name}: {one.then.escalate}" for one in rules if one.then.escalate), "")


def put_marks(thread: Thread, rules: Iterable[Behaviour]) -> Events:
    """Tags and priority of rules; the first rule that says a priority wins, and a tag goes on before one comes off."""
    tags, urgent = thread.tags, False
    for one in rules:
        reason = f"behaviour {one.name}"
        if one.then.priority and not urgent:
            yield from marks.prioritise(thread, one.then.priority, "system", reason)
            urgent = True
        add, remove = set(one.then.tag) - tags, set(one.then.untag) & tags
        yield from marks.retag(marks.with_tags(thread, tags), add, remove, "system", reason)
        tags = (tags | add) - remove


def _holds(when: When, occasion: Occasion, thread: Thread) -> bool:
    return (
        _contains(when.subject_contains, occasion.subjects)
        and _contains(when.text_contains, occasion.texts)
        and _about_author(when, occasion)
        and _any(when.languages, occasion.languages)
        and _any(when.thread_tags, thread.tags)
        and _any(when.priorities, (thread.priority,))
        and _any(when.outcomes, (occasion.outcome,))
        and _any(when.intents, (occasion.intent,))
    )


def _about_author(when: When, occasion: Occasion) -> bool:
    if when.authenticated is not None and when.authenticated != occasion.authenticated:
        return False
    wanted = (when.from_domains, when.participant_states, when.participant_tags, when.risks)
    if not any(wanted):
        return True
    return (
        occasion.authenticated
        and (not when.from_domains or any(_below(one, when.from_domains) for one in occasion.domains))
        and _any(when.participant_states, (occasion.participant_state,))
        and _any(when.participant_tags, occasion.participant_tags)
        and _any(when.risks, (occasion.risk,))
    )


def _contains(phrases: Iterable[str], texts: Iterable[str]) -> bool:
    wanted, found = [one.casefold() for one in phrases], [one.casefold() for one in texts]
    return not wanted or any(phrase in text for phrase in wanted for text in found)


def _any(wanted: Iterable[Any], found: Iterable[Any]) -> bool:
    asked = {str(one).casefold() for one in wanted}
    return not asked or not asked.isdisjoint(str(one).casefold() for one in found)


def _below(domain: str, wanted: Iterable[str]) -> bool:
    labels = domain.casefold()
    return any(labels == one.casefold() or labels.endswith(f".{one.casefold()}") for one in wanted)
