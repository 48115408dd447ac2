"""Whether the words that a proposal cites are the customer's own statement.

Pure. The words stand in the mail (`find_quote`); this asks whose words they are and to whom they speak. A customer who
answers between the lines of an older mail leaves those lines in their text: they are quoted, and never theirs.
"""

from __future__ import annotations

import re

from services.learn_facts.literal import is_literal, sentence_around
from services.learn_facts.wording import says
from services.mail.reply_text import without_quoted
from services.memory.quotes import Span

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
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")  # Thai to Chinese


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
    if quotations and value and kind not in TROUBLES and not is_literal(value, span, _without(quotations, text)):
        return "only the words in quotation marks say so: somebody else's"
    return ""


def quotations_in(text: str) -> list[Span]:
    """What stands in quotation marks, marks included, and is longer than a name or a title."""
    found = (Span(one.start(), one.end(), one.group()) for one in _QUOTED.finditer(text))
    return [one for one in found if _SENTENCE.search(one.quote)]


def _without(quotations: list[Span], text: str) -> str:
    for one in quotations:
        text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    return text


def _holds(ours: str, sentence: str) -> bool:
    """Whether we wrote a folded sentence ourselves, and did not quote it."""
    return sentence in _folded(ours) and sentence in _folded(without_quoted(ours))


def _is_long(sentence: str) -> bool:
    """Whether nobody says it by chance in the very words of somebody else."""
    return len(sentence.split()) >= _ECHO_WORDS or len(_UNSPACED.findall(sentence)) >= _ECHO_CHARACTERS


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
