"""Which facts go, and which are held by those that stay."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from services.learn_facts.facts.retention import Age, expired

NOW = datetime(2027, 1, 1, tzinfo=UTC)
OLD, NEW = NOW - timedelta(days=1), NOW + timedelta(days=1)
A, B, C, D = (UUID(int=number) for number in range(1, 5))


def test_what_nothing_renewed_goes_and_what_is_pinned_stays() -> None:
    """Age decides, to the moment; a pin overrules it."""
    assert expired([Age(A, False, OLD), Age(B, True, OLD), Age(C, False, NEW), Age(D, False, NOW)], NOW) == (A,)


def test_a_fact_is_held_by_what_was_derived_from_it_however_far_away() -> None:
    """A stays for B, which stays for C, which is new."""
    chain = [Age(A, False, OLD), Age(B, False, OLD, [A]), Age(C, False, NEW, [B])]
    assert expired(chain, NOW) == ()
    assert expired([*chain[:2], Age(C, False, OLD, [B])], NOW) == (A, B, C)


def test_facts_that_name_each_other_do_not_hold_each_other_for_good() -> None:
    """A ring of old facts goes as a whole; a parent that is gone already holds nobody."""
    assert expired([Age(A, False, OLD, [B]), Age(B, False, OLD, [A, D])], NOW) == (A, B)


def test_of_nothing_nothing_goes() -> None:
    """An empty memory is no error."""
    assert expired([], NOW) == ()
