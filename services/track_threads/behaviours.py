"""Behaviours: which of the operator's rules hold for an occasion, and what follows. Pure.

What is about the author (domain, state, tags, risk) holds for an authenticated author alone, so that nobody gets
another customer's treatment by writing in their name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid5

from schemas.events.memory import TurnReflected
from schemas.events.threads import AppliedBehaviour
from services.core.settings import Behaviour, Settings, When, in_force, says
from services.track_threads.marks import note, prioritise, retag
from services.track_threads.states import Events
from services.track_threads.thread import Thread


@dataclass(frozen=True, slots=True)
class Mail:
    """A row of `mails`, as far as rules look at it."""

    mail_id: UUID
    subject: str
    text: str
    author_addr: str
    language: str
    trusted: bool
    participant_id: UUID | None


@dataclass(frozen=True, slots=True)
class Person:
    """A person as they were seen last, under whichever address, with the worst risk of all of them."""

    state: str = ""
    tags: tuple[str, ...] = ()
    risk: str = ""


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


@dataclass(frozen=True, slots=True)
class Occasions:
    """What was read of the mails that rules may look at, oldest first: themselves and their proven authors.

    `handed_over` are those with which the thread was handed to a person before.
    """

    mails: tuple[Mail, ...] = ()
    people: Mapping[UUID | None, Person] = field(default_factory=dict)
    handed_over: frozenset[UUID] = frozenset()

    def of(self, mail_ids: Collection[UUID], outcome: str = "", intent: str = "") -> Occasion:
        """What some of them are together."""
        mails = [one for one in self.mails if one.mail_id in mail_ids]
        proven = bool(mails) and all(one.trusted for one in mails)
        person = self.people.get(mails[0].participant_id, Person()) if proven else Person()
        return Occasion(
            subjects=tuple(one.subject for one in mails),
            texts=tuple(one.text for one in mails),
            authenticated=proven,
            domains=tuple(one.author_addr.rpartition("@")[2] for one in mails),
            languages=tuple(one.language for one in mails if one.language),
            participant_state=person.state,
            participant_tags=person.tags,
            risk=person.risk,
            outcome=outcome,
            intent=intent,
        )


NO_OCCASIONS = Occasions()


def rules_of(settings: Settings, inbox: str, moment: str) -> tuple[Behaviour, ...]:
    """The rules of a moment, "before" a turn or "after" it."""
    own = settings.known_inbox(inbox)
    return in_force(settings.behaviours, own.behaviours if own else (), moment)


def before_turn(
    thread: Thread, settings: Settings, occasions: Occasions, mail_ids: Collection[UUID]
) -> tuple[Behaviour, ...]:
    """The rules that hold for mails before they are answered."""
    rules = rules_of(settings, thread.inbox, "before")
    return holding(rules, occasions.of(mail_ids), thread) if rules and mail_ids else ()


def after_turn(thread: Thread, settings: Settings, occasions: Occasions, turn: TurnReflected) -> tuple[Behaviour, ...]:
    """The rules that hold for a turn that was learned from."""
    rules = rules_of(settings, thread.inbox, "after")
    intent = turn.signals.intent if turn.covers_to or turn.again else ""
    occasion = occasions.of(turn.mail_ids, turn.outcome, intent)
    return holding(rules, occasion, thread) if turn.mail_ids else ()


def because(thread: Thread, rules: Iterable[Behaviour], occasions: Occasions) -> str:
    """Why a person answers what is next, "" where no rule says so of mails that no person has handed back."""
    fresh = [one.mail_id for one in thread.next_up if one.mail_id not in occasions.handed_over]
    return escalation(holding(rules, occasions.of(fresh), thread)) if fresh else ""


def holding(rules: Iterable[Behaviour], occasion: Occasion, thread: Thread) -> tuple[Behaviour, ...]:
    """The rules that hold, in the order given."""
    return tuple(one for one in rules if _holds(one.when, occasion, thread))


def applied(rules: Iterable[Behaviour]) -> tuple[AppliedBehaviour, ...]:
    """What rules do to a turn, as it stands on the turn's event."""
    return tuple(AppliedBehaviour(name=one.name, say=one.then.say, set=says(one.then.set)) for one in rules)


def escalation(rules: Iterable[Behaviour]) -> str:
    """Why a person is to answer, "" where no rule says so."""
    return next((f"behaviour {one.name}: {one.then.escalate}" for one in rules if one.then.escalate), "")


def put_marks(thread: Thread, rules: Iterable[Behaviour]) -> Events:
    """Tags and priority of rules; the first rule that says a priority wins, and a tag goes on before one comes off."""
    tags, urgent = thread.tags, False
    for one in rules:
        reason = f"behaviour {one.name}"
        if one.then.priority and not urgent:
            yield from prioritise(thread, one.then.priority, "system", reason)
            urgent = True
        add, remove = set(one.then.tag) - tags, set(one.then.untag) & tags
        yield from retag(replace(thread, tags=tags), add, remove, "system", reason)
        tags = (tags | add) - remove


def notes(thread: Thread, rules: Iterable[Behaviour], cause: UUID) -> Events:
    """What rules say to people once a turn was learned from."""
    for one in rules:
        if one.then.note:
            source = uuid5(cause, f"track_threads:{one.name}")  # as stored notes have it: `Unit.id_for`
            yield note(thread, one.then.note, f"behaviour {one.name}", "system", source)


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
