"""Whether the customer's own sentence says that a value is so. Pure.

A model may take a question, a condition, a request, a denial, former times, hearsay or a colleague's number for a fact.
The clause that says the value is judged by the words around it; its sentence decides whether it asks. In the word lists
the value is written `@`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from services.core.wording import folded
from services.learn_facts.facts.values import numbers_in, plain_value, sentence_around
from services.mail.reply_text import without_quoted
from services.memory.quotes import Span, find_quote
from services.memory.wording import said_of, says, says_exactly

Mood = Literal["asks", "supposes", "wishes", "denies", "was so", "gives up", "hearsay", "another's"]
OVER: frozenset[Mood] = frozenset({"denies", "was so", "gives up"})  # of the value that stands: it is not so any more
REASONS: dict[Mood, str] = {
    "asks": "the words ask, and say nothing of it",
    "supposes": "the words only suppose it",
    "wishes": "the words wish for it: it is not so yet",
    "denies": "the words say that it is not so",
    "was so": "the words tell of former times",
    "gives up": "the words leave this value for another one",
    "hearsay": "the words repeat what somebody else says",
    "another's": "the words speak of somebody else",
}

_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n\s*\n")
_CLAUSE_ENDS = re.compile(
    r"[,:](?!\d)\s*|[;!()]|\s[–—-]\s|\.\s|\n"
    r"|\s(?=(?:but|aber|sondern|mais|pero|sino|ma|mas|maar|ale|lecz|tylko|но)\s)"
)
_PARTS = re.compile(r"\s(?:and|or|und|oder|et|ou|y|e|oraz|lub|и)\s", re.IGNORECASE)
_COMPLEMENT = re.compile(
    r"^\W*(?:that|dass|daß|que|qu['’]|che|że|iż|dat|ob|whether|czy|что)\b|^.{0,100}\b(?:zu|te) \w{2,30}n\W{0,3}$",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w{3,}")
_DENIED_IN_COMPANY = frozenset({"plus", "mai", "ne", "ni", "personne", "no"})
_PLACE = "@"


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause with the value as `@`: folded, with accents, the part that says it, what stands around."""

    words: str
    accented: str
    part: str
    sentence: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def mood_of(value: str, span: Span, text: str, *, of_a_person: bool = False) -> Mood | None:
    """In what mood the sentences that a quote stands in say a value; None where they assert it in any place."""
    own = without_quoted(text)
    return _mood(value, sentence_around(span, own), span.quote, of_a_person)


def given_up(value: str, text: str) -> bool:
    """Whether a sentence of the author says that a value is not so any more, and none says that it is."""
    moods = list(_moods(value, text, False))
    return any(one in OVER for one in moods) and None not in moods


def is_said(value: str, text: str, *, of_a_person: bool = False) -> bool:
    """Whether a sentence of the author asserts the value in so many words."""
    return None in _moods(value, text, of_a_person)


def tells_of_a_change(value: str, quote: str, text: str) -> bool:
    """Whether the sentence of a quote says that something is another now, and the text nothing of this value."""
    own = without_quoted(text)
    span = find_quote(quote, own)
    if span is None or not value or _place(plain_value(value), own) is not None:
        return False
    sentence = folded(sentence_around(span, own))
    return "?" not in sentence and (says("changes", sentence) or says("now", sentence))


def _moods(value: str, text: str, of_a_person: bool) -> Iterator[Mood | None]:
    """The mood of each sentence of the author that says the value in so many words."""
    plain = plain_value(value)
    for one in _SENTENCE_ENDS.split(without_quoted(text)):
        if _place(plain, one) is not None:
            yield _mood(value, one, "", of_a_person)


def _mood(value: str, sentences: str, quote: str, of_a_person: bool) -> Mood | None:
    found = [clause for one in _SENTENCE_ENDS.split(sentences) for clause in _saying(value, one, quote)]
    best = max((score for score, _ in found), default=0)
    moods = [_of_clause(clause, of_a_person) for score, clause in found if score == best]
    return None if not moods or None in moods else moods[0]


def _of_clause(clause: Clause, of_a_person: bool) -> Mood | None:
    another = of_a_person and _is_of_another(clause)
    if of_a_person and not another and not _denies(clause.part) and says("contact_requests", clause.words):
        return None
    if says("asked", clause.words):
        return "asks"
    if _denies(clause.part):
        return "denies"
    if another:
        return "another's"
    if says("left", clause.words) or (says("origins", clause.words) and says("changes", clause.sentence)):
        return "gives up"
    if _asks(clause):
        return "asks"
    if says("wishes", clause.part):
        return "wishes"
    if says_exactly("conditions", clause.accented):
        return "supposes"
    if says("reports", clause.words):
        return "hearsay"
    return "was so" if says("bygone", clause.part) else None


def _denies(part: str) -> bool:
    return bool(said_of("denials", part) - _DENIED_IN_COMPANY)


def _is_of_another(clause: Clause) -> bool:
    """Whether the clause names somebody else, or one before it does and this one speaks of nobody."""
    if says("others", clause.words):
        return True
    return not says("own", clause.words) and any(says("others", one) for one in clause.before)


def _asks(clause: Clause) -> bool:
    if "?" not in clause.sentence:
        return False
    if "¿" in clause.sentence and "¿" not in clause.words and "¿" not in "".join(clause.before):
        return all(says("tags", one.replace("¿", "")) for one in clause.after)
    if says("questions", clause.words.replace("¿", "")) or any(says("questions", one) for one in clause.before):
        return True
    return all(says("tags", one) for one in clause.after) or not any(says("questions", one) for one in clause.after)


def _saying(value: str, sentence: str, quote: str) -> Iterator[tuple[int, Clause]]:
    """The clauses of a sentence, each with how much of the value it says; of the quote, where none says any."""
    clauses = list(_clauses(sentence))
    plain = plain_value(value)
    scores = [_score(plain, one) for one in clauses]
    if not any(scores):
        scores = [min(_score(plain_value(quote), one), 1) if quote else 0 for one in clauses]
    told = [_marked(plain, one) for one in clauses]
    for number, score in enumerate(scores):
        if score:
            yield score, _clause(told, number, sentence)


def _clause(told: list[str], number: int, sentence: str) -> Clause:
    marked = [folded(one) for one in told]
    parts = [folded(one) for one in _PARTS.split(told[number]) if _PLACE in one]
    return Clause(
        words=marked[number],
        accented=told[number].casefold(),
        part=parts[0] if parts else marked[number],
        sentence=folded(sentence),
        before=tuple(marked[:number]),
        after=tuple(one for one in marked[number + 1 :] if one.strip(" ?!.")),
    )


def _clauses(sentence: str) -> Iterator[str]:
    """The clauses, one that completes another ("..., that we have") together with it."""
    held = ""
    for one in _CLAUSE_ENDS.split(sentence):
        if held and not _COMPLEMENT.match(one):
            yield held
            held = ""
        held = f"{held} {one}".strip() if one.strip() else held
    if held:
        yield held


def _score(value: str, clause: str) -> int:
    """How much of a value a clause says."""
    if value and _place(value, clause) is not None:
        return 100
    wanted = {word[:4] for word in _WORD.findall(value)} | numbers_in(value)
    return len(wanted & ({word[:4] for word in _WORD.findall(plain_value(clause))} | numbers_in(clause)))


def _marked(value: str, clause: str) -> str:
    """The clause with the value, or else its rarest word, as `@`."""
    found = _place(value, clause)
    return clause if found is None else f"{clause[: found[0]]}{_PLACE}{clause[found[1] :]}"


def _place(value: str, text: str) -> tuple[int, int] | None:
    """Where a value stands in a text, whatever parts its words and groups of digits."""
    units = re.findall(r"[^\W\d_]+|\d+|[@+€$£%]", value)[:24]
    if not units:
        return None
    joined = r"[\s.,'’\-–/()_]{0,3}".join(_spelled(one) for one in units)
    small = text.casefold()
    found = re.search(rf"(?<![^\W_]){joined}(?![^\W_])", small if len(small) == len(text) else text)
    return found.span() if found else None


def _spelled(unit: str) -> str:
    """A number with or without separators of thousands, a word as it is."""
    if not unit.isdigit() or len(unit) < 4:
        return re.escape(unit)
    groups = [unit[max(0, end - 3) : end] for end in range(len(unit), 0, -3)][::-1]
    return rf"(?:{unit}|{'[., ’]?'.join(groups)})".replace(" ", r"\s")
