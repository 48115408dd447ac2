"""Whose value a clause tells: the author's, or somebody else's. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.core.wording import folded
from services.learn_facts.facts.clauses import PLACE, Clause
from services.memory.keys import names_of
from services.memory.phrases.language import NAMES, spoken
from services.memory.wording import content_of, is_said, said_of, says, unsaid, words_of

_APPOSITION = re.compile(r"^\W*(?:\w+ )?@\W*$")
_NAMELESS = re.compile(rf"^\W*{PLACE}")
_SOME = re.compile(r"\b(?:an?|eine?[rmn]?|une?|una|uno|uma?|een)$")
_OF_THEIRS = re.compile(
    r"^\W{0,3}(?:(?:of|von|van|de|di)\W{1,3})?(?:mine|ours|mir|uns|mij|ons|meu|minha|mi[oa]|nuestr\w|nostr\w)\b"
)


_REACHED = (("phone",), ("mobile",), ("email",))


@dataclass(frozen=True, slots=True)
class About:
    """What a value is of: the words of its key, whether it is one person's own, whether it is theirs to choose."""

    key: tuple[str, ...] = ()
    of_a_person: bool = False
    chosen: bool = False

    @property
    def is_reached(self) -> bool:
        """Whether it says how to reach a person, and in no special way."""
        return self.key in _REACHED


COMPANY = About()
_ANSWER = 3  # words of an answer, letters of a word that says nothing
_THEIRS = ("own", "verbs_of_ours", "requests", "now", "changes")


def is_of_another(clause: Clause, about: About) -> bool:
    """Whether somebody else's value is told: of a person's keys by who is named, of others by what the clause is of."""
    if about.is_reached and says("other_contacts", _with_its_name(clause)):
        return True
    if about.of_a_person and (says("i_am", clause.words) or _is_mine(clause)):
        return False
    if any(unsaid(content_of(one), about.key) == list(content_of(one)) for one in said_of("parties", clause.words)):
        return True
    return _names_another(clause) if about.of_a_person else _tells_of_another(clause.words.partition(PLACE)[0])


def _with_its_name(clause: Clause) -> str:
    """The clause, with the one before it where that names what is only the value here: "Fax: 555"."""
    return f"{clause.before[-1]} {clause.words}" if clause.before and _NAMELESS.match(clause.words) else clause.words


def speaks_of_the_author(sentence: str, key: str, *, of_a_person: bool) -> bool:
    """Whether a sentence speaks of its author, of what the key names, or of what is new; also where nobody can tell.

    "The parcel is in Rome" names no word of the author's. A few words are an answer, and of a language without a list
    of such words nothing is known.
    """
    plain = folded(sentence)
    told = words_of(sentence)
    if len(told) <= _ANSWER or len(spoken(plain)) == len(NAMES) or any(says(one, plain) for one in _THEIRS):
        return True
    return not of_a_person and any(is_said(word, told) for word in names_of(key) if len(word) > _ANSWER)


def _is_mine(clause: Clause) -> bool:
    """Whether the part of the clause that says the value is of the author alone: "Bob's is 1 and mine is 2"."""
    return clause.part != clause.words and says("mine", clause.part)


def _names_another(clause: Clause) -> bool:
    if says("others", clause.words) or says("others", clause.named) or _is_hung_on_a_name(clause):
        return True
    return not says("own", clause.words) and any(says("others", one) for one in clause.before)


def _is_hung_on_a_name(clause: Clause) -> bool:
    """Whether the value only says who somebody is whom the clause before it names: "ask Erin, our office manager"."""
    *_, last = clause.before or ("",)
    return bool(_APPOSITION.match(clause.words)) and says("others", f"{last} {PLACE}") and not says("own", last)


def _tells_of_another(before: str) -> bool:
    """Whether the words before a value speak of one of the author's people ("my sister lives in"), and then of them."""
    for other in said_of("others", before):
        whose, _, behind = before.partition(other)
        whose = " ".join(whose.split()[-2:])
        theirs = says("own", whose) or _SOME.search(whose)
        if theirs and not says("own", _OF_THEIRS.sub("", behind)):
            return True
    return False
