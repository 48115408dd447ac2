import pytest

from services.memory.rarity import Word, rare_words, tsquery


def words(**documents: float) -> list[Word]:
    return [Word(lexeme, count, 10_000) for lexeme, count in documents.items()]


def names(chosen: list[Word]) -> list[str]:
    return [word.lexeme for word in chosen]


def test_the_rarest_come_first_until_the_cap():
    """Words are taken from the rarest on while their matches together stay within the cap."""
    assert names(rare_words(words(order=5000, kettle=3, blue=400, refund=900), 1000)) == ["kettle", "blue"]


def test_the_rarest_word_is_always_looked_up():
    """A query of common words only is still a query."""
    assert names(rare_words(words(order=5000, mail=4000), 1000)) == ["mail"]


def test_no_words_are_no_error():
    """A query of stop words has no stems."""
    assert rare_words([], 1000) == []
    assert tsquery([]) == ""


def test_rarer_words_weigh_more_and_all_weigh_something():
    """BM25's rarity falls with frequency and stays above zero."""
    rare, common = words(kettle=3, the=9999)
    assert rare.rarity > common.rarity > 0


@pytest.mark.parametrize(("lexeme", "written"), [("o'brien", "'o''brien'"), ("a\\b", "'a\\\\b'"), ("a|b", "'a|b'")])
def test_words_cannot_become_operators(lexeme, written):
    """Quotes, backslashes and operators in a word are part of the word."""
    assert tsquery([Word(lexeme, 1, 1)]) == written
