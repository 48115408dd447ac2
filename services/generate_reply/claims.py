"""What a text claims that can be looked up: numbers, amounts, dates, links, names and promises. Pure.

Numbers are compared by their digits: `1,234.00` is `1.234`. Single digits, list numbers and numbers in words are none;
amounts in words ("ninety euros") and links that are spelled out ("shop dot com") are what they stand for.
Every expression is bounded: the text is a model's, and the context holds mail.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from services.generate_reply.risk import promises, reads
from services.mail.compose.links import links_in
from services.mail.language import detect_language
from services.memory.numerals import in_digits
from services.memory.phrases.language import NAMES, folded, language_of

# Amounts of money and shares in a text: a number with a currency or per cent beside it, before or behind. Pure.
#
# A currency is any sign that Unicode has for one, any code of ISO 4217, or a name of the eight languages of
# `risk.toml`.
NUMBER = r"\d{1,18}(?:[.,'’\u00a0\u202f]\d{1,18}){0,6}"
_PLANES = 0x20000  # where letters and signs stand; behind it come ideographs, a tenth of a second of each start
_SIGNS = "".join(one for one in map(chr, range(_PLANES)) if unicodedata.category(one) == "Sc")
_CODES = (  # in capitals alone: `all` and `try` are words
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTC BTN BWP BYN BZD "
    "CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB ETH EUR FJD FKP GBP GEL GHS GIP GMD "
    "GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK "
    "LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR "
    "PAB PEN PGK PHP PKR PLN PYG QAR RMB RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC "
    "SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USDT USDC UYU UZS VES VND VUV WST XAF XCD XOF XPF "
    "YER ZAR ZMW ZWL"
).replace(" ", "|")
_NAMES = (
    r"eur|usd|gbp|chf|pln|euros?|cents?|dollars?|pounds?|quid|bucks|francs?|franken|rappen|yens?|yuan|rupees?|roubles?|rubles?"
    r"|kronor|kroner|kr|crowns?|kronen|pesos?|lira|bitcoins?|percent|per cent|prozent|pour cent|por ciento|per cento"
    r"|d[oó]lar(?:es)?|dollari|libras?|sterline|franchi|złot\w{1,5}|zł|zlot\w{1,5}|procent\w{0,3}|грн|руб\w{0,4}|евро"
    r"|доллар\w{0,3}|процент\w{0,3}"
)
_APART = r"[\s(-]{0,4}"  # what may stand between
_CURRENCY = rf"(?:[%‰{re.escape(_SIGNS)}]|(?:{_CODES}|(?i:{_NAMES}))(?!\w)|[円元]|ユーロ|ドル|パーセント)"
_AMOUNTS = re.compile(
    rf"(?:[{re.escape(_SIGNS)}]|(?<!\w)(?:{_CODES}|(?i:{_NAMES})))\.?{_APART}(?P<before>{NUMBER})"
    rf"|(?P<after>(?<!\d){NUMBER})(?:,[-–—]{{1,2}})?{_APART}{_CURRENCY}"
)
_IN_WORDS = re.compile(  # numerals of Russian, Chinese and Japanese, which `numerals` does not know
    r"(?P<number>(?<!\w)(?i:два|две|три|четыре|пять|шесть|семь|восемь|девять|десять|двадцать|тридцать|сорок|девяносто|сто"
    r"|двести|[а-я]{2,8}(?:надцать|десят|ста|сот)|тысяч[аи]?|миллион(?:а|ов)?)|[〇一二三四五六七八九十百千万億]{1,12})"
    rf"{_APART}{_CURRENCY}"
)


def amounts_in(text: str) -> Iterator[tuple[str, str]]:
    """Each amount, and its number: of one in words its digits, or its words where these are not known."""
    for match in _AMOUNTS.finditer(text):
        yield match[0], match["before"] or match["after"]
    even = in_digits(unicodedata.normalize("NFC", text).replace("ß", "ss"))
    for match in _AMOUNTS.finditer(even) if even != text else ():
        if match[0] not in text:
            yield match[0], match["before"] or match["after"]
    for match in _IN_WORDS.finditer(text):
        yield match[0], match["number"].casefold()


Kind = Literal["number", "amount", "date", "link", "name", "promise"]
BINDING: frozenset[Kind] = frozenset({"amount", "link", "promise"})  # the customer's own word is no ground for these

_NUMBERS = re.compile(rf"(?<!\d){NUMBER}")
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_DAY_FIRST = re.compile(r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.(?:\s?\d{2,4})?(?!\d)")
_DAY_MONTH = re.compile(r"(?<!\d)(\d{1,2})(?:\.|st|nd|rd|th|er|º|ª)?\s{1,3}(?:de\s|of\s)?([^\W\d_]{3,12})")
_MONTH_DAY = re.compile(r"(?<!\w)([^\W\d_]{3,12})\.?\s{1,3}(\d{1,2})(?!\d|:\d)")
_LISTED = re.compile(r"^[ \t]{0,20}\d{1,2}[.)][ \t]", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_][\w'’-]{0,60}")
_CAPITAL = r"[^\W\d_a-zß-ÿ][\w'’-]{1,40}"
_CAPITALS = re.compile(rf"(?<![.!?:] )(?<!^)\b{_CAPITAL}(?: {_CAPITAL}){{1,4}}", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?\n]{1,9000}")
_DOMAINS = "com|net|org|info|biz|io|ru|app|dev|shop|online|example"
_SPELLED_OUT = re.compile(  # "shop[.]com", "shop dot com", "shop .com", "@shop": what a reader puts together
    r"(?<![\w-])[\w-]{1,63}(?:\s?[\[({<]\s?(?:\.|dot|point|punkt|punto|kropka|точка)\s?[\])}>]\s?[^\W\d_]{2,24}"
    rf"|\s(?:dot|point|punkt|punto|kropka|точка)\s(?:{_DOMAINS})|\s\.\s?(?:{_DOMAINS}))(?!\w)"
    r"|(?<![\w.])@[^\W\d]\w{2,62}",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]{1,60}")
SURE = 0.8  # that a sentence is of a language
_ALIKE = frozenset({"LATIN", "CYRIL", "GREEK"})  # beginnings of the Unicode names of letters
_NOUNS_IN_CAPITALS = frozenset({"de"})  # languages in which capitals say nothing


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: its words, and the form by which it is compared."""

    kind: Kind
    text: str
    key: str

    @property
    def binds(self) -> bool:
        """Whether it would bind us, so that only our own word is a ground for it."""
        return self.kind in BINDING

    @property
    def also(self) -> tuple[Kind, ...]:
        """As what it is found: an amount is a number, too."""
        return ("amount", "number") if self.kind == "amount" else (self.kind,)


def claims_of(text: str) -> Iterator[Claim]:
    """Numbers, amounts, dates and links of any text, each where it stands."""
    for link in dict.fromkeys(links_in(text)):
        yield Claim("link", link, link.casefold().rstrip("/.,"))
        text = text.replace(link, " ")
    for match in _SPELLED_OUT.finditer(text):
        yield Claim("link", match[0], " ".join(match[0].casefold().split()))
    text = _LISTED.sub(" ", text)
    for written, number in amounts_in(text):
        yield Claim("amount", written, digits(number) if number[0].isdigit() else number)
    for written, month, day in _dates(text):
        yield Claim("date", written, f"{month:02}-{day:02}")
    for match in _NUMBERS.finditer(text):
        if len(key := digits(match[0])) > 1:
            yield Claim("number", match[0], key)


def spoken_claims(text: str, language: str) -> Iterator[Claim]:
    """What only a draft claims: the name that it greets, names within its sentences, and what it promises."""
    greeting, _, _ = text.strip().partition("\n")
    called = [word for word in _WORD.findall(greeting)[1:] if word[0].isupper()] if len(greeting) < 60 else []
    if called:
        yield Claim("name", " ".join(called), " ".join(map(folded, called)))
    if language not in _NOUNS_IN_CAPITALS:
        for match in _CAPITALS.finditer(text):
            yield Claim("name", match[0], " ".join(words_of(match[0])))
    for sentence in (*_promised(text), *_disguised(text)):
        yield Claim("promise", sentence, " ".join(word for word in words_of(sentence) if len(word) > 1))
    for unread in sorted(one for one in {language, *_languages(text)} if one and not reads(one)):
        yield Claim("promise", f"(promises are not recognised in the language {unread!r})", f"\0{unread}")


def _languages(text: str) -> Iterator[str]:
    """The languages of sentences that are surely of one: a sentence of another hides in a text of several."""
    return (detect_language(one, SURE) for one in sentences_of(text))


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of each line."""
    return (match[0].strip() for match in _SENTENCE.finditer(text))


def _promised(text: str) -> Iterator[str]:
    """Sentences that promise something; those last of which the words are broken over lines."""
    rest = text
    for sentence in sentences_of(text):
        if promises(sentence):
            rest = rest.replace(sentence, ". ", 1)
            yield sentence
    yield from filter(promises, sentences_of(" ".join(rest.split())))


def _disguised(text: str) -> Iterator[str]:
    """Words whose letters are of two alphabets that look alike: what they say is hidden from whoever compares words."""
    for word in _LETTERS.findall(text):
        if not word.isascii() and len(word) > 2 and len({unicodedata.name(one, "")[:5] for one in word} & _ALIKE) > 1:
            yield word


def words_of(text: str) -> list[str]:
    """The words of a text, as they are compared."""
    return _WORD.findall(folded(text))


def digits(number: str) -> str:
    """A number as it is compared: without separators, leading zeros and empty cents."""
    whole = re.sub(r"[.,]00$", "", number)
    return re.sub(r"\D", "", whole).lstrip("0") or "0"


def _dates(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _ISO.finditer(text):
        yield match[0], int(match[2]), int(match[3])
    for match in _DAY_FIRST.finditer(text):
        yield match[0], int(match[2]), int(match[1])
    for pattern, day, name in ((_DAY_MONTH, 1, 2), (_MONTH_DAY, 2, 1)):
        for match in pattern.finditer(text):
            if month := _month(folded(match[name])):
                yield match[0], month, int(match[day])


@lru_cache(maxsize=4096)
def _month(word: str) -> int:
    """The month of this name in one of the languages whose phrases of time are known; else 0."""
    for language in map(language_of, NAMES):
        for pattern, meant in language.names.get("month", ()):
            if pattern.fullmatch(word):
                return int(meant)
    return 0
