"""Personal data taken out of a text by rule, before it is kept for everybody to read. Pure.

What is taken out: secrets, cards and accounts; every e-mail address and telephone number; the names, addresses and
details that are known of the people concerned; every number of four characters or more that one of them wrote. It
takes out too much rather than too little: a person reads what is left before it is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from services.mail.masking import mask

NAME, ADDRESS, NUMBER, DETAIL = "[name]", "[address]", "[number]", "[detail]"
MARKS = (NAME, ADDRESS, NUMBER, DETAIL)

_EMAIL = re.compile(r"[\w.+'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*")
_URL_TAIL = re.compile(r"(https?://[^\s?#<>\"]{1,500})[?#][^\s<>\"]*", re.IGNORECASE)
_PHONE = re.compile(r"(?<![\w.])(?:\+|00)?\(?\d[\d ()/.\u00a0-]{5,20}\d(?![\w])")
_DATE_OR_HOST = re.compile(r"\d{4}-\d\d-\d\d|\d\d?[./]\d\d?[./]\d{2,4}|\d{1,3}(?:\.\d{1,3}){3}")
_CODE = re.compile(r"(?<!\w)(?=[\w-]{0,60}\d)\w[\w-]{3,60}(?!\w)")
_FREEMAIL = frozenset({"gmail", "googlemail", "outlook", "hotmail", "yahoo", "icloud", "proton", "gmx", "web", "aol"})
PHONE_DIGITS = 7


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the people concerned: their names, addresses, details (a company, an order), and their words."""

    names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    said: tuple[str, ...] = field(default=(), repr=False)


def without_personal(text: str, known: Known) -> str:
    """The text with a mark in the place of everything personal."""
    text = _URL_TAIL.sub(r"\1", mask(text).text)
    text = _EMAIL.sub(ADDRESS, text)
    text = _replaced(text, known.details, DETAIL)
    text = _replaced(text, _organisations(known.addresses), DETAIL)
    text = _replaced(text, known.names, NAME)
    text = _replaced(text, _words_of_names(known), NAME, exact=True)
    text = _PHONE.sub(lambda found: NUMBER if _is_phone(found[0]) else found[0], text)
    return _replaced(text, {code for one in known.said for code in _CODE.findall(one)}, NUMBER)


def marks_in(text: str) -> int:
    """How many marks stand in a text."""
    return sum(text.count(mark) for mark in MARKS)


def _replaced(text: str, values: Iterable[str], mark: str, *, exact: bool = False) -> str:
    """Whole words alone, the longest first; `exact` minds the case, for names that are words too ("Will")."""
    found = sorted({" ".join(one.split()) for one in values if len(one.strip()) > 1}, key=len, reverse=True)
    if not found:
        return text
    spelled = "|".join(re.escape(one).replace(r"\ ", r"\s+") for one in found)
    return re.sub(rf"(?<!\w)(?:{spelled})(?!\w)", mark, text, flags=0 if exact else re.IGNORECASE)


def _words_of_names(known: Known) -> Iterator[str]:
    """Each word of a name, and of what stands before the @, as a name is written: capitalised, or all capitals."""
    local_parts = (one.partition("@")[0] for one in known.addresses)
    for whole in (*known.names, *local_parts):
        for word in re.findall(r"[^\W\d_]{2,}", whole):
            yield from (word.capitalize(), word.upper())
            if word[0].isupper():
                yield word


def _organisations(addresses: Iterable[str]) -> Iterator[str]:
    for one in addresses:
        labels = one.rpartition("@")[2].split(".")
        name = labels[-2] if len(labels) > 1 else ""
        if len(name) > 3 and name.casefold() not in _FREEMAIL:
            yield name


def _is_phone(found: str) -> bool:
    return sum(map(str.isdigit, found)) >= PHONE_DIGITS and not _DATE_OR_HOST.fullmatch(found.strip())
