"""Which sentences answer a question: shared stems, rare ones counting more, the chunk's heading counting half.

Extractive by construction: what comes out stands word for word in a passage.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from services.model.offline.sentences import one_line, sentences, stem, terms, words
from services.model.offline.view import Passage

SURE = 0.5  # share of a question's weight that a sentence has to carry to be given as the answer
_COMPANION = 0.72  # share of the best sentence's score that a second one needs
_HEADING = 0.5
_COMMON = 3  # sentences that hold a word which proves little
_MOST_SENTENCES = 3
_MARKDOWN = re.compile(r"^\s*(?:#+\s*|[-*+]\s+|\d+\.\s+|>\s*)")
_MONEY = re.compile(r"[$€£]\s?\d|\bprice|\bfree\b", re.I)
_TIME = re.compile(r"\b(?:days?|hours?|minutes?|weeks?|months?|years?|at once|immediately|today|Monday)\b", re.I)
_WAY = re.compile(r"^(?:to |you (?:can|find)|choose|open|click|go to|administrators? can)|>|\bopens?\b", re.I)
_LEANS = re.compile(r"^(?:this|that|these|those|it|they|he|she|then|so|otherwise)\b", re.I)
_REASON = re.compile(r"\b(?:because|this is why|reason|due to|therefore)\b", re.I)
_QUESTION_WORD = re.compile(r"\b(?:how|when|where|who|why)\b")
_EXPECTS = (
    (re.compile(r"\bwhy\b", re.I), _REASON),
    (re.compile(r"\bhow much\b|\bprices?\b|\bcosts?\b|\bpricing\b", re.I), _MONEY),
    (re.compile(r"\bhow long\b|^when\b|\bwhen (?:do|does|will|is|are|can)\b|\bhow (?:soon|often)\b", re.I), _TIME),
    (re.compile(r"\bhow (?:do|can|could|to|should)\b|\bwhere\b", re.I), _WAY),
)


@dataclass(frozen=True, slots=True)
class Found:
    """The sentences that answer, in the document's order. `score` 0..1 is the share of the question they carry."""

    sentences: tuple[str, ...]
    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    passage: Passage
    position: int
    text: str
    before: str  # the sentence before it, where it cannot be understood without ("This is why ...")
    own: frozenset[str]
    heading: frozenset[str]
    asks: frozenset[str]  # the question words of the heading: "When you are billed"


def best(question: str, passages: Sequence[Passage], only: re.Pattern[str] | None = None) -> Found | None:
    """The best answer to `question` in `passages`; None if no sentence (that `only` matches) shares a word with it."""
    wanted = frozenset(terms(question))
    candidates = [one for one in _candidates(passages) if only is None or only.search(one.text)]
    weight = _weights(wanted, candidates)
    scored = [(_score(question, wanted, weight, one), one) for one in candidates if wanted & one.own]
    if not scored:
        return None
    top, winner = max(scored, key=lambda pair: (pair[0], -pair[1].position))
    names = frozenset(stem(word) for word in words(question)[1:] if word[0].isupper()) & winner.own
    near = [
        one
        for score, one in scored
        if one.passage is winner.passage and score >= top * _COMPANION and (names <= one.own or one.before)
    ]
    near.sort(key=lambda one: (abs(one.position - winner.position), one.position))
    chosen = sorted(near[:_MOST_SENTENCES], key=lambda one: one.position)
    said = dict.fromkeys(text for one in chosen for text in (one.before, one.text) if text)
    return Found(tuple(said), winner.passage, min(top, 1.0, _trust(wanted, winner, candidates)))


def rest_of(question: str, found: Found, passages: Sequence[Passage]) -> Found | None:
    """What answers the words that `found` leaves out ("Does the Team plan have SSO?"); None unless all of them."""
    missing = [term for term in terms(question) if term not in terms(" ".join(found.sentences))]
    rest = best(" ".join(missing), passages) if missing else None
    known = rest and set(missing) <= set(terms(" ".join(rest.sentences)))
    return rest if rest and known and rest.passage is not found.passage else None


def _trust(wanted: frozenset[str], winner: _Candidate, candidates: Sequence[_Candidate]) -> float:
    """1, but less than sure if all that fits is one common word that no heading confirms ("open")."""
    fitting = wanted & winner.own
    if len(fitting) > 1 or fitting & winner.heading:
        return 1.0
    common = sum(bool(fitting & one.own) for one in candidates)
    return SURE - 0.01 if common >= _COMMON else 1.0


def prose(passage: Passage) -> tuple[str, ...]:
    """The sentences of a passage in its order, each on one line, without headings and marks of lists."""
    return tuple(sentence for _, said in _sections(passage) for sentence in said)


def _candidates(passages: Iterable[Passage]) -> Iterable[_Candidate]:
    for passage in passages:
        position = 0
        for heading, said in _sections(passage):
            above = frozenset(terms(f"{passage.title} {heading}"))
            for before, sentence in zip(("", *said), said, strict=False):
                position += 1
                needed = before if _LEANS.search(sentence) else ""
                yield _Candidate(
                    passage, position, sentence, needed, frozenset(terms(sentence)), above, _asking(heading)
                )


def _sections(passage: Passage) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each heading with the sentences under it; a sentence that goes on in the next line is one."""
    heading, lines = passage.heading or passage.title, list[str]()
    for line in [*passage.text.splitlines(), "#"]:
        if line.lstrip().startswith("#"):
            yield heading, tuple(one_line(one) for one in sentences("\n".join(lines)))
            heading, lines = line, []
        else:
            marked = bool(_MARKDOWN.match(line) or line.lstrip().startswith("|"))
            lines += ["", _MARKDOWN.sub("", line), ""] if marked else [line]


def _weights(wanted: frozenset[str], candidates: Sequence[_Candidate]) -> dict[str, float]:
    """Inverse frequency among the candidates. A word that no candidate has still counts: it was asked for."""
    counts = Counter(term for one in candidates for term in one.own | one.heading)
    return {term: math.log(1 + (len(candidates) + 1) / (counts[term] + 1)) for term in wanted}


def _score(question: str, wanted: frozenset[str], weight: dict[str, float], one: _Candidate) -> float:
    total = sum(weight.values()) or 1.0
    carried = sum(weight[term] for term in wanted & one.own)
    carried += _HEADING * sum(weight[term] for term in (wanted & one.heading) - one.own)
    return (
        carried / total * (1.25 if _fits(question, one.text) else 1.0) * (1.25 if _asking(question) & one.asks else 1)
    )


def _asking(text: str) -> frozenset[str]:
    return frozenset(_QUESTION_WORD.findall(text.lower()))


def _fits(question: str, sentence: str) -> bool:
    """Whether the sentence is of the sort that is asked for: money, a time, a way to do it."""
    asked = [answer for ask, answer in _EXPECTS if ask.search(question)]
    return any(answer.search(sentence) for answer in asked)
