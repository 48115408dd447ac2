"""A sentence in its clauses, and which of them says a value. Pure.

In a clause the value is written `@`, so that a word list can say what stands before it and what behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from services.core.wording import folded, length_kept
from services.learn_facts.facts.values import (
    LONGEST_SENTENCE,
    NO_MONTH,
    SENTENCE_ENDS,
    UNSHORTENED,
    UNSPACED,
    is_day,
    numbers_in,
    place_of_day,
    place_of_number,
    place_of_sum,
    plain_value,
)
from services.memory.phrases.language import Language, language_of, spoken

MOST_SAYING = 40  # clauses of one sentence that are looked at: nobody says a thing more often in one
NEAR = 40  # clauses before and behind one that bear on it
PLACE = "@"
NAME = "~"
_AT = "&"  # of another address in the clause
_WORD_BEGINS, _WORD_ENDS = r"(?<![^\W_])", r"(?![^\W_])"
_BESIDE_UNSPACED = rf"(?<={UNSPACED.pattern})|(?={UNSPACED.pattern})"
_CLAUSE_ENDS = re.compile(
    rf"[,:](?!\d)\s*|[;!，；：]|\((?!\+?\d{{1,5}}\))|(?<!\d)\)|\s[–—-]\s|\.{UNSHORTENED}\s{NO_MONTH}|\n"
    r"|(?<!anything)(?<!nothing)(?<!all)\s(?=(?:but|aber|sondern|mais|pero|sino|ma|mas|maar|ale|lecz|но)\s)",
    re.IGNORECASE,
)
_ANOTHER_WORD = {
    "ma": ("french", "polish"),
    "mais": ("spanish",),
}  # "my", "has"; "more" in Portuguese, taken for Spanish
_PARTS = re.compile(r"\s(?:and|or|und|oder|et|ou|y|e|oraz|lub|и)\s", re.IGNORECASE)
_COMPLEMENT = re.compile(
    r"^\W*(?:that|dass|daß|que|qu['’]|che|że|iż|dat|ob|whether|czy|что)\b|^.{0,100}\b(?:zu|te) \w{2,30}n\W{0,3}$",
    re.IGNORECASE,
)
_ITEM = re.compile(r"\s{0,8}(?:[-*•–]|\d\d?[.)])\s")
_WORD = re.compile(r"\w{3,}")
_FIRST_LETTER = re.compile(r"(?<=\s)[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause with the value as `@`, folded: plain, with accents, with `~` before capitals, and its part that says it.

    `counts`: the value is a number; `dated`: a day. `before` and `after` are the other clauses of its
    sentence, `above` is the one before it with its accents, `following` is the next sentence.
    """

    words: str
    accented: str
    named: str
    part: str
    counts: bool
    dated: bool
    sentence: str
    before: tuple[str, ...]
    above: str
    after: tuple[str, ...]
    following: str


def sentences_of(text: str, before: str = "") -> list[str]:
    """The sentences of a text, one of no text; the items of a list below a question ask. `before` stands before it.

    What has no end for longer than two such sentences is cut there.
    """
    most = 2 * LONGEST_SENTENCE
    told = (one[at : at + most] for one in SENTENCE_ENDS.split(text) for at in range(0, len(one) or 1, most))
    found = [before, *told]
    return [f"{one}?" if _ITEM.match(one) and above.rstrip().endswith("?") else one for above, one in pairwise(found)]


def questions_in(texts: Iterable[str]) -> Iterator[str]:
    """The sentences of some texts that ask, in their order."""
    return (one for text in texts for one in sentences_of(text) if "?" in one)


def clauses_saying(value: str, sentence: str, following: str, quote: str) -> Iterator[tuple[int, Clause]]:
    """The clauses of a sentence, each with how much of the value it says; of the quote, where none says any."""
    plain = plain_value(value)
    clauses = list(_clauses(sentence, plain))
    scores = [_score(plain, one) for one in clauses]
    if not any(scores):
        scores = [min(_score(plain_value(quote), one), 1) if quote else 0 for one in clauses]
    told = [_marked(plain, one) for one in clauses]
    about = {
        "counts": plain.isdigit(),
        "dated": is_day(plain),
        "sentence": folded(sentence),
        "following": folded(following),
    }
    for number in islice((one for one, score in enumerate(scores) if score), MOST_SAYING):
        first = max(0, number - NEAR)
        yield scores[number], _clause(told[first : number + NEAR + 1], number - first, about)


def clauses_of(sentence: str, value: str) -> list[str]:
    """The clauses of a sentence, of which none ends within a value."""
    return list(_clauses(sentence, plain_value(value)))


def place_of(value: str, text: str) -> tuple[int, int] | None:
    """Where a plain value stands in a text, whatever parts its words and groups of digits, or names its day."""
    units = re.findall(r"[^\W\d_]+|\d+|[@+€$£%]", length_kept(value))[:24]
    if not units:
        return None
    joined = r"[\s.,:'’\-–/()_&+]{0,3}".join(_spelled(one) for one in units) + (
        "(?:['’]?s)?" if units[-1].isdigit() else ""
    )
    small = length_kept(text)
    begins, ends = _WORD_BEGINS, _WORD_ENDS
    if UNSPACED.search(small):  # else left out: to compile these classes for each value costs more than all else here
        begins, ends = f"(?:{_BESIDE_UNSPACED}|{begins})", f"(?:{_BESIDE_UNSPACED}|{ends})"
    found = re.search(f"{begins}{joined}{ends}", small)
    if found:
        return found.span()
    return place_of_day(value, text) or place_of_number(units[0], text) or place_of_sum(value, text)


def _clause(told: list[str], number: int, about: Mapping[str, Any]) -> Clause:
    marked = [folded(one) for one in told]
    parts = [folded(one) for one in _PARTS.split(told[number]) if PLACE in one]
    return Clause(
        words=marked[number],
        accented=told[number].casefold(),
        named=_with_names(told[number]),
        part=parts[0] if parts else marked[number],
        **about,
        before=tuple(_with_names(one) for one in told[:number]),
        above=told[number - 1].casefold() if number else "",
        after=tuple(one for one in marked[number + 1 :] if one.strip(" ?!.")),
    )


def _with_names(clause: str) -> str:
    return folded(_FIRST_LETTER.sub(lambda found: f"{NAME}{found[0]}" if found[0].isupper() else found[0], clause))


def _clauses(sentence: str, value: str) -> Iterator[str]:
    """The clauses, one that completes another ("..., that we have") together with it."""
    held = ""
    languages = spoken(folded(sentence))
    for one in _parted(sentence, value):
        if held and not _COMPLEMENT.match(one) and not _is_another_word(one, languages):
            yield held
            held = ""
        held = f"{held} {one}".strip() if one.strip() else held
    if held:
        yield held


def _parted(sentence: str, value: str) -> Iterator[str]:
    """What stands between the ends of clauses; none ends within the value ("4 Elm Road, Leeds", "April 3rd, 2027")."""
    begin, end = place_of(value, sentence) or (0, 0)
    start = 0
    for found in _CLAUSE_ENDS.finditer(sentence):
        if not begin < found.start() < end:
            yield sentence[start : found.start()]
            start = found.end()
    yield sentence[start:]


def _is_another_word(clause: str, languages: Sequence[Language]) -> bool:
    """Whether a clause only seems to begin with "but", in the one language that its sentence is in."""
    names = _ANOTHER_WORD.get(clause.partition(" ")[0], ())
    return any(languages == (language_of(name),) for name in names)


def _score(value: str, clause: str) -> int:
    """How much of a value a clause says."""
    if value and place_of(value, clause) is not None:
        return 100
    wanted = {word[:4] for word in _WORD.findall(value)} | numbers_in(value)
    return len(wanted & ({word[:4] for word in _WORD.findall(plain_value(clause))} | numbers_in(clause)))


def _marked(value: str, clause: str) -> str:
    """The clause with the value, or else its rarest word, as `@`."""
    found = place_of(value, clause)
    if found is None:
        return clause.replace(PLACE, _AT)
    return f"{clause[: found[0]].replace(PLACE, _AT)}{PLACE}{clause[found[1] :].replace(PLACE, _AT)}"


def _spelled(unit: str) -> str:
    """A number with or without separators of thousands, a word as it is."""
    if not unit.isdigit() or len(unit) < 4:
        return re.escape(unit).replace("ss", "(?:ss|ß)")
    groups = [unit[max(0, end - 3) : end] for end in range(len(unit), 0, -3)][::-1]
    return rf"(?:{unit}|{'[., ’]?'.join(groups)})".replace(" ", r"\s")
