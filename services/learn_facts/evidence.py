"""Whether the words that a proposal cites are the customer's own statement, and how literally they say it.

Pure. The words stand in the mail (`find_quote`); this asks whose words they are and to whom they speak.
"""

from __future__ import annotations

import re

from services.core.memory.quotes import Span

ABOUT_THEMSELVES = frozenset({"identity", "contact_info", "customer_info", "order_info", "preference", "goal"})

_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|\n\s*\n")
_QUOTED = re.compile(r"“[^”]{12,}”|«[^»]{12,}»|„[^“”]{12,}[“”]|\"[^\"\n]{12,}\"")
_QUOTED_WORDS = 4  # fewer are a name or a title
_ECHO_WORDS = 4  # a shorter answer may well repeat a word of ours
_ORDERS = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        r"\b(?:ignore|disregard|override|forget)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules?|policy)\b",
        r"\bsystem (?:prompt|message|override|note|instruction)s?\b",
        r"^\W*(?:system|assistant|developer)\s*:",
        r"\b(?:remember|correct|forget)_fact\b|\bset_participant_state\b",
        r"\b(?:store|add|save|write|put|insert|update|delete)\b[^.\n]{0,60}\b(?:your|the|long-term) memory\b",
        r"\b(?:remember|note|store|apply|record|tell|set)\b[^.\n]{0,60}"
        r"\b(?:all|every|each|other|another) (?:other )?(?:customer|user|participant|client)s?\b",
    )
)
_WORD = re.compile(r"\w+")
_ISO_DATE = re.compile(r"^\d{4}-\d\d-\d\d$")
_STEM = 4  # letters that two forms of a word share


def sentence_around(span: Span, text: str) -> str:
    """The whole sentences that a span stands in."""
    begins = [found.end() for found in _SENTENCE_ENDS.finditer(text) if found.end() <= span.start]
    ends = [found.start() for found in _SENTENCE_ENDS.finditer(text) if found.start() >= span.end]
    return text[begins[-1] if begins else 0 : ends[0] if ends else len(text)].strip()


def objection(span: Span, text: str, kind: str, our_words: tuple[str, ...]) -> str:
    """Why the cited words are no statement of the customer, in words; "" if they are one."""
    sentence = sentence_around(span, text)
    if len(sentence.split()) >= _ECHO_WORDS and any(_folded(sentence) in _folded(ours) for ours in our_words):
        return "these are our own words"
    if any(order.search(sentence) for order in _ORDERS):
        return "the words are an instruction to the memory, not a statement"
    if kind in ABOUT_THEMSELVES and _within_quotation(span, text):
        return "the words stand in quotation marks: somebody else's"
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


def _within_quotation(span: Span, text: str) -> bool:
    for quoted in _QUOTED.finditer(text):
        inside = quoted.start() <= span.start and span.end <= quoted.end()
        if inside and len(quoted.group().split()) >= _QUOTED_WORDS:
            return True
    return False


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
