"""Whether the words that a proposal cites are the customer's own statement, and how literally they say it.

Pure. The words stand in the mail (`find_quote`); this asks whose words they are and to whom they speak.
"""

from __future__ import annotations

import re

from services.core.memory.quotes import Span
from services.learn_facts.wording import says

TROUBLES = frozenset({"issue_history", "event", "interaction"})  # kinds of what happened: it may have been words

_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n\s*\n")
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
_SENTENCE = re.compile(r"\S+(?:\s+\S+){3}|[「『].*[ぁ-ゖ].*[」』]", re.DOTALL)  # less is a name or a title
_ECHO_WORDS = 4  # a shorter answer may well repeat a word of ours
_WORD = re.compile(r"\w+")
_ISO_DATE = re.compile(r"^\d{4}-\d\d-\d\d$")
_STEM = 4  # letters that two forms of a word share


def sentence_around(span: Span, text: str) -> str:
    """The whole sentences that a span stands in."""
    begins = [found.end() for found in _SENTENCE_ENDS.finditer(text) if found.end() <= span.start]
    ends = [found.start() for found in _SENTENCE_ENDS.finditer(text) if found.start() >= span.end]
    return text[begins[-1] if begins else 0 : ends[0] if ends else len(text)].strip()


def objection(span: Span, text: str, kind: str, our_words: tuple[str, ...], value: str = "") -> str:
    """Why the cited words are no statement of the customer, in words; "" if they are one.

    What stands in quotation marks is somebody else's, whatever is made of it. Words around a quotation are the
    customer's, and say no more of `value` than they say themselves, but where what was said is what happened.
    """
    sentence = sentence_around(span, text)
    if len(sentence.split()) >= _ECHO_WORDS and any(_folded(sentence) in _folded(ours) for ours in our_words):
        return "these are our own words"
    if says("orders", sentence):
        return "the words are an instruction to the memory, not a statement"
    quotations = [one for one in quotations_in(text) if one.start < span.end and span.start < one.end]
    if any(one.start <= span.start and span.end <= one.end for one in quotations):
        return "the words stand in quotation marks: somebody else's"
    if quotations and value and kind not in TROUBLES and not is_literal(value, span, _without(quotations, text)):
        return "only the words in quotation marks say so: somebody else's"
    return ""


def is_literal(value: str, span: Span, text: str) -> bool:
    """Whether the sentence says the value itself: every number of it, and at least half of its words."""
    said = {word.casefold() for word in _WORD.findall(sentence_around(span, text))}
    stems = {word[:_STEM] for word in said if len(word) >= _STEM}
    wanted = [word.casefold() for word in _WORD.findall(value)]
    if _ISO_DATE.match(value):
        return str(int(wanted[2])) in {word.lstrip("0").rstrip("thsndr") for word in said}
    found = [word in said or (len(word) >= _STEM and word[:_STEM] in stems) for word in wanted]
    numbers = [hit for word, hit in zip(wanted, found, strict=True) if word.isdigit()]
    return all(numbers) and 2 * sum(found) >= len(wanted)


def quotations_in(text: str) -> list[Span]:
    """What stands in quotation marks, marks included, and is longer than a name or a title."""
    found = (Span(one.start(), one.end(), one.group()) for one in _QUOTED.finditer(text))
    return [one for one in found if _SENTENCE.search(one.quote)]


def _without(quotations: list[Span], text: str) -> str:
    for one in quotations:
        text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    return text


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
