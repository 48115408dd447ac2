"""Which trouble a report is of, however it is worded."""

from __future__ import annotations

import pytest

from services.learn_facts.participant import KnownIssue
from services.learn_facts.person.issues import known_trouble
from tests.unit.learn_facts.people import id_of


def issue(key: str, reports: int = 4) -> KnownIssue:
    return KnownIssue(key, reports, False, id_of("thread"))


@pytest.mark.parametrize(
    ("key", "known"),
    [
        ("csv export timeout", "csv export timeout"),
        ("csv export times out", "csv export timeout"),
        ("export of the csv timed out", "csv export timeout"),
        ("timeouts exporting csv", "csv export timeout"),
        ("login fails", "login failure"),
        ("slow csv export timeout", "csv export timeout"),
        ("csv-export bricht ab", "csv export bricht ab"),
        ("rechnungen fehlen", "rechnung fehlt"),
        ("export csv échoue", "export csv echoue"),
        ("сбой экспорта csv", "сбой при экспорте csv"),
        ("CSVエクスポートがタイムアウト", "csv エクスポートのタイムアウト"),
        ("error 42", "error 42"),
    ],
)
def test_a_trouble_is_known_in_other_words_of_the_same_sense(key: str, known: str) -> None:
    """Endings, order, articles and one word more make no new trouble."""
    found = known_trouble(key, [issue("invoice pdf missing"), issue(known)])
    assert found is not None
    assert found.issue_key == known


@pytest.mark.parametrize(
    ("key", "known"),
    [
        ("pdf export timeout", "csv export timeout"),
        ("csv import timeout", "csv export timeout"),
        ("login", "login page blank"),
        ("error 43", "error 42"),
        ("export error 500", "export error"),
        ("rechnung fehlt", "rechnung doppelt"),
        ("", "csv export timeout"),
        ("the", "a"),
    ],
)
def test_another_trouble_is_another(key: str, known: str) -> None:
    """A word in place of another, a number more, or one shared word alone is a trouble of its own."""
    assert known_trouble(key, [issue(known)]) is None


def test_of_several_that_fit_the_nearest_counts() -> None:
    """The very key stands before a likeness, a likeness of all words before one with a word more."""
    known = [issue("csv export timeout slow", 9), issue("csv exports timeout", 2), issue("csv export timeout", 1)]
    found = known_trouble("csv export timeout", known)
    assert found is known[2]
    assert known_trouble("csv export timeout", known[:2]) is known[1]
