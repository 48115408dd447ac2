"""The past of a key: what was said before and after a moment of valid time. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from services.learn_facts.forms import same_value
from services.learn_facts.participant import Fact, Participant


class Later(NamedTuple):
    """The first thing known of a key after a moment: the fact that followed (None: it ended), and when."""

    fact_id: UUID | None
    at: datetime


def followed_by(who: Participant, key: str, since: datetime, *, for_a_while: bool = False) -> Later | None:
    """What is known to follow a value of a single-valued `key` that was so at `since`; None if nothing is.

    A value `for_a_while` is followed by what began later, and not by what was only said again.
    """
    later = [
        Later(fact.fact_id, said)
        for fact in who.facts
        if fact.key == key and fact.single_valued
        for said in (fact.valid_from, *(one.said_at for one in fact.supports if one.said_at and not for_a_while))
        if said > since
    ]
    for past in who.past:
        if past.key == key and past.single_valued and past.withdrawn_at is None:
            if past.valid_from > since:
                later.append(Later(past.fact_id, past.valid_from))
            elif past.valid_to and past.valid_to > since and past.superseded_by is None:
                later.append(Later(None, past.valid_to))
    return min(later, key=lambda one: one.at, default=None)


def ended_after(past: Sequence[Fact], key: str, value: str, since: datetime) -> Later | None:
    """The first end after `since` of this very value, where a key has several; None if none is known."""
    ends = (
        Later(one.superseded_by, one.valid_to)
        for one in past
        if one.key == key and not one.withdrawn_at and one.valid_to and one.valid_to > since
        if same_value(one.value, value)
    )
    return min(ends, key=lambda one: one.at, default=None)


def spoken_of(past: Sequence[Fact], key: str, since: datetime, until: datetime) -> Later | None:
    """The first other value of a single-valued key that began between two moments; None if none did."""
    began = (
        Later(one.fact_id, one.valid_from)
        for one in past
        if one.key == key and one.single_valued and not one.withdrawn_at and since < one.valid_from < until
    )
    return min(began, key=lambda one: one.at, default=None)


def taken_back(past: Sequence[Fact], key: str, value: str, since: datetime) -> bool:
    """Whether a person withdrew this very value after it was said at `since`."""
    return any(
        one.withdrawn_at and since <= one.withdrawn_at and one.key == key and same_value(one.value, value)
        for one in past
    )
