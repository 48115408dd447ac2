"""Sentences as verbatim spans of a text, and words as stems that two forms of one word share.

English only. A sentence is never changed, so that it can be quoted as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from services.model.offline.lexicon import STOP

_ABBREVIATIONS = re.compile(r"\b(?:e\.g|i\.e|mr|mrs|ms|dr|no|nr|inc|ltd|co|vs|approx|etc)\.$", re.IGNORECASE)
_BREAK = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])|\n\s*\n|(?<=[.!?:,])\s*\n")
_SOFT_WRAP = 55  # a line at least this long that ends without a stop goes on in the next one
_WORD = re.compile(r"\$?\d[\d,.]*\d|\$?\d|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_QUOTABLE = 200  # characters
_LINK = re.compile(r"https?://\S++|(?<!\S)[^\s@]*+@\S++")
_PHRASES = (
    (re.compile(r"single sign[- ]?on", re.I), "sso"),
    (re.compile(r"\broll(?:ed|ing)?[- ]?out\b", re.I), "rollout"),
    (re.compile(r"\b(?:sign|log)(?:(?:ed|ged|ging|ing)[- ]?|-?)(?:in|on)\b", re.I), "login"),
    # "I cannot log in", but not "an audit log in it": after any other word log and sign are nouns.
    (
        re.compile(
            r"((?:^|[^\w\s]|\b(?:to|i|we|you|they|he|she|not|cannot|can|could|may|must|will|would|should|please|who"
            r"|and|or|then|people|everybody|nobody|still|never|just|[\w'’]{1,30}(?:['’]t|[^'’\Ws]s)))\s{0,2})"
            r"\b(?:sign|log) (?:in|on)\b",
            re.I,
        ),
        r"\1login",
    ),
    (re.compile(r"\bmoney back\b", re.I), "refund"),
    (re.compile(r"\bhow much\b", re.I), "price"),
    (re.compile(r"\bhow (?:long|often|soon|many)\b", re.I), "how"),
    (re.compile(r"\bpro[- ]?rat(?:a|ed|ion)\b", re.I), "proration"),
)
_SAME = {
    "cost": "price", "fee": "price", "pric": "price", "charg": "price", "bill": "invoice", "invoic": "invoice",
    "seat": "user", "people": "user", "person": "user", "employe": "user", "colleagu": "user", "try": "trial",
    "download": "export", "terminat": "cancel", "outag": "incident", "permit": "permission", "high": "higher",
    "annual": "year", "annually": "year", "yearly": "year", "monthly": "month", "payment": "pay",
    "signin": "login", "saml": "sso", "subscrib": "subscription", "configur": "set", "setup": "set",
}  # fmt: skip


def sentences(text: str) -> list[str]:
    """The sentences of `text`, in order, each a verbatim and stripped span of it."""
    return [part for paragraph in _paragraphs(text) for part in _split(paragraph)]


def _paragraphs(text: str) -> Iterator[str]:
    """Spans between hard line breaks; a long unfinished line and the next are one span."""
    start = 0
    for match in re.finditer(r"\n", text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        following = text[match.end() : match.end() + 1]
        if len(line.rstrip()) >= _SOFT_WRAP and line.rstrip()[-1] not in ".!?:" and following.strip():
            continue
        yield text[start : match.start()]
        start = match.end()
    yield text[start:]


def _split(paragraph: str) -> Iterator[str]:
    start = 0
    for match in _BREAK.finditer(paragraph):
        if _ABBREVIATIONS.search(paragraph[start : match.start()]):
            continue
        if part := paragraph[start : match.end()].strip():
            yield part
        start = match.end()
    if part := paragraph[start:].strip():
        yield part


def stem(word: str) -> str:
    """A short form that singular, plural and the common verb forms share; synonyms of support mail fall together."""
    base = re.sub(r"['’]s?$", "", word.lower())
    for ending in ("ation", "ings", "ing", "edly", "ied", "ed", "ies", "es", "s"):
        if base.endswith(ending) and len(base) - len(ending) >= 3 and not base.endswith("ss"):
            base = base[: -len(ending)] + ("y" if ending in ("ied", "ies") else "")
            break
    if len(base) > 4 and base[-1] == base[-2] and base[-1] in "bdgmnprt":
        base = base[:-1]
    base = base[:-1] if len(base) > 4 and base.endswith("e") else base
    return _SAME.get(base, base)


def words(text: str) -> list[str]:
    """The words of `text` as they stand; numbers keep their signs and separators."""
    return _WORD.findall(text)


def terms(text: str) -> list[str]:
    """The stems of the words that mean something, in order."""
    text = _LINK.sub(" ", text)
    for phrase, word in _PHRASES:
        text = phrase.sub(word, text)
    return [stem(word) for word in words(text) if word.lower() not in STOP and len(word) > 1]


def quotable(text: str) -> str:
    """Words of somebody's mail as we repeat them: one line, without links and addresses, at most 200 characters."""
    plain = one_line(_LINK.sub("[...]", text))
    return plain if len(plain) <= _QUOTABLE else plain[:_QUOTABLE].rsplit(" ", 1)[0] + " ..."


def one_line(text: str) -> str:
    """`text` with each run of white space as one space."""
    return " ".join(text.split())
