"""Whether the words that a proposal cites are the customer's own statement, and carry the fact. Pure.

The words stand in the mail (`find_quote`); this asks whose words they are and to whom they speak. A customer who
answers between the lines of an older mail leaves those lines in their text: they are quoted, and never theirs.

A model that was talked round may cite words that stand and say something else with them. Numbers, names, addresses and
whether something is so have to stand in what is cited: a text that says more is dropped for the value alone, a value
that does is refused. What a customer says that we promised or granted is no fact, and an order is none either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from schemas.events.replies import FactProposal
from services.learn_facts.facts.values import UNSPACED, is_literal, numbers_in, sentence_around
from services.mail.reply_text import without_quoted
from services.memory.numerals import digits
from services.memory.quotes import Span
from services.memory.temporal import window_of
from services.memory.wording import said_of, says

TROUBLES = frozenset({"issue_history", "event", "interaction"})  # kinds of what happened: it may have been words

_INSIDE = r"(?:(?!\n\s*\n)[^{}]){{{},}}"  # a quotation may be broken over lines, and ends with its paragraph
_MARKS = (("“", "”"), ("«", "»"), (r"(?<!\w)»(?=\w)", "«"), ("„", "“”"), ("‚", "‘’"), ("‹", "›"))
_JAPANESE_MARKS = (("「", "」"), ("『", "』"))
_QUOTED = re.compile(
    "|".join(
        [
            *(f"{begin}{_INSIDE.format(end, 12)}[{end}]" for begin, end in _MARKS),
            *(f"{begin}{_INSIDE.format(end, 6)}{end}" for begin, end in _JAPANESE_MARKS),
            r'(?<!\w)"(?=\S)' + _INSIDE.format('"', 12) + r'(?<=\S)"(?!\w)',
            r"(?<!\w)['‘](?=\S)(?:(?!\n\s*\n)[^'’]|(?<=\w)['’](?=\w)){12,}(?<=\S)['’](?!\w)",
        ]
    )
)
_SENTENCE = re.compile(
    r"(?<!\S)\S++(?:\s++\S++){3}|[「『][^ぁ-ゖ」』]{0,300}+[ぁ-ゖ][^」』]{0,300}+[」』]", re.DOTALL
)  # less is a name or a title
_ECHO_WORDS = 4  # a shorter answer may well repeat a word of ours
_ECHO_CHARACTERS = 10  # the same where words are not parted by spaces


def objection(span: Span, text: str, kind: str, our_words: tuple[str, ...], value: str = "") -> str:
    """Why the cited words are no statement of the customer, in words; "" if they are one.

    What stands on quoted lines or in quotation marks is somebody else's, whatever is made of it. Words around a
    quotation are the customer's, and say no more of `value` than they say themselves; what was said in quotation marks
    may be what happened.
    """
    whole, text = text, without_quoted(text)
    if not text[span.start : span.end].strip():
        return "the words stand on quoted lines: somebody else's"
    if text[span.start : span.end] != whole[span.start : span.end] and value and not is_literal(value, span, text):
        return "only quoted lines say so: somebody else's"
    sentence = sentence_around(span, text)
    if _is_long(sentence) and any(_holds(ours, _folded(sentence)) for ours in our_words):
        return "these are our own words"
    if says("orders", sentence):
        return "the words are an instruction to the memory, not a statement"
    quotations = [one for one in quotations_in(text) if one.start < span.end and span.start < one.end]
    if any(one.start <= span.start and span.end <= one.end for one in quotations):
        return "the words stand in quotation marks: somebody else's"
    if quotations and value and kind not in TROUBLES and not is_literal(value, span, without(quotations, text)):
        return "only the words in quotation marks say so: somebody else's"
    return ""


def quotations_in(text: str) -> list[Span]:
    """What stands in quotation marks, marks included, and is longer than a name or a title."""
    found = (Span(one.start(), one.end(), one.group()) for one in _QUOTED.finditer(text))
    return [one for one in found if _SENTENCE.search(one.quote)]


def without(quotations: list[Span], text: str) -> str:
    """The text with spaces in place of what stands in quotation marks."""
    for one in quotations:
        text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    return text


def _holds(ours: str, sentence: str) -> bool:
    """Whether we wrote a folded sentence ourselves, and did not quote it."""
    return sentence in _folded(ours) and sentence in _folded(without_quoted(ours))


def _is_long(sentence: str) -> bool:
    """Whether nobody says it by chance in the very words of somebody else."""
    return len(sentence.split()) >= _ECHO_WORDS or len(UNSPACED.findall(sentence)) >= _ECHO_CHARACTERS


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


_DATE = re.compile(r"\b\d{4}-\d\d(?:-\d\d)?\b|\b\d{1,2}:\d\d\b|\b(?:19|20)\d\d\b")
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w.-]{1,255}|\b(?:https?://|www\.)\S{1,500}")
_NAME = re.compile(r"(?<=[\w,;] )[^\W\d_]\w{2,40}")
_CLAUSE = re.compile(r"[,;:!?\n–—()，；：。！？]|\.\s|\b(?:but|and|or|aber|sondern|und|mais|et|pero|y|ma|e|ale|но|и)\b")
_WORD = re.compile(r"\w{3,}")
_NAME_WORDS = 2  # "credit card" and "bank transfer" are no orders
_OF_TWO_MINDS = frozenset({"plus", "mai", "ne", "ni", "personne", "no"})  # they deny only in company


def disallowed(proposal: FactProposal, span: Span, text: str) -> str:
    """Why no fact may say so, whoever says it: it tells of our acts, or gives an order; "" if it may."""
    told = f"{proposal.text}\n{proposal.value}"
    if says("our_acts", f"{span.quote}\n{told}") or says("our_acts", sentence_around(span, without_quoted(text))):
        return "only we can establish what we did or promised"
    worded = (one for one in (proposal.text, proposal.value) if len(one.split()) > _NAME_WORDS)
    if says("orders", told) or any(says("imperatives", one) for one in worded):
        return "it gives an order and says nothing of the customer"
    return ""


def unsupported(proposal: FactProposal, span: Span, text: str, written: datetime, parents: Iterable[str] = ()) -> str:
    """Why the value does not follow from the words, "" where it does; `parents` are what it was concluded from."""
    own = without_quoted(text)
    sentence = "\n".join((sentence_around(span, own), *parents))
    if missing := _unsaid(proposal.value, sentence, written):
        return f"the words do not say {', '.join(sorted(missing))}"
    denied = _denies(_clause_of(proposal.value, sentence))
    if denied and not _denies(f"{proposal.key} {proposal.value} {proposal.text}") and not parents:
        return "the words say that it is not so"
    return ""


def supported_text(
    proposal: FactProposal, span: Span, text: str, written: datetime, parents: Iterable[str] = (), *, name: str = ""
) -> str:
    """The text of a fact where it follows from the words and names nobody but the customer; else key and value."""
    own = without_quoted(text)
    sentence = "\n".join((sentence_around(span, own), *parents, proposal.value))
    known = {word.casefold()[:4] for word in _WORD.findall(f"{own} {sentence} {proposal.key} {name} customer")}
    names = {one for one in _NAME.findall(proposal.text) if one[0].isupper() and one.casefold()[:4] not in known}
    denies = _denies(proposal.text) and not _denies(f"{sentence} {proposal.key}")
    if names or denies or _unsaid(proposal.text, sentence, written):
        return f"{proposal.key}: {proposal.value}"
    return proposal.text


def _unsaid(told: str, sentence: str, written: datetime) -> set[str]:
    """Numbers and addresses that the words do not hold; a phrase of time may mean a date, a word a number."""
    said, folded = numbers_in(sentence), sentence.casefold()
    missing = {one for one in _ADDRESS.findall(told) if one.casefold().rstrip(".,;") not in folded}
    if _DATE.search(told) and window_of(sentence, written) is not None:
        told = _DATE.sub(" ", told)
    missing |= set() if says("numbers", digits(sentence)) else numbers_in(told) - said
    return missing


def _clause_of(value: str, sentence: str) -> str:
    """The clause of a sentence that says most of a value; "" where none says any of it."""
    wanted = {word[:4] for word in _WORD.findall(value.casefold())} | numbers_in(value)
    clauses = _CLAUSE.split(sentence)
    said = [len(wanted & ({word[:4] for word in _WORD.findall(one.casefold())} | numbers_in(one))) for one in clauses]
    return clauses[said.index(max(said))] if max(said) else ""


def _denies(text: str) -> bool:
    return bool(said_of("denials", text) - _OF_TWO_MINDS)
