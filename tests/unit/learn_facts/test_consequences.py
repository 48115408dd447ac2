"""What follows from decisions: derived facts go stale, near-duplicates become one and can be taken apart."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.events.memory import FactRetracted, FactsUnmerged
from services.learn_facts import consequences, decide_requests
from services.learn_facts.participant import KnownFact
from services.learn_facts.policy import STANDARD
from tests.unit.learn_facts.people import NOW, PERSON, asked, id_of, known, person, support


def trouble(text: str, **given: Any) -> KnownFact:
    fields = {"kind": "issue_history", "key": "export", "text": text, "single_valued": False}
    return known(text, **{**fields, **given})


def merged(*facts: KnownFact, similarity: float = 0.9) -> list[tuple[Any, ...]]:
    """What becomes of the last fact, which is new."""
    found = consequences.merge(person(*facts), facts[-1].fact_id, lambda a, b: similarity)
    return [(found.fact_id, found.members)] if found else []


ONE, OTHER = trouble("The CSV export times out."), trouble("Exporting CSV runs into a timeout.")


def test_what_says_the_same_is_merged_into_the_older() -> None:
    """Two facts that agree in all and are alike become one; confidence comes from both their supports."""
    other = trouble("Exporting CSV runs into a timeout.", supports=(support("another mail", thread="another"),))
    event = consequences.merge(person(ONE, other), other.fact_id, lambda a, b: 0.9)
    assert event is not None
    assert (event.fact_id, event.members) == (ONE.fact_id, (other.fact_id,))
    assert event.confidence == pytest.approx(1 - 0.3 * 0.6 * 0.8)


@pytest.mark.parametrize(
    "other",
    [
        trouble("The CSV export times out after 30 seconds."),
        trouble("The CSV export does not time out."),
        trouble("The PDF export times out."),
        trouble("The CSV export times out.", key="import"),
        trouble("The CSV export times out.", kind="note"),
        trouble("The CSV export times out.", trust="ours"),
        trouble("The CSV export times out.", expires_at=NOW),
        trouble("The CSV export times out.", trust="human"),
        trouble("The CSV export times out.", pinned=True),
        trouble("The CSV export times out.", single_valued=True),
    ],
    ids=["number", "polarity", "name", "key", "kind", "trust", "end", "human", "pinned", "single"],
)
def test_nothing_is_merged_where_anything_that_matters_differs(other: KnownFact) -> None:
    """However alike two sentences are: key, numbers, names and polarity must agree, and people's words stand alone."""
    assert merged(ONE, other, similarity=1.0) == []


def test_what_happened_twice_is_not_once() -> None:
    """Occurrences are never merged."""
    one, other = (trouble("They asked about exports.", kind="interaction", fact_id=id_of(n)) for n in "ab")
    assert merged(one, other, similarity=1.0) == []


def test_what_is_not_alike_enough_stays_two() -> None:
    """Similarity below the bound merges nothing."""
    assert merged(ONE, OTHER, similarity=0.84) == []
    assert merged(ONE, OTHER, similarity=0.85) == [(ONE.fact_id, (OTHER.fact_id,))]


def test_a_merge_is_undone_by_a_person() -> None:
    """The members come back, and the confidence of the one that stayed is its own again."""
    both = (support("a"), support("b"))
    kept = trouble("The CSV export times out.", members=(OTHER.fact_id,), supports=both)
    (event,) = decide_requests.request(
        person(kept), asked("unmerge", fact_id=kept.fact_id), id_of("new"), NOW, STANDARD
    )
    assert isinstance(event, FactsUnmerged)
    assert event.members == (OTHER.fact_id,)


def test_a_derived_fact_goes_stale_with_its_parent_and_so_do_its_own() -> None:
    """Staleness follows derivation to the end, once for each fact, and names the parent."""
    base, child = known("40", key="seats"), known("large", key="size", parents=(id_of("fact 40"),))
    grandchild = known("sales", key="owner", parents=(child.fact_id,))
    ended = FactRetracted(participant_id=PERSON, fact_id=base.fact_id, reason="no")
    events = list(consequences.stale(person(base, child, grandchild), [ended]))
    assert [(one.fact_id, one.parent_id) for one in events] == [
        (child.fact_id, base.fact_id),
        (grandchild.fact_id, child.fact_id),
    ]


def test_what_is_stale_already_is_not_said_again() -> None:
    """A fact goes stale once, until it is believed again."""
    child = known("large", key="size", parents=(id_of("fact 40"),), stale=True)
    ended = FactRetracted(participant_id=PERSON, fact_id=id_of("fact 40"), reason="no")
    assert list(consequences.stale(person(child), [ended])) == []
