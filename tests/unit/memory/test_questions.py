"""What a mail asks of memory, and the words and the time that it is asked by."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.questions import LONGEST, MOST, asked, has_cue, read

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Do you remember the name of our server?", "the name of our server?"),
        ("Did I tell you about the new office?", "the new office?"),
        ("What did we agree on about the logo?", "What about the logo?"),
        ("Which plan are we on?", "Which plan are we on?"),
        ("Do you remember?", "Do you remember?"),
    ],
)
def test_words_that_only_ask_memory_are_not_searched_by(sentence: str, words: str) -> None:
    """ "Do you remember" stands in no fact; a question of nothing else is searched by itself."""
    one = read(sentence, NOW)
    assert one.words == words
    assert one.of_memory is (sentence != "Which plan are we on?")


@pytest.mark.parametrize(
    "sentence",
    [
        "Could you tell me what the Team plan costs?",
        "Can you say whether there is a trial?",
        "Can we talk about a price?",
    ],
)
def test_to_be_told_something_was_a_question_to_memory(sentence: str) -> None:
    """Who asks to be told asks for what our documents say; what was told is asked of memory alone."""
    assert not read(sentence, NOW).of_memory
    assert read("Could you repeat what you told me about prices?", NOW).of_memory


def test_a_time_is_a_window_and_no_word() -> None:
    """ "Last month" becomes February, and is not looked for in the facts."""
    one = read("Where is that order from last month?", NOW)
    assert one.words == "Where is that order ?"
    assert one.window is not None
    assert (one.window.start.month, one.window.end.month) == (2, 3)


def test_questions_and_what_points_back_are_asked() -> None:
    """Plain statements and greetings are not put to memory where the mail asks something."""
    text = "Hello,\n\nwe are busy. Which plan are we on?\nThe order from last week is missing. As discussed, call me.\n\nAda"
    assert [one.text for one in asked(text, NOW)] == [
        "Which plan are we on?",
        "The order from last week is missing.",
        "As discussed, call me.",
    ]


def test_a_mail_that_asks_nothing_is_asked_as_a_whole() -> None:
    """Memory answers to every mail; an empty one asks nothing."""
    assert [one.text for one in asked("Our export\nis slow.", NOW)] == ["Our export is slow."]
    assert asked(" \n ", NOW) == ()


def test_of_many_questions_the_first_few_are_put_each_within_its_length() -> None:
    """A mail of forty questions asks memory three times, a sentence of a thousand words by its beginning."""
    many = asked(" ".join(f"Which plan is number {number}?" for number in range(40)), NOW)
    assert [one.text for one in many] == [f"Which plan is number {number}?" for number in range(MOST)]
    (long, *_) = asked(f"Do you know {'which of our plans ' * 100}?\n\nWhy?", NOW)
    assert len(long.text) <= LONGEST


def test_a_time_to_come_is_no_cue() -> None:
    """Who says what will be asks nothing of what was."""
    assert has_cue("The order of last week is missing.", NOW)
    assert not has_cue("We are closed on 24 December 2026.", NOW)


@given(st.text(max_size=2000))
def test_any_text_asks_little(text: str) -> None:
    """However a text is made, it asks a few short things, each with words to search by."""
    found = asked(text, NOW)
    assert len(found) <= MOST
    assert all(one.words and len(one.text) <= LONGEST for one in found)
