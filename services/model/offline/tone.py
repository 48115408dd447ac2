"""What a mail sounds like and what it is for: sentiment, frustration, intent, the key of its trouble.

Small lexicons and patterns, precise rather than greedy: a mail without such words is neutral.
"""

from __future__ import annotations

import re

from schemas.model_output import Intent
from services.model.offline.lexicon import BAD, GOOD, POINTING
from services.model.offline.sentences import one_line, sentences, stem, terms, words

_FRUSTRATED = re.compile(
    r"""\b(?:frustrat\w+|unacceptable|ridiculous|annoy\w+|fed\ up|furious|angry|outrag\w+|sick\ of
    |waste\ of\ (?:my\ )?time|(?:is|are|was|were|what)\ (?:the\ worst|terrible|awful|useless|an?\ (?:bad\ )?joke)
    |had\ enough|enough\ is\ enough|enough(?=[.!])
    |(?:second|third|fourth|fifth|\d+(?:nd|rd|th))\ (?:time|mail|email)
    |still\ (?:not|no|broken|waiting|do(?:es)?\ not|do(?:es)?n['’]t|isn['’]t|the\ same)
    |did(?:\ not|n['’]t)\ help|nobody\ (?:helps|answers|replies)|how\ many\ times)(?!\w)""",
    re.I | re.X,
)
_TROUBLE = re.compile(
    r"""\b(?:fail\w*|errors?|crash\w*|bugs?|broken|stuck|blank|time(?:s|d)?[\ -]?outs?|stopp?(?:s|ed)
    |missing|hangs?|freezes?
    |(?:do(?:es)?|did|is|are|can|will)(?:\ not|n['’]t)\ (?:sync|work|load|open|start|save|appear|arrive|respond|show)\w*
    |not\ working|cannot\ (?:open|load|save|sync|use)\w*|keeps?\ (?:crashing|failing|asking))\b""",
    re.I | re.X,
)
_INTENTS: tuple[tuple[Intent, re.Pattern[str]], ...] = (
    ("competitor", re.compile(r"\b(?:competitors?|switch\w* (?:to another|away|provider)|moving to another)\b", re.I)),
    (
        "cancellation",
        re.compile(
            r"\b(?:want|like|going|decided|need|please)\b[^.?!]{0,40}\b(?:cancel|terminate|close our account)\b", re.I
        ),
    ),
    ("renewal", re.compile(r"\b(?:renew(?:ed|ing|al)?)\b", re.I)),
    (
        "purchase",
        re.compile(
            r"\b(?:(?:just|have|we|I|['’]ve) (?:just )?(?:subscribed|signed up|bought|purchased|upgraded)"
            r"|(?:are|am|['’]re|['’]m|decided to) (?:now )?(?:upgrad(?:e|ing)|subscrib(?:e|ing)|buy(?:ing)?))\b",
            re.I,
        ),
    ),
    ("bug_report", _TROUBLE),
    ("billing", re.compile(r"\b(?:invoices?|charged?|charges|billing|billed|refunds?|payments?|overcharged)\b", re.I)),
    ("pricing_question", re.compile(r"\b(?:pric(?:e|es|ing)|how much|costs?|free trial|discount|quote)\b", re.I)),
    ("complaint", _FRUSTRATED),
    ("feature_request", re.compile(r"\b(?:feature request|would be (?:great|nice|useful) if|please add|wish)\b", re.I)),
    ("status_question", re.compile(
        r"\b(?:follow(?:ing)? up|any (?:news|update)|status of|where (?:do )?(?:we|things) stand)", re.I)),
    ("how_to", re.compile(r"\bhow (?:do|can|could|to|should)\b", re.I)),
    ("thanks", re.compile(r"\b(?:thanks|thank you|solved)\b", re.I)),
)  # fmt: skip
_TOPIC = re.compile(
    r"\b(?:question|query|problem|issue|trouble|something)s? (?:about|with|on|regarding|concerning) "
    r"(?:(?:our|my|the|your|an?) )?(?P<topic>[^,.;:!?\n]{3,60})",
    re.I,
)
_EMPTY = frozenset(terms(POINTING)) | frozenset(stem(word) for word in BAD)
_BILL = re.compile(
    r"\b(?:[Oo]ur|[Mm]y|[Tt]he|[Yy]our) (?P<topic>(?:[\w-]+ ){0,2}(?:invoice|bill|payment|refund|charge)"
    r"(?: (?:for|from|of) [A-Z]\w+)?)\b"
)
_NAMED = re.compile(r"[A-Z\d]")  # "the March invoice" is one, "our next invoice" is none in particular
_INTRODUCTION = re.compile(r"^[^:.?!]{0,60}\bhere: *")
_KEY_WORDS = 5
_LONGEST = 15  # characters of a stem; five of them fit into a key


def sentiment(text: str) -> float:
    """-1 (all bad words) to 1 (all good ones); 0 for a neutral text. A frustrated text is never above -0.3."""
    found = [word.lower() for word in words(text)]
    good, bad = sum(word in GOOD for word in found), sum(word in BAD for word in found)
    if is_frustrated(text):
        return max(-1.0, -0.5 - 0.1 * bad)
    return round((good - bad) / (good + bad + 1), 2)


def is_frustrated(text: str) -> bool:
    """Whether the words show frustration with us."""
    return bool(_FRUSTRATED.search(one_line(text)))


def intent(text: str) -> Intent:
    """The main purpose: the first sort, of the gravest first, whose words occur."""
    flat = one_line(text)
    return next((sort for sort, pattern in _INTENTS if pattern.search(flat)), "other")


def trouble(text: str) -> str:
    """The sentence that says what is wrong, verbatim; "" if none does."""
    found = next((one for one in sentences(text) if _TROUBLE.search(one_line(one))), "")
    return _INTRODUCTION.sub("", found, count=1)


def topic(text: str) -> str:
    """What a question or a problem is said to be about, verbatim: "March invoice"; "" if the mail does not say."""
    if match := _TOPIC.search(text):
        return match["topic"].strip()
    bill = _BILL.search(text)
    return bill["topic"].strip() if bill and _NAMED.search(bill["topic"]) else ""


def is_empty(question: str) -> bool:
    """Whether a question only points at the trouble ("Can you fix this bug?") and asks nothing of its own."""
    return all(term in _EMPTY for term in terms(question))


def issue_key(text: str, subject: str = "", names: str = "") -> str:
    """A few sorted stems that name the trouble: the same for the same trouble in other words; "" for no trouble.

    `names` are words never to appear (the author's name and company). Numbers and addresses never do.
    """
    if not (trouble(text) or topic(text) or is_frustrated(text)):
        return ""
    for source in (trouble(text), topic(text), re.sub(r"^(?:re|fwd?):\s*", "", subject, flags=re.I)):
        if key := _key(source, frozenset(terms(names))):
            return key
    return ""


def _key(source: str, names: frozenset[str]) -> str:
    plain = re.sub(r"(?<!\S)[^\s@]*+@\S++|https?://\S++|(?<!\S)[^\s\d]*+\d\S*+", " ", source)
    own = [term for term in terms(plain) if term not in _EMPTY and term not in names and 2 < len(term) <= _LONGEST]
    kept = list(dict.fromkeys(filter(None, (_letters(term) for term in own))))
    return " ".join(sorted(kept[:_KEY_WORDS]))


def _letters(term: str) -> str:
    return "".join(letter for letter in term if letter.isalpha() or letter == "-").strip("-")
