"""What follows from decisions: derived facts go stale, near-duplicates become one and can be taken apart."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from schemas.events.memory import FactRecorded, FactRetracted, FactsUnmerged
from services.learn_facts.facts import consequences
from services.learn_facts.facts import requests as decide_requests
from services.learn_facts.facts.policy import STANDARD
from services.learn_facts.participant import Fact
from tests.unit.learn_facts import people
from tests.unit.learn_facts.people import NOW, PERSON, asked, id_of, known, person, support


def trouble(text: str, **given: Any) -> Fact:
    fields = {"kind": "issue_history", "key": "export", "text": text, "single_valued": False}
    return known(text, **{**fields, **given})


def merged(*facts: Fact, similarity: float = 0.9) -> list[tuple[Any, ...]]:
    """What becomes of the last fact, which is new."""
    found = consequences.merge(person(*facts), facts[-1].fact_id, lambda a, b: similarity)
    return [(found.fact_id, found.members)] if found else []


ONE, OTHER = trouble("The CSV export times out."), trouble("Exporting as CSV times out.")


def test_what_says_the_same_is_merged_into_the_older() -> None:
    """Two facts that agree in all and are alike become one; confidence comes from both their supports."""
    other = trouble("Exporting as CSV times out.", supports=(support("another mail", thread="another"),))
    event = consequences.merge(person(ONE, other), other.fact_id, lambda a, b: 0.9)
    assert event is not None
    assert (event.fact_id, event.members) == (ONE.fact_id, (other.fact_id,))
    assert event.confidence == pytest.approx(1 - 0.3 * 0.6 * 0.8)


@pytest.mark.parametrize("apart", [0, 1])
def test_what_a_person_took_apart_is_not_merged_again(apart: int) -> None:
    """Whichever of the two remembers that it was taken apart from the other."""
    pair = [ONE, OTHER]
    pair[apart] = replace(pair[apart], apart_from=(pair[1 - apart].fact_id,))
    assert merged(*pair, similarity=1.0) == []


REPORTS = known("PDF", key="report format", text="I want reports as PDF.")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("I prefer my reports as PDF.", True),
        ("I prefer reports as PDF for Lisbon.", False),
        ("I prefer reports as PDF for my colleague.", False),
    ],
)
def test_one_value_under_two_names_of_a_key_is_one_only_of_the_same_people(text: str, is_one: bool) -> None:
    """A name, or a colleague, that only one of the two sentences tells of keeps them apart."""
    new = known("PDF", fact_id=id_of("new"), key="format of reports", text=text)
    recorded = FactRecorded.model_construct(fact_id=new.fact_id, past=False)
    assert len(list(consequences.joined(person(REPORTS, new), [recorded]))) == is_one


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
def test_nothing_is_merged_where_anything_that_matters_differs(other: Fact) -> None:
    """However alike two sentences are: key, numbers, names and polarity must agree, and people's words stand alone."""
    assert merged(ONE, other, similarity=1.0) == []


def note(text: str) -> Fact:
    return trouble(text, kind="note", key="habits")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Prefers calls in the morning.", "Prefers calls in the evening."),
        ("Ben prefers calls.", "Jen prefers calls."),
        ("Martin prefers calls.", "Martina prefers calls."),
        ("Prefers calls.", "Ben prefers calls."),
        ("Ben reports to Jen.", "Jen reports to Ben."),
        ("Needs two seats.", "Needs three seats."),
        ("Needs seats.", "Needs two seats."),
        ("Calls before noon.", "Calls after noon."),
        ("Ruft montags an.", "Ruft dienstags an."),
        ("Braucht zwei Plätze.", "Braucht drei Plätze."),
        ("Mag Anrufe.", "Mag keine Anrufe."),
        ("Aime les appels.", "N'aime pas les appels."),
        ("Quiere llamadas.", "Nunca quiere llamadas."),
        ("Vuole chiamate.", "Non vuole chiamate."),
        ("Lubi telefony.", "Nie lubi telefonów."),
        ("Нужно два места.", "Нужно три места."),
        ("Любит звонки.", "Не любит звонки."),
        ("電話を希望します。", "電話を希望しません。"),
        ("午前の電話を希望。", "午後の電話を希望。"),
    ],
)
def test_a_word_in_place_of_another_keeps_two_facts_apart(one: str, other: str) -> None:
    """Times, names, numbers in words and denials are what facts are about, wherever in the sentence, in any language."""
    assert merged(note(one), note(other), similarity=1.0) == []
    assert merged(note(other), note(one), similarity=1.0) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Prefers calls in the morning.", "They prefer a call in the morning."),
        ("Exporting is slow.", "The export is very slow."),
        ("Der Export ist langsam.", "Export ist sehr langsam."),
        ("電話を希望します。", "電話の希望です。"),
    ],
)
def test_other_forms_and_one_word_more_are_merged(one: str, other: str) -> None:
    """Endings, articles and a word that is added make no other fact."""
    assert merged(note(one), note(other)) == [(note(one).fact_id, (note(other).fact_id,))]


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
    kept = trouble("The CSV export times out.", supports=both)
    gone = people.merged(OTHER.fact_id, kept.fact_id)
    (event,) = decide_requests.request(
        person(kept, gone), asked("unmerge", fact_id=kept.fact_id), id_of("new"), NOW, STANDARD
    )
    assert isinstance(event, FactsUnmerged)
    assert event.members == (OTHER.fact_id,)


def test_a_derived_fact_goes_stale_with_its_parent_and_so_do_its_own() -> None:
    """Staleness follows derivation to the end, once for each fact, and names the parent."""
    base, child = known("40", key="seats"), known("large", key="size", parents=(id_of("fact 40"),))
    grandchild = known("sales", key="owner", parents=(child.fact_id,))
    ended = FactRetracted(participant_id=PERSON, fact_id=base.fact_id, reason="no")
    events = list(consequences.stale(person(base, child, grandchild), [ended], NOW))
    assert [(one.fact_id, one.parent_id) for one in events] == [
        (child.fact_id, base.fact_id),
        (grandchild.fact_id, child.fact_id),
    ]


def test_what_is_stale_already_is_not_said_again() -> None:
    """A fact goes stale once, until it is believed again."""
    child = known("large", key="size", parents=(id_of("fact 40"),), stale=True)
    ended = FactRetracted(participant_id=PERSON, fact_id=id_of("fact 40"), reason="no")
    assert list(consequences.stale(person(child), [ended], NOW)) == []


def test_what_rests_on_a_merged_fact_goes_stale_with_the_one_that_shows_it() -> None:
    """A fact's parent that was merged into another ends with that other."""
    kept = known("40", key="seats")
    gone = people.merged(id_of("merged away"), kept.fact_id)
    child = known("large", key="size", parents=(id_of("merged away"),))
    ended = FactRetracted(participant_id=PERSON, fact_id=kept.fact_id, reason="no")
    (event,) = consequences.stale(person(kept, child, gone), [ended], NOW)
    assert (event.fact_id, event.parent_id) == (child.fact_id, id_of("merged away"))


def test_what_rests_on_an_expired_fact_goes_stale_until_it_is_said_again() -> None:
    """An expired parent makes its children stale, not those that were said after it had ended."""
    over = known("Trial", expires_at=NOW - timedelta(days=1))
    before = known("small", key="size", parents=(over.fact_id,))
    since = known("sales", key="owner", parents=(over.fact_id,), valid_from=NOW)
    (event,) = consequences.stale(person(over, before, since), [], NOW)
    assert event.fact_id == before.fact_id
    assert event.reason == "a fact that it was derived from has expired"
    assert list(consequences.stale(person(over, before), [], NOW - timedelta(days=2))) == []
