"""Whether a sentence says plainly what a value of the author's is. Pure.

What denies, asks or tells of others is known by its words (`assertion`), and there are always more of them. So a usual
key's value takes a place only where the words between the author, or the key's name, and the value are those of a plain
statement ("we have moved to", "my new number is"). What is said otherwise is neither believed nor refuted: what stands
is to be confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from services.core.wording import folded
from services.learn_facts.facts.assertion import holds_its_kind, tells_a_change
from services.learn_facts.facts.assertion import is_said as is_said_so
from services.learn_facts.facts.clauses import NAME, PLACE, Clause, clauses_of, clauses_saying, place_of, sentences_of
from services.learn_facts.facts.evidence import quotations_in, without
from services.learn_facts.facts.others import is_of_unknown_words
from services.learn_facts.facts.values import UNSPACED, names_a_day, numbers_in, plain_value, sentence_around
from services.mail.reply_text import without_quoted
from services.memory import wording as words
from services.memory.keys import is_chosen, is_of_a_child, known_names, names_of, relatives_of, verbs_of
from services.memory.quotes import Span, find_quote
from services.memory.wording import is_plain_verb, is_said, is_small, says

ANSWER = 3  # words of a sentence that is an answer
_TOKEN = re.compile(r"\d[\d.,]*|['’]?[^\W\d_]+")
_DIGIT = re.compile(r"\d")
MOST_SENTENCES = 60  # of a mail that are looked at for another value than the one that stands
MOST_VALUES = 8  # of one sentence that are looked at
_NEAR = 2  # words before the author among which a verb may stand: "now have we"
_BEHIND = 6  # words behind a value that may say what it is: "555 is my new number"
_MINE = r"(?:my|our|mein\w{0,2}|unser\w{0,2}|mon|ma|notre|mi|nuestr[oa]|mijn|onze|ons|moj\w?|nasz\w?|мо[йя]|наш\w?)"
_WITH_ARTICLE = r"(?:(?:il|la|o|a) )?(?:mio|mia|nostr[oa]|meu|minha|noss[oa])"
_HAS = r"(?:has|hat|a|tiene|ha|tem|heeft|ma|имеет)(?: (?:the|die|das|den|le|la|el|il|lo|o|het|de))?"
_HELD = re.compile(rf"^(?:{_MINE}|{_WITH_ARTICLE}) \w{{1,30}} {_HAS}$")  # "our car has the" plate
_ORIGIN = re.compile(
    r"\b(?:from|von|vom|de|du|da|dal|dalla|do|van|z|ze|с|со|из) (?:[\w'’.-]{1,40} ){1,3}"
    rf"(?=(?:to|auf|zu|nach|a|para|naar|na|на|в) {PLACE})"
)
_NAMED = re.compile(r"\w{2,30} s")  # "Tim's"
_EQUATED = re.compile(r"^(?:是|为|：|は(?=[^。]{1,20}です(?:。|$)))(\w{1,20})")
_OURS = "ours"  # stands for a value that stands: it is the author's


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is looked for: a key, the words of its names, the names, its verbs, whose it is, its values that stand."""

    key: str
    names: frozenset[str]
    labels: frozenset[str]
    verbs: frozenset[str]
    relatives: frozenset[str]
    current: tuple[str, ...]

    @staticmethod
    def of(key: str, current: Sequence[str]) -> _Asked:
        """What is looked for of a key of which these values stand."""
        labels = frozenset(" ".join(one) for one in known_names(key))
        values = tuple(plain_value(one) for one in current)
        return _Asked(key, names_of(key), labels, verbs_of(key), relatives_of(key), values)


def says_plainly(value: str, key: str, span: Span, text: str, current: Sequence[str] = ()) -> bool:
    """Whether the sentences that a quote stands in say the value of a key plainly; also where nobody can tell.

    Of a language without a list of the author's words nothing is known, nor of a value that is only concluded, unless
    the sentences say the one that stands.
    """
    own = without_quoted(text)
    sentences = sentence_around(span, own)
    if _is_unknown(folded(sentences)):
        return True
    asked = _Asked.of(key, current)
    before = sentences_of(own.partition(sentences)[0].strip())[-1]
    found = list(_saying(value, [before, *sentences_of(sentences), ""], span.quote))
    if not found:
        return not any(place_of(one, sentences) for one in asked.current)
    return any(_is_plain(clause, above, asked) for clause, above in found)


def _saying(value: str, told: Sequence[str], quote: str) -> Iterator[tuple[Clause, str]]:
    """Each clause that says a value word for word, and the sentence above its own; the first and the last are looked
    at for their neighbours alone.
    """
    for above, (one, behind) in zip(told, pairwise(told[1:]), strict=False):
        for _, clause in clauses_saying(value, one, behind, quote):
            if PLACE in clause.words:
                yield clause, folded(above)


def bears_on(value: str, key: str, text: str, current: Sequence[str]) -> bool:
    """Whether words of an author may well mean that a value of theirs is another one; also where nobody can tell.

    They do where a sentence that says the value names the key or a change, or its clause the author, and nobody else;
    and where the text speaks of a value that stands and does not say it plainly. A mistaken extraction from other words
    is a reason to doubt the model, and none to doubt what stands.
    """
    own = without_quoted(text)
    asked = _Asked.of(key, current)
    author = without(quotations_in(own), own)
    if any(_is_upheld(one, value, key, author) for one in current):
        return False
    found = list(_saying(value, ["", *sentences_of(author), ""], ""))
    if any(_may_be_meant(clause, above, asked) for clause, above in found):
        return True
    if not found and not (_names(value, text) and not _names(value, author)):
        return True  # nothing but its own words could tell, and it has none, or a clause ends within them
    return any(is_passed_over(one, key, text) for one in current)


def _is_upheld(current: str, value: str, key: str, text: str) -> bool:
    """Whether a text ends with saying plainly that what stands is so: "I asked for Plus. No, leave us on Basic"."""
    last = next((one for one in reversed(sentences_of(text)) if _names(current, one) or _names(value, one)), "")
    if not last or _names(value, last) or not is_said_so(current, last):
        return False
    return says_plainly(current, key, Span(0, len(last), last), last)


def _names(value: str, text: str) -> bool:
    return place_of(plain_value(value), text) is not None


def is_passed_over(value: str, key: str, text: str) -> bool:
    """Whether a text names a value, says it plainly nowhere, and tells of a change or of another value of the key.

    "The old tariff was Basic. Since Monday ours is Plus": quoted for Basic, that says nothing for it.
    """
    own = without_quoted(text)
    if not _names(value, own) or says_plainly(value, key, Span(0, len(own), own), own):
        return False
    asked = _Asked.of(key, ())
    told = [one for one in sentences_of(own) if "?" not in one]
    parts = [part for one in told for part in clauses_of(one, value)]
    return any(map(tells_a_change, told)) or any(
        _names_key(one, asked) and holds_its_kind(value, one) for one in parts if not _names(value, one)
    )


def tells_of_another(value: str, key: str, text: str, proposed: str) -> bool:
    """Whether a text says plainly that the key has another number, or another word that is none of `proposed`."""
    own = without_quoted(text)
    told = [one for one in sentences_of(own)[:MOST_SENTENCES] if "?" not in one and not _names(value, one)]
    if value.strip().isdigit():
        return any(
            _is_told(one, value, key, sentence)
            for sentence in told
            for one in islice(sorted(numbers_in(sentence)), MOST_VALUES)
        )
    if _names(value, own) or numbers_in(value):
        return False
    found = ((names_another(f"{value} {proposed}", key, sentence), sentence) for sentence in told)
    return any(one and is_said_so(one, sentence) for one, sentence in found)


def _is_told(other: str, value: str, key: str, sentence: str) -> bool:
    """Whether a sentence asserts and says plainly that the key, which it names, has another value."""
    if not is_said_so(other, sentence):
        return False
    asked = _Asked.of(key, [value])
    found = _saying(other, ["", sentence, ""], "")
    alone = (one for one, _ in found if one.words[0] != PLACE and not _DIGIT.search(one.part))
    return any(_names_key(one.words, asked) and _is_plain(one, "", asked) for one in alone)


def tells_otherwise(value: str, key: str, quote: str, text: str) -> bool:
    """Whether the text says nothing of a value, and the sentence of a quote a change, another, or one of its kind."""
    own = without_quoted(text)
    span = find_quote(quote, own)
    if not value or (span is None and find_quote(quote, text) is None):
        return False
    if place_of(plain_value(value), own) is not None:
        return False
    sentence = sentence_around(span, own) if span else own
    told = " ".join(one for one in sentences_of(sentence) if "?" not in one)
    if not told:
        return False
    return tells_a_change(told) or holds_its_kind(value, told) or bool(names_another(value, key, told))


def names_another(value: str, key: str, sentence: str) -> str:
    """The word, of no form of the value, with which a clause goes on that opens with the name of a key; else "".

    "Roof type is flat" says nothing for slate, though no word of it tells of a change.
    """
    asked, own = _Asked.of(key, ()), words.words_of(value)
    told = [folded(one) for one in clauses_of(sentence, "") if "?" not in one]
    found = (_gone_on_with(f"{one} {behind}", asked) for one, behind in pairwise([*told, ""]))
    return next((one for one in found if one and not is_said(one, own)), "")


def _gone_on_with(clause: str, asked: _Asked) -> str:
    """The first word behind the name of a key that opens a clause and what leads on from it; "" where none does."""
    if UNSPACED.search(clause):
        found = (_EQUATED.search(clause.partition(label)[2]) for label in asked.labels if label in clause)
        return next((one[1] for one in found if one), "")
    told = _tokens(words.without("a_childs", clause) if is_of_a_child(asked.key) else clause, asked)
    first = next((place for place, one in enumerate(told) if not _is_light([one], asked)), len(told))
    named = next((place for place in reversed(range(first)) if _is_key(told[place], asked)), first)
    leads = any(map(_is_verb, told[named:first])) or (named == first - 1 and not says("own", clause))
    opens = named < first and leads and not words.said_of("denials", clause)
    return told[first] if opens and first < len(told) else ""


def _names_key(sentence: str, asked: _Asked) -> bool:
    told = _tokens(folded(sentence), asked)
    return any(one != _OURS and _is_key(one, asked) and not is_small(one) for one in told)


def _may_be_meant(clause: Clause, above: str, asked: _Asked) -> bool:
    if _is_plain(clause, above, asked):
        return True
    told = _tokens(clause.part, asked)
    with_author = any(map(_is_subject, told)) or (says("changes", clause.part) and says("own", clause.part))
    of_whom = f"{clause.before[-1]}, {clause.words}" if clause.before and _is_light(told, asked) else clause.words
    if not with_author and any(says(one, of_whom) for one in ("theirs", "others", "parties")):
        return False
    if says("requests", clause.words):
        return True
    if not with_author and _is_of_another_thing(clause, asked):
        now = clause.counts and says("now", clause.words)
        return now or (tells_a_change(clause.words) and _names_key(clause.words, asked))
    if tells_a_change(clause.sentence):
        return True
    if not with_author and _is_a_thing_named(clause, asked):
        return False
    return _names_key(clause.sentence, asked)


def _is_a_thing_named(clause: Clause, asked: _Asked) -> bool:
    """Whether key and value only name a thing of which something else is told: "Room 412 had a party"."""
    before, _, behind = (_tokens(one, asked) for one in clause.words.partition(PLACE))
    named = bool(before) and _is_key(before[-1], asked) and not any(map(_is_verb, before))
    return named and not _is_light(behind, asked) and not any(map(_is_author, before))


def _is_of_another_thing(clause: Clause, asked: _Asked) -> bool:
    """Whether a clause without its author opens with what is neither the key nor theirs: "the leaflet praises".

    What happens to it, and what changes of it, says nothing of the author's.
    """
    told = _tokens(clause.part, asked)
    before = _tokens(clause.part.partition(PLACE)[0], asked)
    if any(_is_author(one) or one == _OURS or says("objects", one) for one in told):
        return False
    first = next((one for one in before if not (is_small(one) or one in asked.relatives)), "")
    return bool(first) and not (_is_verb(first) or _is_key(first, asked))


def _is_subject(word: str) -> bool:
    return says("subjects", word) or says("verbs_of_ours", word)


def _is_unknown(sentences: str) -> bool:
    several = len(_TOKEN.findall(sentences)) > ANSWER
    return several and not says("own", sentences) and is_of_unknown_words(sentences)


def _is_plain(clause: Clause, above: str, asked: _Asked) -> bool:
    if clause.counts and not _counts_it(clause, asked):
        return False
    if says("requests", clause.words) and not says("invites", clause.words):
        return True
    if says("plain", clause.words) or (is_chosen(asked.key) and says("wishes", clause.words)):
        return True
    origin = _ORIGIN.sub("", clause.words)  # "from Starter to Team": what was left is no part of what is said
    told = dict.fromkeys((clause.words, clause.part, origin, *_without_childs_name(clause, asked)))
    return any(_is_framed(one, clause, above, asked) for one in told)


def _without_childs_name(clause: Clause, asked: _Asked) -> Iterator[str]:
    """The clause without the name behind a relative whose value it is: "our son Tim goes to"."""
    if NAME in clause.named and asked.relatives:
        kin = "|".join(map(re.escape, sorted(asked.relatives)))
        yield re.sub(rf"\b({kin}) {NAME}\w{{1,40}}", r"\1", clause.named).replace(NAME, "")


def _counts_it(clause: Clause, asked: _Asked) -> bool:
    """Whether the number counts what the key names, or nothing that is named: "7 tickets" are no seats."""
    behind = _tokens(clause.words.partition(PLACE)[2], asked)
    return not behind or _is_light(behind[:1], asked) or UNSPACED.match(behind[0]) is not None


def _is_framed(told: str, clause: Clause, above: str, asked: _Asked) -> bool:
    before, _, behind = (_tokens(one, asked) for one in told.partition(PLACE))
    if _OURS in before and any(says("objects", one) for one in before[before.index(_OURS) :]):
        return False  # what it did to the author: "Dr Meyer sent me to"
    if _is_label(before, asked) and _is_light(behind[:_BEHIND], asked):
        return True
    if any(_leads(before, place, behind, asked) for place in range(len(before))):
        return True
    turned = behind[:_BEHIND]
    if any(
        _is_verb(turned[0]) and _is_light(turned[:place], asked) and _is_key(turned[place], asked)
        for place in range(1, len(turned))
    ):
        return True
    return _is_light(before, asked) and _is_light(behind[:_BEHIND], asked) and _goes_on(clause, above, asked)


def _is_label(before: Sequence[str], asked: _Asked) -> bool:
    """Whether all that stands before the value is a name of the key, however short: "Tel. 555"."""
    return " ".join(before) in asked.labels


def _goes_on(clause: Clause, above: str, asked: _Asked) -> bool:
    """Whether the clause only says the value of what the clause before it, or the sentence before it, is about.

    That one has to open with the key, or to name it as the author's.
    """
    led = _tokens(clause.before[-1].replace(NAME, ""), asked) if clause.before else []
    last = led or _tokens(above, asked)
    ours = any(one == _OURS or says("own", one) for one in last)
    if says("theirs", " ".join(last)) or (led and not ours and says("others", f"{clause.before[-1]} {PLACE}")):
        return False
    if led and _holds_another(clause, led):
        return False
    if not led and clause.after and not _is_said_of_it(_tokens(clause.after[0], asked), asked):
        return False
    if _is_light(last, asked):
        return True
    keys = (place for place, one in enumerate(last) if _is_key(one, asked))
    if any((ours and not _is_of_theirs(last[:place], asked)) or _is_opening(last[:place], asked) for place in keys):
        return True
    return bool(led) and any(_leads(last, place, (), asked) for place in range(len(last)))


def _is_said_of_it(behind: Sequence[str], asked: _Asked) -> bool:
    """Whether what follows a value that stands alone is no name of something: "555, the number of our supplier"."""
    named = any(_is_key(one, asked) for one in behind)
    return not named or _is_light(behind, asked)


def _is_of_theirs(before: Sequence[str], asked: _Asked) -> bool:
    """Whether somebody of the author's has what the words before a key lead to: "our little one has"."""
    whose = [one for place, one in enumerate(before) if _is_author(one) and not _is_subject(one)]
    between = before[before.index(whose[-1]) + 1 :] if whose else ()
    return any(map(_is_verb, between)) and not _is_light(between, asked)


def _holds_another(clause: Clause, led: Sequence[str]) -> bool:
    """Whether the clause before has a value of its own: the key that it names leads to that one, the nearest."""
    if clause.dated:
        return names_a_day(" ".join(led))
    return clause.counts and any(one[0].isdigit() for one in led)


def _leads(told: Sequence[str], place: int, behind: Sequence[str], asked: _Asked) -> bool:
    """Whether the word at a place is the author or the key, and a plain verb and small words lead on to the value.

    A key's name that no verb parts from the value is what the sentence speaks of: "The Pro plan would suit us".
    """
    between = told[place + 1 :]
    if not _is_light(between, asked) or not _is_opening(told[:place], asked):
        return False
    if _is_key(told[place], asked):
        says_it = any(map(_is_verb, between)) or _is_light(behind[:_BEHIND], asked)
        return says_it and not _is_of_another(" ".join(told[max(0, place - _NEAR) : place]), asked)
    verb = any(map(_is_verb, told[max(0, place - _NEAR) :]))
    return _is_author(told[place]) and (verb or says("changes", " ".join(behind)) or _ends_plainly(behind))


def _is_of_another(whose: str, asked: _Asked) -> bool:
    """Whether the words before a name say that it is somebody else's; a child of the author's is none."""
    return says("theirs", words.without("a_childs", whose) if is_of_a_child(asked.key) else whose)


def _is_opening(told: Sequence[str], asked: _Asked) -> bool:
    """Whether a statement may begin so: with small words, since when or why it is so, or that the author tells it.

    Anything else may name who says it ("selon Pierre nous avons", "word has it that we are").
    """
    opening = " ".join(told)
    if is_of_a_child(asked.key):
        told = [one for one in told if not says("a_childs", one)]
        told = () if _NAMED.fullmatch(opening) else told
    if _is_light(told, asked) or _HELD.match(opening):
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
    for one in asked.current:
        if place := place_of(one, told):
            told = f"{told[: place[0]]}{_OURS}{told[place[1] :]}"
    return [one.lstrip("'’") or one for one in _TOKEN.findall(told)]


def _is_author(word: str) -> bool:
    return (says("own", word) or says("verbs_of_ours", word)) and not says("objects", word)


def _is_key(word: str, asked: _Asked) -> bool:
    return word == _OURS or word in asked.verbs or (len(word) > ANSWER and is_said(word, asked.names))


def _is_verb(word: str) -> bool:
    return is_plain_verb(word) or says("verbs_of_ours", word)


def _is_light(told: Sequence[str], asked: _Asked) -> bool:
    known = asked.names | asked.relatives
    return all(
        is_small(one) or _is_verb(one) or says("own", one) or _is_key(one, asked) or one in known for one in told
    )
