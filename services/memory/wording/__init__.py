"""Words of customers in the languages that the product knows (see `services.core.wording`).

orders.txt     sentences that speak to the memory or its rules, not about the customer
grants.txt     keys of what we grant
granted.txt    values that only we can grant
our_acts.txt   what we are said to have promised, granted or owe
imperatives.txt  a text that gives an order to its reader
numbers.txt    numbers in words
denials.txt    words that turn a sentence into its opposite
endings.txt    verbs by which what was so is so no more
moments.txt    times that mean another day to whoever reads them later
glue.txt       words that say nothing of what a sentence is about
stops.txt      that somebody wants no more mail that they did not ask for
failing.txt, missing.txt   that something does not work, or is not there: how a trouble is reported

Of a clause in which the value is written `@` (see `assertion`):

asked.txt, questions.txt, tags.txt   it asks
conditions.txt, wishes.txt, hinges.txt   it is thought of, or wanted; it hangs on the clause before
bygone.txt, left.txt, origins.txt, arrivals.txt, changes.txt, now.txt   it was so; it is another now
meanwhile.txt, ahead.txt, starts.txt   it is so for a while; it is to come; what stands before the day it begins on
untaken.txt, met.txt, parts.txt        it was weighed and not taken, or only seen; it is a part of a number
affirmed.txt                         a sentence that only says yes
reports.txt, quoting.txt, sources.txt, refuted.txt   somebody else says it; it is said to be wrong
mocks.txt, laughed_at.txt                it is not meant
others.txt, parties.txt, other_contacts.txt   it is somebody else's, or reaches them in another way
own.txt, mine.txt, i_am.txt, requests.txt   it is the author's own
subjects.txt                         the author as who does something
contact_requests.txt                 asks us to use it
states.txt, verbs_of_ours.txt, finals.txt, frames.txt, plain.txt   verbs, small words and phrases of a plain statement
openings.txt, tellings.txt           how a plain statement begins; that the author tells it
a_childs.txt                         whose what is a child's of the author is said to be
objects.txt, theirs.txt, invites.txt   what makes it no plain one (see `plainly`)
numerals.toml                        numbers in words, as `services.memory.numerals` reads them
keys.toml                            usual keys with the other names that models give them
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from math import ceil

from services.core.wording import accented, folded, wording

WORD = 12  # characters of a text that is a word
KEPT = 8192  # words of which it is kept what they say
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def says(name: str, text: str) -> bool:
    """Whether any line of `name.txt` stands in a text."""
    return _says_word(name, text) if len(text) <= WORD else _says(name, text)


def _says(name: str, text: str) -> bool:
    return wording(__name__, name).search(folded(text)) is not None


_says_word = lru_cache(maxsize=KEPT)(_says)  # a statement is looked at word by word, and most words are the same few


def says_exactly(name: str, text: str) -> bool:
    """Whether any line of `name.txt` stands in a text, accents and all: "si" is no "sí"."""
    return accented(__name__, name).search(text.casefold()) is not None


def said_of(name: str, text: str) -> frozenset[str]:
    """What of a text the lines of `name.txt` match, folded."""
    return frozenset(found.group() for found in wording(__name__, name).finditer(folded(text)))


def without(name: str, text: str) -> str:
    """A text, folded, without what the lines of `name.txt` match."""
    return wording(__name__, name).sub(" ", folded(text))


def numbers_of(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The numbers in a text, in digits and in words: with others it says something else."""
    return frozenset(_NUMBER.findall(text)), said_of("numbers", text)


@lru_cache(maxsize=KEPT)
def is_small(word: str) -> bool:
    """Whether a folded word only leads from what a plain statement is of to its value; so does a number."""
    return word[0].isdigit() or wording(__name__, "frames").fullmatch(word) is not None


@lru_cache(maxsize=KEPT)
def is_plain_verb(word: str) -> bool:
    """Whether a folded word is a verb by which a sentence says plainly what is so."""
    return wording(__name__, "states").fullmatch(word) is not None


def is_glue(word: str) -> bool:
    """Whether a folded word only holds a sentence together."""
    return wording(__name__, "glue").fullmatch(word) is not None


LEAST_SHARED = 4  # letters of a beginning that say anything
_FIRST_UNSPACED = "\u3040"  # letters from here on, of Japanese and Chinese, are written without spaces
SHARED = 0.8  # of the shorter of two forms
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[゠-ヿー]+|[一-鿿]+|[^\W\d_゠-ヿ一-鿿ぁ-ゖ]+")


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, folded, in their order; numbers stand for themselves."""
    return tuple(_WORD.findall(folded(text)))


def content_of(text: str) -> tuple[str, ...]:
    """The words of a text that say what it is about, each once."""
    return tuple(dict.fromkeys(word for word in words_of(text) if not is_glue(word)))


def same_word(one: str, other: str) -> bool:
    """Whether two folded words are forms of one word; a number is only itself."""
    if one == other:
        return True
    if one[0] != other[0] or one[0].isdigit():
        return False
    shared = max(LEAST_SHARED, ceil(SHARED * min(len(one), len(other))))
    return one[:shared] == other[:shared]


def is_said(word: str, said: Collection[str]) -> bool:
    """Whether a word stands among others in any form, or within one where nothing parts words."""
    return any(same_word(word, one) for one in said) or (_is_unspaced(word) and any(word in one for one in said))


def _is_unspaced(word: str) -> bool:
    return len(word) > 1 and word[0] >= _FIRST_UNSPACED


def unsaid(words: Iterable[str], said: Collection[str]) -> list[str]:
    """Those of the words that do not stand among the others in any form."""
    return [word for word in words if not is_said(word, said)]
