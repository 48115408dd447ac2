"""What a mail's words say about who wrote it, robot or person. Pure; no verdict is given here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise

from services.core.wording import lines_of
from services.mail.reports.automatic.phrases import (
    DAY,
    LINK,
    MAIL,
    NUMBER,
    PHONE,
    Sentence,
    Tables,
    clauses,
    is_unspaced,
    language_tables,
    sentences,
    tables,
    words_of,
)

MOST_CHARS = 2000
FEW_WORDS, FEW_CHARS = 4, 8  # a clause of fewer has no content of its own: a greeting, a name
LONG_WORDS = 30  # characters of few words that say much, as agglutinating languages have them
SHORT_QUESTION = 8  # words of "Is it urgent?", which a responder may put before its substitute

RECEIVED, PROMISED, ABSENT = "received", "promised", "absent"
_ROBOT_TABLES = (
    ABSENT,
    "answering",
    "contacted",
    "declared",
    "gone",
    "no_reply",
    "received",
    "returning",
    "substitute",
    "unread",
)
HANDLING = "handling"  # "is looked at", which is a manner only where something was received
CLOSED = "shut"  # an office that is closed: its table has the place and the word for closed as halves
ROBOT = frozenset((*_ROBOT_TABLES, PROMISED, CLOSED, HANDLING))
ASKS, POLITE_REQUEST, MATTER, POLITE, MAILING = "asks", "polite_requests", "matters", "polite", "mailing"
FAULT, TO_ME = "faults", "to_me"
CONVERSING = "conversing"  # "that helped, I will try it": what one says to a person who answered
PACKAGE = __name__.rpartition(".")[0]
LANGUAGES = f"{PACKAGE}.languages"
_READ_AS = {"bs": "hr", "nb": "no", "nn": "no"}  # what the classifier calls a language, and whose table serves it

CASE_NUMBER = "case_number"  # half of an acknowledgement, and nothing of its own where it stands alone
_HALVES = frozenset((CASE_NUMBER, "closed", "day_names", "place", "soon", "taken_in", "we_reply", "your_message"))
_BOTH = (  # what is said in two halves, in any order within a sentence, and what they make together
    (frozenset(("your_message", "taken_in")), RECEIVED),
    (frozenset((CASE_NUMBER, "taken_in")), RECEIVED),
    (frozenset(("we_reply", "soon")), PROMISED),
    (frozenset((ABSENT, "day_names")), "returning"),
    (frozenset(("place", "closed")), CLOSED),
)
TABLES = (*_ROBOT_TABLES, *sorted(_HALVES - {"closed", "place"}), ASKS, POLITE_REQUEST, MATTER, FAULT, TO_ME, POLITE)
PARTS = frozenset((*TABLES, "closed", CONVERSING, HANDLING, "moved", "place"))  # of a language's own table
SUBSTITUTE = "substitute"
_LEAVES = frozenset((ABSENT, "gone"))
_NUMBERING = frozenset((SUBSTITUTE, "declared", RECEIVED))  # sentences in which responders too give numbers
_EXCUSED = frozenset((SUBSTITUTE, "no_reply"))  # sentences in which responders too say "please"
_TELLING = _EXCUSED | {
    "declared",
    RECEIVED,
    PROMISED,
    HANDLING,
    "unread",
}  # ... and in which they may name what people write about

_POINTS = frozenset((MAIL, PHONE, DAY))
_REFERRING = frozenset(("gone", "unread"))  # in such a text an order with an address says where to write instead
_ACKNOWLEDGING = frozenset((RECEIVED, PROMISED, "contacted"))  # in a text with two of them a number is the case's
ASKED, ORDERED, REFERRED, NUMBERED, CASED = "asked", "ordered", "referred", "numbered", "cased"

Said = tuple[Sentence, frozenset[str]]
_END: Said = (Sentence((), ""), frozenset())


@dataclass(frozen=True, slots=True)
class Shares:
    """How much of a text is a robot's: clauses with its manners, sentences with any, sentences with something else."""

    said: int = 0
    sentences: int = 0
    other: int = 0


@dataclass(frozen=True, slots=True)
class Wording:
    """What a text says. `kinds` are the robots' manners in it; the rest speaks for a person.

    `demands` holds for what no robot says (a question, an order to us, an order's number), `requests` for what only
    robots of ticket systems say, `refers` for what needs no language: a day, an address or a number to call.
    """

    kinds: frozenset[str] = frozenset()
    demands: bool = False
    requests: bool = False
    refers: bool = False


def read_wording(text: str, language: str = "", to_the_end: bool = True) -> Wording:
    """The wording of a text of its author's own (no quotes), with the parts that are known of its language.

    `language` is an ISO 639-1 code, or "". Without `to_the_end` the text is read up to the first demand.
    """
    said, demanded, requests, refers, points = set[str](), set[str](), False, False, False
    for (sentence, kinds), (_, after) in pairwise(chain(_said(text, language), [_END])):
        said |= kinds & ROBOT
        refers = refers or _refers(sentence, kinds)
        points = points or bool(_POINTS.intersection(sentence.words))
        demand = _demand(sentence, kinds, after)
        demanded.add(demand)
        requests = requests or (demand != REFERRED and _requests(kinds))
        if demanded & {ASKED, ORDERED} and not to_the_end:
            break
    if CLOSED in said:  # nobody is there: one manner, by whichever words
        said = said - {CLOSED} | {ABSENT}
    if RECEIVED not in said:
        said.discard(HANDLING)
    if (refers and said & _LEAVES) or (REFERRED in demanded and said & _REFERRING):
        said.add(SUBSTITUTE)
    return Wording(frozenset(said), _demands(demanded, said), requests, points)


def _said(text: str, language: str) -> Iterator[Said]:
    return ((one, _kinds(one, language)) for one in sentences(text[:MOST_CHARS]))


def shares(text: str, language: str = "") -> Shares:
    """How much of a text a robot's manners explain. A greeting is neither theirs nor anything else."""
    said = among = other = 0
    for sentence, found in _said(text, language):
        among += bool(found & ROBOT)
        if found & (_EXCUSED | {PROMISED}) or _refers(sentence, found):
            said += 1
            continue
        unexplained = ""
        for clause in clauses(sentence, _conjunctions()):
            kinds = _whole(_explaining().kinds(clause) | _parts(clause, language))
            said += bool(kinds & ROBOT)
            unexplained += "" if kinds else f" {clause.text}"
        other += _has_content(unexplained)
    return Shares(said, among, other)


def _has_content(text: str) -> bool:
    if is_unspaced(text):
        return len(text) > FEW_CHARS
    return text.count(" ") >= FEW_WORDS or len(text) >= LONG_WORDS


def _kinds(sentence: Sentence, language: str) -> frozenset[str]:
    """What a sentence says. A polite word next to an address or a number to call is a substitute."""
    found = _whole(tables(PACKAGE, TABLES).kinds(sentence) | _parts(sentence, language))
    return found | {SUBSTITUTE} if POLITE_REQUEST in found and _refers(sentence, found) else found


def _parts(sentence: Sentence, language: str) -> frozenset[str]:
    return language_tables(LANGUAGES, _READ_AS.get(language, language)).kinds(sentence)


def _whole(kinds: frozenset[str]) -> frozenset[str]:
    return kinds.difference(_HALVES - {CASE_NUMBER}).union(whole for halves, whole in _BOTH if halves <= kinds)


def _refers(sentence: Sentence, kinds: frozenset[str]) -> bool:
    """Whether a sentence gives an address or a number to call, and asks for nothing: in no language a request."""
    return _has_contact(sentence.words) and not kinds & {ASKS, MATTER} and not sentence.asks


def _demand(sentence: Sentence, kinds: frozenset[str], after: frozenset[str]) -> str:
    """A question, an order to us, or a number of an order. Whoever names a substitute may say "call", and a number."""
    if "declared" in kinds and FAULT in kinds:
        return ORDERED
    if ASKS in kinds and "contacted" not in kinds and not {RECEIVED, CASE_NUMBER} <= kinds:
        aimed = _has_target(sentence.words) and not kinds & {MATTER, FAULT}
        if MATTER in kinds or not (PROMISED in kinds or (kinds & _EXCUSED and aimed)):
            return REFERRED if aimed and TO_ME not in kinds else ORDERED
        return ""
    leads_on = len(sentence.words) <= SHORT_QUESTION and SUBSTITUTE in after
    if sentence.asks and not kinds & _EXCUSED and not leads_on:
        return ASKED
    if NUMBER not in sentence.words or kinds & _NUMBERING:
        return ""
    return CASED if CASE_NUMBER in kinds else NUMBERED


def _demands(demanded: set[str], said: set[str]) -> bool:
    """Whether what was found in single sentences is a demand in a text that says all this."""
    referred = REFERRED in demanded and not said & _REFERRING
    numbered = NUMBERED in demanded and len(said & _ACKNOWLEDGING) < len({RECEIVED, PROMISED})
    cased = CASED in demanded and not said & _ACKNOWLEDGING
    return bool(demanded & {ASKED, ORDERED}) or referred or numbered or cased


def _requests(kinds: frozenset[str]) -> bool:
    """A polite word, what people write about or a fault, in a sentence that is not a responder's."""
    told = (MATTER in kinds or (FAULT in kinds and not kinds & {"gone", CLOSED})) and not kinds & _TELLING
    return told or CONVERSING in kinds or (POLITE_REQUEST in kinds and not kinds & (_EXCUSED | {POLITE}))


def _has_contact(words: Sequence[str]) -> bool:
    return MAIL in words or PHONE in words


def _has_target(words: Sequence[str]) -> bool:
    """Where somebody may be sent to: also a page, which by itself is no contact, since people paste links."""
    return _has_contact(words) or LINK in words


def _explaining() -> Tables:
    return tables(PACKAGE, (*(one for one in TABLES if one not in (FAULT, TO_ME)), MAILING))


@cache
def _conjunctions() -> frozenset[tuple[str, ...]]:
    return frozenset(words_of(line) for line in lines_of(PACKAGE, "conjunctions"))
