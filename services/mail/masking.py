"""Card numbers, IBANs and keys are masked before a text reaches a model or a log.

A text is matched as a reader sees it (`plain_view`): full-width digits and those of other scripts, unseen characters,
separators and line breaks between the digits hide nothing: blanks and dashes anywhere, any other sign where the same
one stands between groups as numbers are written in. Numbers are masked only where their check digits hold (Luhn,
ISO 7064 mod 97-10) and an IBAN is written as its country writes them, so that order and phone numbers stay, and
sentences. The last four characters of a number stay too: enough to talk about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from services.mail.plain_view import Span, View, replaced, substituted, unwrapped, view_of

_BETWEEN = r"[\s.·•\-\u2010-\u2015\u2212_/>()]{0,4}"
_DIGITS = re.compile(rf"(?<!\d)\d(?:{_BETWEEN}\d){{12,}}")
_IBAN_START = re.compile(rf"(?:(?<![A-Z0-9])|(?<=IBAN))[A-Z]{_BETWEEN}[A-Z]{_BETWEEN}\d{_BETWEEN}\d", re.I)
_IBAN_REST = re.compile(rf"(?:{_BETWEEN}[A-Z0-9]){{0,30}}", re.I)
_GROUPS = re.compile(r"(?<![^\W_])[^\W_]{1,6}(?:[^\w]{1,12}[^\W_]{1,6}){2,2000}")
_CUT = re.compile(r"([^\w]+)")
_USUAL = re.compile(_BETWEEN)
_SHAPES = {  # how card numbers of a length are written in groups, by the size of the first
    1: {length: ((1,) * length,) for length in range(13, 20)},
    4: {14: ((4, 6, 4),), 15: ((4, 6, 5),), 16: ((4, 4, 4, 4),), 19: ((4, 4, 4, 4, 3),)},
}
_IBAN_SHAPES = {  # what follows the check digits, by country (ISO 13616 registry): n digits, a letters, c either
    entry[:2]: [(kind, int(count)) for count, kind in re.findall(r"(\d{1,2})([nac])", entry[2:])]
    for entry in re.findall(
        r"[A-Z]{2}\w+",
        "AD8n12c AE19n AL8n16c AT16n AZ4a20c BA16n BE12n BG4a6n8c BH4a14c BI23n BR23n1a1c BY4c4n16c CH5n12c CR18n "
        "CY8n16c CZ20n DE18n DJ23n DK14n DO4c20n EE16n EG25n ES20n FI14n FK2a12n FO14n FR10n11c2n GB4a14n GE2a16n "
        "GI4a15c GL14n GR7n16c GT24c HR17n HU24n IE4a14n IL19n IQ4a15n IS22n IT1a10n12c JO4a4n18c KW4a22c KZ3n13c "
        "LB4n20c LC4a24c LI5n12c LT16n LU3n13c LV4a13c LY21n MC10n11c2n MD20c ME18n MK3n10c2n MN16n MR23n MT4a5n18c "
        "MU4a19n3a NI4a20n NL4a10n NO11n OM3n16c PK4a16c PL24n PS4a21c PT21n QA4a21c RO4a16c RS18n RU14n15c SA2n18c "
        "SC4a20n3a SD14n SE20n SI15n SK20n SM1a10n12c SO19n ST21n SV4a20n TL19n TN20n TR6n16c UA6n19c VA18n VG4a16n "
        "XK16n YE4a4n18c",
    )
}
_IBAN_LENGTHS = {country: 4 + sum(count for _, count in shape) for country, shape in _IBAN_SHAPES.items()}
_OF_A_KIND = {"n": "[0-9]", "a": "[A-Z]", "c": "[A-Z0-9]"}
_IBANS = {
    country: re.compile(country + "[0-9]{2}" + "".join(f"{_OF_A_KIND[kind]}{{{count}}}" for kind, count in shape))
    for country, shape in _IBAN_SHAPES.items()
}
_CARD_LENGTHS = tuple(  # how cards of an issuer begin, and how long their numbers are, the commonest length first
    (re.compile(start), lengths)
    for start, lengths in (
        ("4", (16, 13, 19)),
        ("3[47]", (15,)),
        ("3[0689]", (14, 16, 19)),
        ("5[1-5]|2[2-7]", (16,)),
        ("6|5[0678]", (16, 19, 18, 17, 15, 14, 13)),
    )
)
_SECRETS = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    r"\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,}",
    r"\b[sprw]k_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/=]{20,}",
    r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}\b",
    r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}|\bglpat-[A-Za-z0-9_-]{20,}",
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{20,}",
    r"\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}",
    r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\bkey-[0-9a-f]{32}\b|\bnpm_[A-Za-z0-9]{36}|\bhf_[A-Za-z0-9]{30,}",
    r"\bpypi-[A-Za-z0-9_-]{40,}|\bdop_v1_[0-9a-f]{64}|\bEAA[A-Za-z0-9]{60,}|\b\d{8,10}:AA[A-Za-z0-9_-]{32,}",
    r"\beyJ[A-Za-z0-9_-]{8,500}\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,}",
)
_SECRET = re.compile("|".join(f"(?:{s})" for s in _SECRETS))
_NAMED_SECRET = re.compile(
    r"(?P<name>\b(?:api[ _-]?key|secret(?:[ _-]?(?:access[ _-]?)?key)?|access[ _-]?token|"
    r"auth[ _-]?token|client[ _-]?secret|bearer|"
    r"passw(?:or)?d|pwd?|passcode|passwort|kennwort|mot de passe|contraseña|senha|пароль|passphrase)\b"
    r"[\"']?(?:\s{1,9}(?:is|lautet|ist|est|es|é))?\s{0,9}[:=]?\s{0,9}[\"']?)(?P<value>[^\s\"'<>,;]{4,})",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Found:
    """One thing masked: its kind ("card", "iban", "secret") and what stands in its place."""

    kind: str
    shown: str


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and what was taken out, in order of kind."""

    text: str
    found: tuple[Found, ...]


def mask(text: str) -> Masked:
    """Mask secrets, then IBANs, then card numbers. Masking twice changes nothing more."""
    found: list[Found] = []
    view = view_of(text)
    text, view = _viewed(substituted(text, view, _SECRET, lambda _: _put("secret", "", found)), text, view)
    text, view = _viewed(substituted(text, unwrapped(view), _SECRET, lambda _: _put("secret", "", found)), text, view)
    text, view = _viewed(substituted(text, view, _NAMED_SECRET, lambda match: _named(match, found)), text, view)
    for kind, look in (("iban", _ibans), ("iban", _grouped_ibans), ("card", _cards), ("card", _grouped_cards)):
        spans = [(view.span(*span), _put(kind, tail, found)) for span, tail in look(view.text)]
        text, view = _viewed(replaced(text, spans), text, view)
    return Masked(text, tuple(found))


def _viewed(text: str, before: str, view: View) -> tuple[str, View]:
    """A text with its view, which is computed again only where the text is another: most hold nothing to mask."""
    return text, view if text == before else view_of(text)


def _put(kind: str, tail: str, found: list[Found]) -> str:
    shown = f"[{kind} …{tail}]" if tail else f"[{kind}]"
    found.append(Found(kind, shown))
    return shown


def _named(match: re.Match[str], found: list[Found]) -> str | None:
    """A value after "password:" and its like is masked where it looks made up: a digit or sign among the letters."""
    value, assigned = match["value"], bool(re.search(r"[:=]", match["name"]))
    odd = bool(re.search(r"\d|[^\w.]", value.rstrip(".!?)")))
    made_up = odd and (assigned or bool(re.search(r"[A-Za-z]", value)))
    if value.startswith("[") or not (made_up or (assigned and len(value) >= 16)):
        return None
    return match["name"] + _put("secret", "", found)


def _ibans(text: str) -> Iterator[tuple[Span, str]]:
    """Where an IBAN stands, and its last four characters; what follows one belongs to it only as far as it is long."""
    at = 0
    while start := _IBAN_START.search(text, at):
        at = start.start() + 1
        rest = _IBAN_REST.match(text, start.end())
        chars = [place for place in range(start.start(), rest.end() if rest else at) if text[place].isalnum()]
        length = _IBAN_LENGTHS.get("".join(text[place] for place in chars[:2]).upper(), 0)
        compact = "".join(text[place] for place in chars[:length]).upper()
        if length and _is_iban(compact):
            at = chars[length - 1] + 1
            yield (start.start(), at), compact[-4:]


def _cards(text: str) -> Iterator[tuple[Span, str]]:
    """Where a card number stands: whole groups of digits whose check digit holds, whatever else stands around them."""
    for run in _DIGITS.finditer(text):
        places = [at for at in range(*run.span()) if text[at].isdigit()]
        first = 0
        while first < len(places) - 12:
            length = _card_at(text, places, first)
            if length:
                yield (
                    (places[first], places[first + length - 1] + 1),
                    "".join(text[at] for at in places[first + length - 4 : first + length]),
                )
            first += length or 1


def _grouped_cards(text: str) -> Iterator[tuple[Span, str]]:
    """Card numbers in their usual groups, or digit by digit, with one and the same sign between all of them."""
    return _in_groups(text, _card_groups)


def _grouped_ibans(text: str) -> Iterator[tuple[Span, str]]:
    """IBANs in groups of four, or letter by letter, with one and the same sign between all of them."""
    return _in_groups(text, _iban_groups)


def _in_groups(text: str, look: Callable[[list[str], int], int]) -> Iterator[tuple[Span, str]]:
    for places, groups in _even(text):
        first = 0
        while first < len(groups):
            count = look(groups, first)
            if count:
                last = first + count - 1
                number = "".join(groups[first : last + 1])
                yield (places[first], places[last] + len(groups[last])), number[-4:]
            first += count or 1


def _card_groups(groups: list[str], first: int) -> int:
    """How many groups from here on are a card number; 0 where they are none."""
    begin = "".join(groups[first : first + 2])[:2]
    lengths = next((lengths for start, lengths in _CARD_LENGTHS if start.match(begin)), ())
    for length in lengths:
        for shape in _SHAPES.get(len(groups[first]), {}).get(length, ()):
            if _is_card(groups[first : first + len(shape)], shape):
                return len(shape)
    return 0


def _iban_groups(groups: list[str], first: int) -> int:
    """How many groups from here on are an IBAN; 0 where they are none."""
    size = len(groups[first])
    length = _IBAN_LENGTHS.get("".join(groups[first : first + 2])[:2].upper(), 0) if size in (1, 4) else 0
    count = -(-length // size)
    number = "".join(groups[first : first + count]).upper()
    even = all(len(one) == size for one in groups[first : first + count - 1])
    return count if count and even and _is_iban(number) else 0


def _is_iban(number: str) -> bool:
    """Whether it is one as its country writes them; of sentences one in 97 has check digits that hold ("is 40. Our…").

    Where a country allows letters anywhere, digits still outnumber them, as in no sentence.
    """
    shape = _IBANS.get(number[:2])
    written = bool(shape and shape.fullmatch(number)) and 2 * sum(map(str.isdigit, number)) > len(number)
    return written and iban_holds(number)


def _is_card(groups: list[str], shape: tuple[int, ...]) -> bool:
    digits = "".join(groups)
    sized = len(digits) == sum(shape) and tuple(map(len, groups)) == shape
    return sized and digits.isascii() and digits.isdigit() and luhn_holds(digits) and len(set(digits)) > 1


def _even(text: str) -> Iterator[tuple[list[int], list[str]]]:
    """Runs of short groups with the same sign between them that is none of the usual ones, and where each begins."""
    for run in _GROUPS.finditer(text):
        parts = _CUT.split(run.group())
        starts = list(accumulate(map(len, parts[:-1]), initial=run.start()))[::2]
        groups, signs = parts[::2], parts[1::2]
        first = 0
        for last in range(1, len(groups)):
            if last == len(signs) or signs[last] != signs[first]:
                if last - first > 1 and not _USUAL.fullmatch(signs[first]):
                    yield starts[first : last + 1], groups[first : last + 1]
                first = last


def _card_at(text: str, places: list[int], first: int) -> int:
    """How many digits the card number has that begins with this digit of a run; 0 where none does."""
    if first and places[first] == places[first - 1] + 1:
        return 0
    begin = "".join(text[at] for at in places[first : first + 2])
    for length in next((lengths for start, lengths in _CARD_LENGTHS if start.match(begin)), ()):
        last = first + length - 1
        if last >= len(places) or (last + 1 < len(places) and places[last + 1] == places[last] + 1):
            continue
        digits = "".join(text[at] for at in places[first : last + 1])
        if luhn_holds(digits) and len(set(digits)) > 1:
            return length
    return 0


def luhn_holds(digits: str) -> bool:
    """Whether the last digit checks the others (ISO/IEC 7812-1)."""
    doubled = (int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits)))
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0


def iban_holds(iban: str) -> bool:
    """Whether the two check digits hold (ISO 13616, mod 97)."""
    return int("".join(str(int(c, 36)) for c in iban[4:] + iban[:4])) % 97 == 1


# Personal data taken out of a text by rule, before it is kept for everybody to read. Pure.
#
# What is taken out: secrets, cards and accounts; every e-mail address and telephone number; the names, addresses and
# details that are known of the people concerned; every number of four characters or more that one of them wrote. It
# takes out too much rather than too little: a person reads what is left before it is used.
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
