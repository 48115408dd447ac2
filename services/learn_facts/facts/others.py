"""Whose value a clause tells: the author's, or somebody else's. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from services.core.wording import folded
from services.learn_facts.facts.clauses import NAME, PLACE, Clause
from services.learn_facts.facts.values import UNSPACED
from services.memory.keys import names_of, relatives, relatives_of
from services.memory.phrases.language import NAMES, spoken
from services.memory.wording import content_of, is_plain_verb, is_said, is_small, said_of, says, words_of

_APPOSITION = re.compile(r"^\W*(?:\w+ )?@\W*$")
_ALONE = re.compile(rf"^\W*{PLACE}\W*$")
_IS = ("is", "ist", "est", "es", "e")
_NAMELESS = re.compile(rf"^\W*{PLACE}")
_SOME = re.compile(r"\b(?:an?|eine?[rmn]?|une?|una|uno|uma?|een)$")
_OF_THEIRS = re.compile(
    r"^\W{0,3}(?:(?:of|von|van|de|di)\W{1,3})?(?:mine|ours|mir|uns|mij|ons|meu|minha|mi[oa]|nuestr\w|nostr\w)\b"
    r"|^\W{0,3}ma\b"  # "has" in Polish, and "my" in French
)


_RELATIVE = re.compile(r"^\W*(?:who|which|whose|der|die|das|welche[rs]?|qui|que|quien|che|dat|ktor[yae]|котор\w{2})\b")
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
_KNOWN_WORDS = 2  # small words that tell of a language
_ANSWER = 3  # words of an answer, letters of a word that says nothing
_THEIRS = ("own", "verbs_of_ours", "requests", "now", "changes")


def is_of_another(clause: Clause, about: About) -> bool:
    """Whether somebody else's value is told: of a person's keys by who is named, of others by what the clause is of."""
    if about.is_reached and says("other_contacts", _with_its_name(clause)):
        return True
    if about.of_a_person and (says("i_am", clause.words) or _is_mine(clause)):
        return False
    key = " ".join(about.key)
    own = names_of(key) | relatives_of(key)
    told = (clause.words, *_named_behind(clause))
    if _opens_with_its_key(clause, own):
        told = told[1:]
    if any(not set(content_of(one)) & own for words in told for one in said_of("parties", words)):
        return True
    if _is_of_a_relative(clause, own):
        return True
    if about.of_a_person:
        return _names_another(clause)
    return _tells_of_another(f"{_parted_subject(clause)} {clause.words.partition(PLACE)[0]}", own)


def _opens_with_its_key(clause: Clause, own: Collection[str]) -> bool:
    """Whether a clause opens with the author's own of what the key names: "my adviser at the bank is"."""
    before = words_of(clause.words.partition(PLACE)[0])
    first = next((place for place, one in enumerate(before) if not (is_small(one) or says("own", one))), None)
    return first is not None and before[first] in own and says("own", " ".join(before[:first]))


def _parted_subject(clause: Clause) -> str:
    """Who a clause tells of where a clause about them stands between: "my mother, who lives here, takes 20 mg"."""
    if len(clause.before) < 2 or not _RELATIVE.match(clause.before[-1]):
        return ""
    return clause.before[-2].replace(NAME, "")


def _is_of_a_relative(clause: Clause, own: Collection[str]) -> bool:
    """Whether a clause of nobody else's opens with a relative: whose wife it is, many languages leave out."""
    before = words_of(f"{_parted_subject(clause)} {clause.words.partition(PLACE)[0]}")
    first = next((one for one in before if not is_small(one)), "")
    known = first in relatives() and first not in own and (len(first) > _ANSWER or UNSPACED.match(first))
    return bool(known) and not says("own", clause.words)


def _named_behind(clause: Clause) -> Iterator[str]:
    """What a value alone is said to be by the clause behind it: "555: our supplier" as "555 is our supplier"."""
    if _ALONE.match(clause.words) and clause.after:
        yield from (f"{PLACE} {verb} {clause.after[0]}" for verb in _IS)


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
    if len(told) <= _ANSWER or is_of_unknown_words(plain) or any(says(one, plain) for one in _THEIRS):
        return True
    names = names_of(key)
    if UNSPACED.search(plain) and any(plain.startswith(word) for word in names | relatives_of(key)):
        return True  # whose thing a sentence opens with is left out where it is the author's own
    return not of_a_person and any(is_said(word, told) for word in names if _is_word(word))


def is_of_unknown_words(plain: str) -> bool:
    """Whether nobody can tell what a folded sentence says: no language stands out, and no list knows its small words.

    Of Dutch and Portuguese no language of `phrases` stands out, but their small words are known.
    """
    if len(spoken(plain)) < len(NAMES):
        return False
    return len({one for one in words_of(plain) if is_small(one) or is_plain_verb(one)}) < _KNOWN_WORDS


def _is_word(name: str) -> bool:
    return len(name) > _ANSWER or UNSPACED.search(name) is not None


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


def _tells_of_another(before: str, own: Collection[str]) -> bool:
    """Whether the words before a value speak of one of the author's people ("my sister lives in"), and then of them.

    Not where the key itself is of them, `own` being its words: an accountant, or the class of a child.
    """
    for other in said_of("others", before):
        if any(is_said(one, own) for one in words_of(other)):
            continue
        whose, _, behind = before.partition(other)
        whose = " ".join(whose.split()[-2:])
        theirs = says("own", whose) or _SOME.search(whose) or _OF_THEIRS.match(behind)
        if theirs and not says("own", _OF_THEIRS.sub("", behind)):
            return True
    return False
