"""Where a value stands in a sentence, so that a clause is known to say it."""

from __future__ import annotations

import pytest

from services.learn_facts.facts.clauses import clauses_saying, place_of, sentences_of
from services.learn_facts.facts.values import LONGEST_SENTENCE, sentence_around
from services.memory.quotes import find_quote


@pytest.mark.parametrize(
    ("value", "text", "place"),
    [
        ("art", "They like art.", "art"),
        ("art", "They are smart.", ""),
        ("art", "They sell arts.", ""),
        ("12", "We have 212 seats.", ""),
        ("team", "我们用Team版", "Team"),
        ("team", "我们用Teams版", ""),
        ("team", "Our plan is a Team版", "Team"),
        ("田中", "私は田中です", "田中"),
    ],
)
def test_a_value_stands_where_whole_words_say_it(value: str, text: str, place: str) -> None:
    """A part of a word is not the value; beside a script that puts no space between words it needs none."""
    found = place_of(value, text)
    assert (text[slice(*found)] if found else "") == place


@pytest.mark.parametrize("value", ["4 Elm Road, Leeds", "April 3rd, 2027"])
def test_a_value_with_a_comma_was_said_by_no_clause(value: str) -> None:
    """A clause ends before it or behind it, and never within."""
    ((_, clause),) = clauses_saying(value, f"As I wrote, it is {value}, as before.", "", "")
    assert (clause.words, clause.after) == ("it is @", ("as before.",))


def test_a_title_with_a_stop_ended_the_sentence() -> None:
    """ "Dr. Kern" and "Tel. 030 11" are said in one sentence and one clause."""
    assert sentences_of("Mein Hausarzt ist Dr. Kern. Danke!") == ["Mein Hausarzt ist Dr. Kern.", "Danke!"]
    ((_, clause),) = clauses_saying("Dr. Kern", "Mein Hausarzt ist Dr. Kern.", "", "")
    assert clause.words.startswith("mein hausarzt ist @")


def test_a_day_in_german_was_torn_into_two_clauses() -> None:
    """ "am 5. August" is one day in its clause, so that the clause before it is the one that it hangs on."""
    found = clauses_saying("5. August", "Falls der Zug ausfällt, kommen wir erst am 5. August.", "", "")
    assert [clause.words for _, clause in found] == ["kommen wir erst am @."]


def test_a_number_with_a_plural_is_still_the_number() -> None:
    """ "The 42s pinch" says 42, and "42nd" does not."""
    assert place_of("42", "The 42s pinch.") == (4, 7)
    assert place_of("42", "On 42nd Street.") is None


@pytest.mark.parametrize("unended", ["部屋は", "a"])
def test_a_sentence_without_an_end_is_bounded(unended: str) -> None:
    """However long a text goes on without a stop, so much of it is looked at."""
    text = unended * 10_000 + " Pro " + unended * 10_000
    span = find_quote("Pro", text)
    assert span is not None
    assert len(sentence_around(span, text)) <= 2 * LONGEST_SENTENCE + len("Pro")
    assert max(map(len, sentences_of(text))) <= 2 * LONGEST_SENTENCE
