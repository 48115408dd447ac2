"""What is told in other words is one thing, and what only looks alike stays two."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid5

from schemas.events.base import EventData
from schemas.events.memory import FactRefused, FactRequested, FactsMerged
from schemas.events.replies import FactProposal
from services.learn_facts.facts.policy import STANDARD
from services.learn_facts.facts.proposals import Proposals, learn
from services.learn_facts.facts.requests import answer
from services.learn_facts.participant import KnownIssue, Source
from services.learn_facts.people import People
from services.learn_facts.person.issues import known_trouble
from tests.stories.driving import ROOT, nobody

BEGUN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def pairs(name: str) -> list[list[str]]:
    """The lines of a file, each with what it is to be first."""
    text = (Path(__file__).parent / "alike" / f"{name}.txt").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return [[part.strip() for part in line.split("|")] for line in lines]


def test_two_troubles_are_never_one() -> None:
    """Another number, name, time, thing or another way of failing is another trouble of the person."""
    assert not [line for line in pairs("troubles") if line[0] == "apart" and is_known(line[2], line[1])]


def test_one_trouble_in_other_words_is_one() -> None:
    """Whatever key the model invents, as long as it names the same thing that does not work; what is missed is known."""
    told = [line for line in pairs("troubles") if line[0] == "same"]
    assert [f"{known} | {key}" for _, known, key in told if not is_known(key, known)] == []
    assert not [line for line in pairs("troubles") if line[0] == "missed" and is_known(line[2], line[1])]


def is_known(key: str, known: str) -> bool:
    """Whether a report under a key counts as one of the trouble that is known under another."""
    return known_trouble(key, [KnownIssue(known, 1, False, ROOT)]) is not None


Told = tuple[str, str, str, str]
"""Kind, key, value and sentence of a fact."""


def told(people: People, *facts: Told, on: int) -> tuple[People, list[EventData]]:
    """The person after a mail in which they say these facts in so many words, and what was decided."""
    at = BEGUN + timedelta(days=on)
    text = "\n\n".join(sentence for *_, sentence in facts)
    mail = Source(uuid5(ROOT, f"mail {on}"), uuid5(ROOT, f"thread {on}"), f"{on}@x", text, at, at, False, True)
    proposed = [
        FactProposal(op="add", kind=kind, key=key, value=value, text=sentence, quote=sentence, importance=7)
        for kind, key, value, sentence in facts
    ]
    ids = [uuid5(ROOT, f"fact {on} {number}") for number in range(len(facts))]
    decided = learn(people, Proposals(ROOT, proposed, ids, [mail], STANDARD), at)
    assert not [one for one in decided if isinstance(one, FactRefused)], decided
    return people.after(decided, at), decided


def merges(line: Sequence[str]) -> bool:
    """Whether the second fact of a line becomes one with the first."""
    kind, *rest = line[1:]
    people, _ = told(nobody(), (kind, rest[0], rest[1], rest[2]), on=1)
    people, _ = told(people, (kind, rest[3], rest[4], rest[5]), on=2)
    return len(people[ROOT].facts) == 1 and people[ROOT].facts[0].value == rest[1]


def test_two_things_are_never_one() -> None:
    """Another value, number, name, polarity or thing stays a fact of its own; what no rule knows yet stays two as well."""
    assert not [line for line in pairs("keys") if line[0] in ("apart", "missed") and merges(line)]


def test_one_thing_under_two_keys_is_one() -> None:
    """However the model names the key, in whatever order of words."""
    assert [line for line in pairs("keys") if line[0] == "same" and not merges(line)] == []


EMAIL: tuple[Told, ...] = (
    ("preference", "preferred contact", "e-mail", "I prefer to be contacted by e-mail."),
    ("preference", "contact channel", "email", "I would like to be contacted by email."),
    ("preference", "communication method", "e-mail", "I prefer communication by e-mail."),
    ("preference", "contact preference type", "e-mail", "I prefer e-mail for contact."),
    ("preference", "way of contact", "E-Mail", "I like contact by E-Mail."),
)


def test_five_spellings_of_prefers_email_stayed_five() -> None:
    """One fact, resting on all five mails."""
    people = nobody()
    for on, fact in enumerate(EMAIL, start=1):
        people, _ = told(people, fact, on=on)
    (one,) = people[ROOT].facts
    assert (one.key, one.value, len(one.supports)) == ("preferred contact", "e-mail", 5)


REPORTS: tuple[Told, ...] = (
    ("preference", "report format", "PDF", "I want reports as PDF."),
    ("preference", "format of reports", "PDF", "I prefer the reports as PDF."),
)


def once_merged() -> People:
    people = nobody()
    for on, fact in enumerate(REPORTS, start=1):
        people, decided = told(people, fact, on=on)
    assert [type(one) for one in decided][-1] is FactsMerged
    return people


def now_csv() -> People:
    return told(once_merged(), ("preference", "format of reports", "CSV", "I want the reports as CSV now."), on=3)[0]


def test_the_next_value_under_the_other_key_takes_the_place_of_the_one() -> None:
    """A write under the key that is not kept finds the fact that is."""
    (one,) = now_csv()[ROOT].facts
    assert (one.key, one.value) == ("report format", "CSV")


def unmerged(people: People) -> list[tuple[str, str]]:
    """Keys and values that stand once a person has taken the newest fact apart."""
    asked = FactRequested(participant_id=ROOT, op="unmerge", fact_id=people[ROOT].facts[-1].fact_id, by="grace")
    at = BEGUN + timedelta(days=10)
    people = people.after(answer(people, ROOT, asked, uuid5(ROOT, "new"), at, STANDARD), at)
    again, _ = told(people, ("preference", "format of reports", "PDF", "I want the reports as PDF."), on=11)
    assert [(one.key, one.value) for one in again[ROOT].facts][-1] == ("format of reports", "PDF")
    assert len(again[ROOT].facts) == 2
    return [(one.key, one.value) for one in people[ROOT].facts]


def test_what_was_taken_apart_stays_apart() -> None:
    """Each stands under its own key again, and no later word makes them one."""
    assert unmerged(once_merged()) == [("report format", "PDF"), ("format of reports", "PDF")]


def test_a_value_that_had_ended_does_not_come_back_with_the_undo() -> None:
    """The newest value keeps its key; what was shown as an older one had ended with it."""
    assert unmerged(now_csv()) == [("report format", "CSV")]
