"""Whether the customer's own sentence says that a value is so. Pure.

A model may take a question, a condition, a request, a denial, former times, hearsay or a colleague's number for a fact.
The clause that says the value is judged by the words around it (`clauses`); its sentence decides whether it asks, and
what follows may take it back ("..., which is wrong").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Literal

from services.core.wording import folded
from services.learn_facts.facts.beginnings import begins_later
from services.learn_facts.facts.clauses import NAME, PLACE, Clause, clauses_saying, place_of, questions_in, sentences_of
from services.learn_facts.facts.evidence import quotations_in, without
from services.learn_facts.facts.others import COMPANY, About, is_of_another
from services.learn_facts.facts.values import UNSPACED, is_day, names_a_day, numbers_in, plain_value, sentence_around
from services.mail.reply_text import without_quoted
from services.memory.keys import verbs_of
from services.memory.phrases.language import language_of, spoken
from services.memory.quotes import Span
from services.memory.wording import said_of, says, says_exactly, words_of
from services.memory.wording import without as without_words

Mood = Literal[
    "asks",
    "supposes",
    "wishes",
    "denies",
    "was so",
    "gives up",
    "for a while",
    "ahead",
    "a part",
    "hearsay",
    "another's",
    "mocks",
    "met",
]
OVER: frozenset[Mood] = frozenset({"denies", "was so", "gives up"})  # of the value that stands: it is not so any more
REASONS: dict[Mood, str] = {
    "asks": "the words ask, and say nothing of it",
    "supposes": "the words only suppose it",
    "wishes": "the words wish for it: it is not so yet",
    "denies": "the words say that it is not so",
    "was so": "the words tell of former times",
    "gives up": "the words leave this value for another one",
    "for a while": "the words tell of a while, and not of what holds",
    "ahead": "the words tell of what is still to come",
    "a part": "the words tell of a part, or of what comes on top",
    "hearsay": "the words repeat what somebody else says",
    "another's": "the words speak of somebody else",
    "mocks": "the words mock, and are not meant",
    "met": "the words tell of what the author saw or tried, and not of what is theirs",
}

_DENIED_IN_COMPANY = frozenset({"plus", "mai", "ne", "ni", "personne", "no"})
_CONTRAST = re.compile(r"^\W*(?:but|aber|sondern|mais|pero|sino|ma|mas|maar|ale|lecz|но|а)\b")
_A_NAME = re.compile(r"(?<=[\w,] )(?!I\b)[^\W\d_a-zß-ÿ]\w+")
_AND = re.compile(r"^\W*(?:and|und|et|y|e|en|i|и|ve|because|weil|parce que|porque|perche|omdat|bo|since)\b")
_LED_IN = re.compile(r"^\W*(?:on|with|at|for|mit|bei|avec|pour|con|com|met|bij|przy|z|на|с|при) @(?: \w+)?\W*$")
_NOT = re.compile(r"^\W*(?:no|not|nicht|pas|non|nao|niet|nie|не) @\W*$")
_ONLY = re.compile(rf"^\W*{PLACE}\W*$")
_BLANK = re.compile(r"\w[^\n:]{0,40}:[ \t]{0,3}(?:_{3}|\.{5}|…{2})")  # a form that asks to be filled in
_SHORT = 60  # characters of a sentence that only says of the one before it that it is wrong


def mood_of(value: str, span: Span, text: str, about: About = COMPANY, written: datetime | None = None) -> Mood | None:
    """In what mood the sentences that a quote stands in say a value; None where they assert it in any place.

    `written`: when, for what begins on a day; None where that does not matter.
    """
    own = without_quoted(text)
    sentences = sentence_around(span, own)
    before, _, behind = own.partition(sentences)
    told = sentences_of(sentences, before)
    return _mood(value, [*told, sentences_of(behind.strip())[0]], span.quote, about, written)


def given_up(value: str, key: str, text: str) -> bool:
    """Whether a sentence of the author says that a value of a key is not so any more, and none says that it is."""
    moods = list(_moods(value, text, About(words_of(key))))
    return any(one in OVER for one in moods) and None not in moods


def is_said(value: str, text: str, about: About = COMPANY, written: datetime | None = None) -> bool:
    """Whether a sentence of the author asserts the value in so many words."""
    return None in _moods(value, text, about, written)


def confirms(value: str, quote: str, our_words: Iterable[str]) -> bool:
    """Whether a quote only says yes ("Correct."), and a question of ours names the value."""
    if not says("affirmed", quote):
        return False
    return any(place_of(plain_value(value), one) is not None for one in questions_in(our_words))


def tells_a_change(told: str) -> bool:
    """Whether words tell of a change, or of what is so from now on."""
    return says("changes", told) or says("now", told)


def holds_its_kind(value: str, sentence: str) -> bool:
    """Whether a sentence holds numbers, addresses, days, or names, where the value is one, and names show."""
    if is_day(plain_value(value)):
        return names_a_day(sentence)
    if "@" in value:
        return "@" in sentence
    if numbers_in(value):
        return bool(numbers_in(sentence))
    nouns_are_capital = folded(sentence) and language_of("german") in spoken(folded(sentence))
    return value[0].isupper() and not nouns_are_capital and bool(_A_NAME.search(sentence))


def _moods(value: str, text: str, about: About, written: datetime | None = None) -> Iterator[Mood | None]:
    """The mood of each sentence of the author that says the value in so many words."""
    plain = plain_value(value)
    own = without_quoted(text)
    for one, following in pairwise([*sentences_of(without(quotations_in(own), own)), ""]):
        if place_of(plain, one) is not None:
            yield _mood(value, [one, following], "", about, written)


def _mood(
    value: str, sentences: Sequence[str], quote: str, about: About, written: datetime | None = None
) -> Mood | None:
    """Of all sentences but the last, which only follows them."""
    found = [clause for one, behind in pairwise(sentences) for clause in clauses_saying(value, one, behind, quote)]
    best = max((score for score, _ in found), default=0)
    moods = [_of_clause(clause, about, written) for score, clause in found if score == best]
    return None if not moods or None in moods else moods[0]


def _of_clause(clause: Clause, about: About, written: datetime | None) -> Mood | None:
    """The first mood that shows; none where it asks us to use the author's own, or wishes what is theirs to choose."""
    if about.of_a_person and _asks_to_use(clause) and not is_of_another(clause, about):
        return None
    mood = next((one for one, shows in _SIGNS if shows(clause, about)), None)
    if mood is None and written is not None and begins_later(clause, written):
        return "ahead"
    return None if mood == "wishes" and about.chosen else mood


def _asks_to_use(clause: Clause) -> bool:
    otherwise = denies(clause.part) or says("left", clause.words) or says("meanwhile", clause.words)
    return says("contact_requests", clause.words) and not otherwise


def _last(clauses: Sequence[str]) -> str:
    return clauses[-1] if clauses else ""


def _is_left(clause: Clause, about: About) -> bool:
    if says("left", _without_key(clause.words, about)) or (
        says("origins", clause.words) and says("changes", clause.sentence)
    ):
        return True
    return says("reports", clause.words) and _is_contrasted(clause)


def _without_key(told: str, about: About) -> str:
    """Words without the name of the key, which may part a verb from the value: "I gave up parking bay @"."""
    for one in about.key:
        told = told.replace(one, "") if UNSPACED.search(one) else told
    return " ".join(one for one in told.split() if one not in about.key)


_SIGNS: tuple[tuple[Mood, Callable[[Clause, About], bool]], ...] = (
    ("asks", lambda clause, _: says("asked", clause.words) or _BLANK.search(clause.sentence) is not None),
    ("denies", lambda clause, _: denies(clause.part) or _is_refuted(clause) or _is_struck(clause)),
    ("another's", is_of_another),
    ("denies", lambda clause, _: says("untaken", clause.words)),
    ("mocks", lambda clause, _: _is_mocked(clause)),
    ("met", lambda clause, about: _is_met(clause, about) and not _is_said_by_it(clause, about)),
    ("asks", lambda clause, _: _asks(clause)),
    ("wishes", lambda clause, _: says("wishes", clause.part)),
    ("supposes", lambda clause, _: says_exactly("conditions", clause.accented) or _hangs(clause)),
    ("gives up", _is_left),
    ("for a while", lambda clause, about: _is_a_while(clause) and not _is_said_by_it(clause, about)),
    ("ahead", lambda clause, _: not clause.dated and says("ahead", clause.words)),
    ("a part", lambda clause, _: clause.counts and says("parts", clause.words)),
    ("hearsay", lambda clause, _: says("reports", clause.words) or _is_told_by_another(clause)),
    ("was so", lambda clause, _: says("bygone", _with_its_name(clause)) and not _is_led_to(clause)),
)


def _is_a_while(clause: Clause) -> bool:
    """Whether it is so for a while; "since this week" is none."""
    return says("meanwhile", without_words("since", f"{_last(clause.before)}, {clause.words}"))


def _is_struck(clause: Clause) -> bool:
    """Whether the value is only set against another one: "we have 18 and not 12"."""
    return _NOT.match(clause.part) is not None


def _with_its_name(clause: Clause) -> str:
    """The part that says the value, with the clause before where it is only the value: "the old one, 555, is void"."""
    return f"{_last(clause.before)} {clause.part}" if _ONLY.match(clause.words) else clause.part


def _is_told_by_another(clause: Clause) -> bool:
    """Whether the clause before it, or its own beginning, names who, or what, says it: "according to Jo, we are on"."""
    named = " ".join(clause.before[-2:]).replace(NAME, "")  # "selon ma collègue" is parted where "ma" may be "but"
    told = (named, _last(clause.before), clause.words.partition(PLACE)[0])
    return says("quoting", _last(clause.before)) or any(says("sources", one) for one in told if one)


def _hangs(clause: Clause) -> bool:
    """Whether it is so only if the clause before it comes to pass: "provided that the board agrees, we have"."""
    return says_exactly("hinges", clause.above)


def _is_met(clause: Clause, about: About) -> bool:
    """Whether its author only met with it: "we looked at a flat, ..."; a value alone is of the clause before it."""
    told = f"{_last(clause.before)} {clause.words}" if _ONLY.match(clause.words) else clause.words
    told = _without_key(told, about)
    behind = clause.after[0] if clause.after else ""
    return says("met", told.replace(NAME, "")) or says("met", f"{PLACE} {behind}")


def _is_said_by_it(clause: Clause, about: About) -> bool:
    """Whether the author does what says the key: who sees a doctor has one."""
    before = words_of(clause.words.partition(PLACE)[0])
    return not verbs_of(" ".join(about.key)).isdisjoint(before)


def _is_mocked(clause: Clause) -> bool:
    """Whether the author laughs at it: "yeah right, we are on ...", "... And pigs fly."."""
    following = clause.following if len(clause.following) <= _SHORT else ""
    mocked = says_exactly("mocks", clause.above) and (_AND.match(clause.words) or "right" in clause.above)
    return bool(mocked) or any(says("laughed_at", one) for one in (*clause.after, following))


def _is_refuted(clause: Clause) -> bool:
    """Whether what comes next says that it is wrong, or over."""
    coming = [*clause.after[:1], *([clause.following] if len(clause.following) <= _SHORT else [])]
    return any(says("refuted", one) for one in coming)


def _is_contrasted(clause: Clause) -> bool:
    """Whether the author then says how it is with themselves: "your invoice says 40, but we have 52"."""
    return any(_CONTRAST.match(one) and says("own", one) for one in clause.after[:1])


def _is_led_to(clause: Clause) -> bool:
    """Whether the clause tells of a change to the value."""
    before = clause.words.partition(PLACE)[0]
    return says("arrivals", clause.words) and says("changes", before)


def denies(part: str) -> bool:
    """Whether words say that something is not so; the plan "Plus" denies nothing by its name."""
    return bool(said_of("denials", part) - _DENIED_IN_COMPANY)


def _asks(clause: Clause) -> bool:
    if "?" not in clause.sentence:
        return False
    if _LED_IN.match(clause.words) and clause.after:
        return True
    if "¿" in clause.sentence and "¿" not in clause.words and "¿" not in "".join(clause.before):
        return all(says("tags", one.replace("¿", "")) for one in clause.after)
    if says("questions", clause.words.replace("¿", "")) or any(says("questions", one) for one in clause.before):
        return True
    return all(says("tags", one) for one in clause.after) or not any(says("questions", one) for one in clause.after)
