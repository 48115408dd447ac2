"""Which sentences of a mail ask something, with or without a question mark, and whatever courtesy stands before it.

A question is a verbatim span of its mail: only what stands before it ("Thanks! And ...") is left out.
"""

from __future__ import annotations

import re

from services.model.offline.sentences import one_line

_COURTESY = re.compile(
    r"(?:ok(?:ay)?|great|perfect|super|wonderful|excellent|awesome|good|got it|understood|noted|cheers|thx"
    r"|(?:many )?thanks?(?: you)?|much appreciated|that (?:explains|helps|helped)(?: it)?|all (?:good|clear))"
    r"(?: (?:so|very) much| a lot| again| for (?:the|your) \w{1,20}(?: \w{1,20})?)?"
    r"(?:\s{0,3}[,.!;:–—-]{1,3}\s{0,3}|\s{1,3}(?=and\b|but\b)|$)",
    re.I,
)
_OPENING = re.compile(
    r"(?:and|but|so|also|then|now|well|by the way|btw"
    r"|(?:just )?(?:one|a)(?: more| last| quick| further)? (?:thing|question)"
    r"|(?:another|quick) (?:thing|question))\b\s{0,3}[,.!;:–—-]{0,3}\s{0,3}",
    re.I,
)
_MOST = 4  # courtesies, or openings, that one sentence begins with
_AUXILIARY = r"(?:do|does|did|is|are|was|were|can|could|will|would|should|must|may|has)"
_ASKS = re.compile(
    rf"""(?:when|where|why|who)\ {_AUXILIARY}\b
    |(?:how|what)(?:\ [\w-]{{1,30}}){{0,2}}?\ {_AUXILIARY}\b|which(?:\ [\w-]{{1,30}}){{1,2}}?\ {_AUXILIARY}\b
    |(?:how|what)\ about\b|what\ if\b|how\ come\b
    |(?:should|may)\ (?:we|i)\b|(?:is|are|was|were|does|did|can|could|will|would|has)\ (?:it|there|this|that|these|those
        |you|we|i|they|he|she|the|your|our|my|an?|any|anyone|anybody|someone|somebody)\b
    |(?:do|have)\ (?:you|we|i|they|these|those)\b
    |(?:do|have)\ (?:your|our|my|the)\ [\w-]{{1,30}}\ (?:have|need|get|include|work|been)\b""",
    re.I | re.X,
)
_REQUEST = re.compile(
    r"^(?:please|kindly)\b|\b(?:can|could|would|will) you\b|\b(?:let me know|tell me|tell us|send (?:me|us)"
    r"|remind (?:me|us)|help (?:me|us)|i(?:'d| would) like to know|i need to know|explain|advise)\b",
    re.I,
)


def questions_of(said: list[str]) -> tuple[str, ...]:
    """The sentences that ask for something, without the courtesy before them."""
    asked = ((one, without_courtesy(one)) for one in said)
    return tuple(rest or one for one, rest in asked if _asks(one, rest))


def without_courtesy(sentence: str) -> str:
    """What follows the thanks at the beginning of a sentence, or ""."""
    at = 0
    for _ in range(_MOST):
        met = _COURTESY.match(sentence, at)
        if met is None:
            break
        at = met.end()
    return sentence[at:]


def _asks(sentence: str, rest: str) -> bool:
    if sentence.rstrip("\"')").endswith("?") or _REQUEST.search(one_line(sentence)):
        return True
    plain = one_line(rest)
    for _ in range(_MOST):
        if _ASKS.match(plain):
            return True
        met = _OPENING.match(plain)
        if met is None:
            return False
        plain = plain[met.end() :]
    return False
