"""Subjects compared and continued: the base subject of RFC 5256 section 2.1, with the prefixes of other languages."""

from __future__ import annotations

import re

_REPLY = (
    "re|aw|antw|antwort|sv|vs|odp|rif|r|ref|res|rv|ynt|atb|bls|vá|ad|hsv|συ|απ|回复|回覆|答复|返信|ответ|отв|на|회신|답장|רד|"
    "réf|réponse|odpowiedź|svar"
)
_FORWARD = "fwd?|wg|weitergeleitet|tr|i|rv|enc|vl|vb|doorst|pd|vidbs|továbbítás|πρθ|转发|轉寄|転送|пер|전달|הועבר"
MAX_CHARS = 1000
_COUNT = r"\s{0,9}(?:\[\d{1,9}\]|\(\d{1,9}\)|\^\d{1,9})?"
_REPLY_PREFIX = re.compile(rf"^\s*+(?:{_REPLY}){_COUNT}\s{{0,9}}[:：]\s*+", re.I)
_LEADER = re.compile(rf"^\s*+(?:(?:{_REPLY}|{_FORWARD}){_COUNT}\s{{0,9}}(?:\[[^\[\]]*+\])?\s{{0,9}}[:：])\s*+", re.I)
_BLOB = re.compile(r"^\s*\[[^\[\]]*\]\s*")
_TRAILER = re.compile(r"(?<!\s)\s*+\(fwd\)\s*+$", re.I)
_WRAPPED = re.compile(r"^\s*\[fwd:(.*)\]\s*$", re.I | re.S)


def base_subject(subject: str) -> str:
    """The subject without replies, forwards and list tags, in one case: equal for all mails of one conversation.

    A blob ("[list]") is taken off only while something is left (RFC 5256 section 2.1, step 4).
    """
    text = " ".join(subject[:MAX_CHARS].split()).casefold()
    while True:
        before = text
        text = _TRAILER.sub("", text)
        text = _without_leaders(text)
        if wrapped := _WRAPPED.match(text):
            text = wrapped.group(1).strip()
        if text == before:
            return text


def _without_leaders(text: str) -> str:
    while True:
        without = _LEADER.sub("", text)
        unblobbed = _BLOB.sub("", without)
        without = unblobbed if unblobbed else without
        if without == text:
            return text
        text = without


def is_reply(subject: str) -> bool:
    """Whether the subject begins with `Re:` in any language."""
    return bool(_REPLY_PREFIX.match(subject[:MAX_CHARS]))


def without_reply_prefixes(subject: str) -> str:
    """The subject as written, less every leading `Re:` in any language; forwards and tags stay."""
    subject = subject[:MAX_CHARS]
    while (shorter := _REPLY_PREFIX.sub("", subject)) != subject:
        subject = shorter
    return subject
