"""Whether a sentence says plainly what a value of the author's is. Pure.

What denies, asks or tells of others is known by its words (`assertion`), and there are always more of them. So a usual
key's value takes a place only where the words between the author, or the key's name, and the value are those of a plain
statement ("we have moved to", "my new number is"). What is said otherwise is neither believed nor refuted: what stands
is to be confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.core.wording import folded, wording
from services.learn_facts.facts.clauses import PLACE, Clause, clauses_saying, place_of, sentences_of
from services.learn_facts.facts.values import UNSPACED, plain_value, sentence_around
from services.mail.reply_text import without_quoted
from services.memory import wording as words
from services.memory.keys import is_chosen, names_of
from services.memory.phrases.language import NAMES, spoken
from services.memory.quotes import Span
from services.memory.wording import is_said, says

ANSWER = 3  # words of a sentence that is an answer
_TOKEN = re.compile(r"\d[\d.,]*|['’]?[^\W\d_]+")
_NEAR = 2  # words before the author among which a verb may stand: "now have we"
_BEHIND = 6  # words behind a value that may say what it is: "555 is my new number"
_OURS = "ours"  # stands for a value that stands: it is the author's


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is looked for: a key, the words of its names, and the values of it that stand."""

    key: str
    names: frozenset[str]
    standing: tuple[str, ...]


def says_plainly(value: str, key: str, span: Span, text: str, standing: Sequence[str] = ()) -> bool:
    """Whether the sentences that a quote stands in say the value of a key plainly; also where nobody can tell.

    Of a language without a list of the author's words nothing is known, nor of a value that is only concluded, unless
    the sentences say the one that stands.
    """
    own = without_quoted(text)
    sentences = sentence_around(span, own)
    if _is_unknown(folded(sentences)):
        return True
    asked = _Asked(key, names_of(key), tuple(plain_value(one) for one in standing))
    before = sentences_of(own.partition(sentences)[0].strip())[-1]
    told = [before, *sentences_of(sentences), ""]
    found = [
        (clause, above)
        for above, (one, behind) in zip(told, pairwise(told[1:]), strict=False)
        for _, clause in clauses_saying(value, one, behind, span.quote)
    ]
    literal = [(clause, above) for clause, above in found if PLACE in clause.words]
    if not literal:
        return not any(place_of(one, sentences) for one in asked.standing)
    return any(_is_plain(clause, folded(above), asked) for clause, above in literal)


def _is_unknown(sentences: str) -> bool:
    several = len(_TOKEN.findall(sentences)) > ANSWER
    return len(spoken(sentences)) == len(NAMES) and not says("own", sentences) and several


def _is_plain(clause: Clause, above: str, asked: _Asked) -> bool:
    if clause.counts and not _counts_it(clause, asked):
        return False
    if says("requests", clause.words) and not says("invites", clause.words):
        return True
    if says("plain", clause.words) or (is_chosen(asked.key) and says("wishes", clause.words)):
        return True
    return any(_is_framed(one, clause, above, asked) for one in dict.fromkeys((clause.words, clause.part)))


def _counts_it(clause: Clause, asked: _Asked) -> bool:
    """Whether the number counts what the key names, or nothing that is named: "7 tickets" are no seats."""
    behind = _tokens(clause.words.partition(PLACE)[2], asked)
    return not behind or _is_light(behind[:1], asked) or UNSPACED.match(behind[0]) is not None


def _is_framed(told: str, clause: Clause, above: str, asked: _Asked) -> bool:
    before, _, behind = (_tokens(one, asked) for one in told.partition(PLACE))
    if any(_leads(before, place, behind, asked) for place in range(len(before))):
        return True
    turned = behind[:_BEHIND]
    if any(
        _is_verb(turned[0]) and _is_light(turned[:place], asked) and _is_key(turned[place], asked)
        for place in range(1, len(turned))
    ):
        return True
    return _is_light(before, asked) and _is_light(behind[:_BEHIND], asked) and _goes_on(clause, above, asked)


def _goes_on(clause: Clause, above: str, asked: _Asked) -> bool:
    """Whether the clause only says the value of what the clause before it, or the sentence before it, is about."""
    led = _tokens(clause.before[-1], asked) if clause.before else []
    last = led or _tokens(above, asked)
    if _is_light(last, asked) and not says("theirs", " ".join(last)):
        return True
    if any(_is_key(one, asked) for one in last):
        return True
    return bool(led) and any(_leads(last, place, (), asked) for place in range(len(last)))


def _leads(told: Sequence[str], place: int, behind: Sequence[str], asked: _Asked) -> bool:
    """Whether the word at a place is the author or the key, and a plain verb and small words lead on to the value.

    A key's name that no verb parts from the value is what the sentence speaks of: "The Pro plan would suit us".
    """
    between = told[place + 1 :]
    if not _is_light(between, asked) or not _is_opening(told[:place], asked):
        return False
    if _is_key(told[place], asked):
        says_it = any(map(_is_verb, between)) or _is_light(behind[:_BEHIND], asked)
        return says_it and not says("theirs", " ".join(told[max(0, place - _NEAR) : place]))
    verb = any(map(_is_verb, told[max(0, place - _NEAR) :]))
    return _is_author(told[place]) and (verb or says("changes", " ".join(behind)) or _ends_plainly(behind))


def _is_opening(told: Sequence[str], asked: _Asked) -> bool:
    """Whether a statement may begin so: with small words, since when or why it is so, or that the author tells it.

    Anything else may name who says it ("selon Pierre nous avons", "word has it that we are").
    """
    opening = " ".join(told)
    if _is_light(told, asked):
        return True
    return (says("openings", opening) or _is_told_by_the_author(opening, asked)) and not says("sources", opening)


def _is_told_by_the_author(opening: str, asked: _Asked) -> bool:
    """Whether the author tells it ("I can confirm that"), and not somebody else: "Radio Flurfunk meldet, dass"."""
    own = _tokens(words.without("tellings", opening), asked)
    return says("tellings", opening) and (_is_light(own, asked) or any(map(_is_author, own)))


def _ends_plainly(behind: Sequence[str]) -> bool:
    """Whether a verb stands last, as German and Dutch have it."""
    return bool(behind) and len(behind) <= _BEHIND and says("finals", behind[-1])


def _tokens(told: str, asked: _Asked) -> list[str]:
    for one in asked.standing:
        if place := place_of(one, told):
            told = f"{told[: place[0]]}{_OURS}{told[place[1] :]}"
    return [one.lstrip("'’") or one for one in _TOKEN.findall(told)]


def _is_author(word: str) -> bool:
    return (says("own", word) or says("verbs_of_ours", word)) and not says("objects", word)


def _is_key(word: str, asked: _Asked) -> bool:
    return word == _OURS or (len(word) > ANSWER and is_said(word, asked.names))


def _is_verb(word: str) -> bool:
    return wording(words.__name__, "states").fullmatch(word) is not None or says("verbs_of_ours", word)


def _is_light(told: Sequence[str], asked: _Asked) -> bool:
    return all(
        _is_small(one) or _is_verb(one) or says("own", one) or _is_key(one, asked) or one in asked.names for one in told
    )


def _is_small(word: str) -> bool:
    return word[0].isdigit() or wording(words.__name__, "frames").fullmatch(word) is not None
