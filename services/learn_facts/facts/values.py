"""Values as they are compared: whether two are one in different forms, and how literally a sentence says one. Pure.

"1,500", "1.500", "1 500", "1500", "1.5k" and "fifteen hundred" are one number, "1.5 TB" and "1500 GB" one size;
"+49 30 1234567" and "030/1234567" one telephone; "2027-04-03", "3 April 2027" and "the third of April 2027" one day;
"9:00-17:00" and "nine to five" the same hours.
What differs in a word, or in any digit, is another value.

A model normalises: "1,500 seats" becomes `1500`, "3 pm" becomes `15:00`. In a sentence numbers are the same in whatever
way they are written; a date is known by its day, or by a phrase that means it when the mail is written; of other words
half have to be said, in any form.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from services.core.wording import folded, length_kept
from services.mail.reply_text import without_quoted
from services.memory.numerals import day_of_month, digits, measured, numbers_told
from services.memory.quotes import Span
from services.memory.temporal import days_in, window_of

LONGEST = 60  # characters of a value that may be a date
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")  # Thai to Chinese
LEAST_DIGITS = 7  # of a telephone number
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:([.,'’ \u00a0\u202f])\d{3})(?:\1\d{3})*(?!\d|[.,]\d)")
_CENTS = re.compile(r"(?<=\d)[.,]00(?!\d)")
_COMMA = re.compile(r"(?<=\d),(?=\d{1,2}(?![\d,]))")
_DIALLED = re.compile(r"(?:tel\.?|phone|mobile|fax)?:?\s*\+?[\d\s().\-/–‑]{7,40}")
_PARTED = re.compile(r"[\s()\-/+]|\d\.\d{2,4}\.\d{2,4}")
_BREAKS = re.compile(r"[\s.\-/]")
_CODE = re.compile(r"[a-z]{1,4}\d[a-z\d]{5,30}")
_TRUNK = re.compile(r"\(0\)")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_TYPED = str.maketrans({"’": "'", "‘": "'", "´": "'", "`": "'", "–": "-", "—": "-", "‑": "-", "−": "-"})
_DAY_FIRST = re.compile(
    r"(?:(?:the|el|le|il|am|den|der|on) )?(?P<day>[^\W\d_]{4,20}(?:[- ][^\W\d_]{5,7})?) (?:of |de )?"
    r"(?P<month>[^\W\d_]{3,12})\.?,? (?:de )?(?P<year>(?:19|20)\d\d)"
)
_MONTH_FIRST = re.compile(
    r"(?P<month>[^\W\d_]{3,12}) (?:the )?(?P<day>[^\W\d_]{4,20}(?:[- ][^\W\d_]{5,7})?),? (?P<year>(?:19|20)\d\d)"
)
_REFERENCE = datetime(2000, 1, 1, tzinfo=UTC)  # for dates that name their year, any day will do


def same_value(one: str, other: str) -> bool:
    """Whether two values are one, in whatever form each is written."""
    first, second = plain_value(one), plain_value(other)
    if first == second or _same_telephone(first, second) or _same_day(first, second) or _same_hours(first, second):
        return True
    if folded(first) == folded(second):
        return True
    return any(form(first) and form(first) == form(second) for form in (_amount, measured, _code))


def plain_value(value: str) -> str:
    """A value as it is compared, without what differs by form: case, space, marks, separators of thousands, a stop."""
    text = unicodedata.normalize("NFKC", value).translate(_TYPED).casefold()
    text = " ".join(text.split()).strip("\"'").rstrip(".!")
    if "@" in text or telephone(text):
        return text  # "ada@neuf.example" holds no number
    text = _told_day(text)
    whole = _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), _CENTS.sub("", text))
    return digits(_COMMA.sub(".", whole))


def telephone(value: str) -> str:
    """The digits of a telephone number, without what dials abroad or at home; "" where a value is none."""
    if _DIALLED.fullmatch(value) is None or _YEAR.match(value):
        return ""
    digits = re.sub(r"\D", "", _TRUNK.sub("", value))
    parted = _PARTED.search(value.strip()) is not None or digits.startswith("0")
    grouped = _GROUPED.fullmatch(value) is not None and not value.startswith(("0", "+"))
    if not LEAST_DIGITS <= len(digits) <= 15 or not parted or grouped:
        return ""
    return digits.removeprefix("00")


def _code(value: str) -> str:
    """A number of a register that begins with letters, without its breaks: "GB 123 4567 89"; "" for anything else."""
    code = _BREAKS.sub("", value) if len(value) <= LONGEST else ""
    return code if _CODE.fullmatch(code) else ""


def _same_telephone(one: str, other: str) -> bool:
    """A number with its country and without: the national one is the end of the other."""
    first, second = telephone(one), telephone(other)
    if not first and not second:
        return False
    first, second = first or _bare(one), second or _bare(other)
    if not first or not second:
        return False
    longer, shorter = sorted((first, second), key=len, reverse=True)
    if longer == shorter:
        return True
    home = shorter.removeprefix("0")
    return len(home) >= LEAST_DIGITS and longer.endswith(home) and 1 <= len(longer) - len(home) <= 3


def _bare(value: str) -> str:
    """The digits of a telephone number that is written without a break; "" where a value is none."""
    return re.sub(r"\D", "", value) if value.isdigit() and LEAST_DIGITS <= len(value) <= 15 else ""


def _same_day(one: str, other: str) -> bool:
    first = _day(one)
    return first is not None and first == _day(other)


@lru_cache(maxsize=4096)
def is_day(value: str) -> bool:
    """Whether a value is a day, of whatever year."""
    return _day(value) is not None or bool(days_in(value, _REFERENCE))


def names_a_day(text: str) -> bool:
    """Whether a text names a day, of whatever year."""
    return bool(days_in(text, _REFERENCE))


@lru_cache(maxsize=4096)
def _day(value: str) -> datetime | None:
    """The day that a value is, which names its year; None for anything else."""
    if len(value) > LONGEST or _YEAR.search(value) is None:
        return None
    window = window_of(value, _REFERENCE)
    return window.start if window is not None and window.end - window.start <= timedelta(days=1) else None


def _told_day(value: str) -> str:
    """A value that tells a day of a year in words, with the day in digits; any other value as it is."""
    found = (_DAY_FIRST.fullmatch(value) or _MONTH_FIRST.fullmatch(value)) if len(value) <= LONGEST else None
    day = day_of_month(found["day"]) if found else None
    rest = f"{found['month']} {found['year']}" if found and day else ""
    forms = (f"{day} {rest}", f"{day}. {rest}") if rest else ()
    return next((told for told in forms if _day(told)), value)


_CURRENCIES = {"€": "eur", "$": "usd", "£": "gbp", "zł": "pln", "zl": "pln"} | {
    word: code
    for code, words in (
        ("eur", "eur euro euros"),
        ("usd", "usd dollar dollars dollari dólares dolares"),
        ("gbp", "gbp pound pounds pfund"),
        ("chf", "chf franken francs"),
        ("pln", "pln złotych zlotych"),
    )
    for word in words.split()
}
_AMOUNT = re.compile(r"([^\W\d_]{2,8}|[€$£])? ?(\d{1,12}(?:[.,]\d\d?)?) ?([^\W\d_]{2,8}|[€$£])?")
_TOLD_SUM = re.compile(
    r"(?<!\w)(?:[€$£]|[^\W\d_]{3}) ?\d{1,3}(?:[.,' ]?\d{3}){0,4}(?:[.,]\d\d?)?(?!\w)"
    r"|(?<![\w.,])\d{1,3}(?:[.,' ]?\d{3}){0,4}(?:[.,]\d\d?)? ?(?:[€$£]|[^\W\d_]{2,8})(?!\w)"
)
_FROM, _TO = "(?:from |von |de |das? |van |od )?", "(?:-|to|until|till|bis|à|a|alle|às|tot|do)"
_HOURS = re.compile(rf"(?<![\w:.,-]){_FROM}(\d\d?:\d\d) ?{_TO} ?(\d\d?:\d\d)(?![\w:-])")
_BARE_HOURS = re.compile(rf"(?<![\w:.,-]){_FROM}(\d\d?) ?{_TO} ?(\d\d?)(?![\w:-]|[.,]\d)")


def _amount(value: str) -> tuple[str, str] | None:
    """A sum of money with its currency: "€1200", "1200 euros"; None for anything else."""
    found = _AMOUNT.fullmatch(value)
    if found is None or bool(found[1]) == bool(found[3]):
        return None
    currency = _CURRENCIES.get(found[1] or found[3])
    whole, _, cents = found[2].replace(",", ".").partition(".")
    return (currency, f"{int(whole)}.{cents:0<2}") if currency else None


def _hours(value: str) -> tuple[str, str] | None:
    """When something begins and ends in a day: "9 am to 5 pm", "9:00-17:00"; None for anything else."""
    found = _HOURS.fullmatch(_plain(value)) if len(value) <= LONGEST else None
    return _clock(found) if found else None


def _clock(found: re.Match[str]) -> tuple[str, str]:
    return found[1].zfill(5), found[2].zfill(5)


def _says_hours(sentence: str, value: str) -> bool:
    """Whether a sentence names the very hours that a value is; without minutes they may be a score, as above."""
    first = _hours(value)
    told = {_clock(found) for found in _HOURS.finditer(_plain(sentence))}
    if first is None:
        return _bare_hours(value) in told
    return first in told or first in {_by_numbers(found) for found in _BARE_HOURS.finditer(digits(sentence))}


def _same_hours(one: str, other: str) -> bool:
    """Hours without minutes are hours only beside others that have them: "9 to 5" may be a score."""
    first, second = _hours(one), _hours(other)
    if first and second:
        return first == second
    return bool(first or second) and (first or _bare_hours(one)) == (second or _bare_hours(other))


def _bare_hours(value: str) -> tuple[str, str] | None:
    """Hours by their numbers alone, "9 to 5", "9-17": what would end before it begins ends in the afternoon."""
    found = _BARE_HOURS.fullmatch(digits(value)) if len(value) <= LONGEST else None
    return _by_numbers(found) if found else None


def _by_numbers(found: re.Match[str]) -> tuple[str, str] | None:
    begin, end = int(found[1]), int(found[2])
    if end <= begin <= 12:
        end += 12
    return (f"{begin:02}:00", f"{end:02}:00") if begin < end <= 24 else None


def place_of_day(value: str, text: str) -> tuple[int, int] | None:
    """Where a text names the day that a value is, in whatever form; None where it does not, or the value is no day."""
    day = _day(value)
    if day is None:
        return None
    return next(((start, end) for start, end, found in days_in(text, _REFERENCE) if found.start == day), None)


def place_of_number(value: str, text: str) -> tuple[int, int] | None:
    """Where a text says in words the number that a value is; None where it does not."""
    return next(((start, end) for start, end, number in numbers_told(text) if number == value), None)


def place_of_sum(value: str, text: str) -> tuple[int, int] | None:
    """Where a text tells the sum of money that a value is, in whatever form; None where the value is none."""
    wanted = _amount(value)
    if wanted is None:
        return None
    told = (found for found in _TOLD_SUM.finditer(text) if _amount(plain_value(found.group().strip())) == wanted)
    return next((found.span() for found in told), None)


_MONTHS = "januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember"
_SHORTENED = (
    "dr|dra|prof|mr|mrs|ms|st|mme|mlle|hr|fr|frl|sr|sra|srta|sig|dott|ing|dhr|mevr|mw|ul|al|av|bzw|ca|inkl|tel|nr"
)
UNSHORTENED = "".join(
    rf"(?<!\b{one}\.)" for one in _SHORTENED.split("|")
)  # a stop behind these ends nothing: "Dr. Kern"
NO_MONTH = rf"(?!(?<=\d\.\s)(?:{_MONTHS})\b)"  # "1. April" is one day
SENTENCE_ENDS = re.compile(rf"(?<=[.!?]){UNSHORTENED}\s+{NO_MONTH}|(?<=[。！？])|\n\s*\n", re.IGNORECASE)
LONGEST_SENTENCE = 1000  # characters: what goes on for longer without an end is no sentence that bears on a value
_WORD = re.compile(r"\w+")
_BETWEEN_UNSPACED = re.compile(rf"(?:(?!{UNSPACED.pattern})\w)+")
_CENTS_IN_TEXT = re.compile(r"(?<=\d)[.,]00(?![\d.,]{0,40}\d)")
_HOUR = re.compile(r"(?<![\w:.,])(\d{1,2})(?:[:.](\d\d))?\s?([ap])\.?m\b\.?", re.IGNORECASE)
_BARE_HOUR = re.compile(r"(?<![\w:.,])(\d{1,2})(?:\s?(?:Uhr|h|godz\w*|時)|(?=\s+o['’]clock))(?!\w)", re.IGNORECASE)
_UNIT = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")
_ISO_DATE = re.compile(r"^\d{4}-\d\d-\d\d$")
_STEM = 4  # letters that two forms of a word share


def sentence_around(span: Span, text: str) -> str:
    """The whole sentences that a span stands in, at most `LONGEST_SENTENCE` characters before it and behind it."""
    first, last = max(0, span.start - LONGEST_SENTENCE), min(len(text), span.end + LONGEST_SENTENCE)
    ends = [(found.start(), found.end()) for found in SENTENCE_ENDS.finditer(text, first, last)]
    begin = max((end for _, end in ends if end <= span.start), default=first)
    return text[begin : min((start for start, _ in ends if start >= span.end), default=last)].strip()


def is_literal(value: str, span: Span, text: str, written: datetime | None = None) -> bool:
    """Whether the sentence says the value itself: every number of it, and at least half of its words."""
    sentence = sentence_around(span, without_quoted(text))
    said = {word for form in (sentence, _plain(sentence)) for word in _words(form)}
    day = _day(plain_value(value))
    date = day.date().isoformat() if day else value
    if _ISO_DATE.match(date):
        return _says_day(sentence, date, said) or (written is not None and _means(sentence, date, written))
    if _is_said(_words(_plain(value)), said) or _says_hours(sentence, value):
        return True
    return digits(value) == value.casefold() and _is_said(_words(value), said)  # a number in words is no word


def _says_day(sentence: str, date: str, said: set[str]) -> bool:
    """Whether a sentence names this day, or only its number, where it names no date at all."""
    named = {found.start.date().isoformat()[5:] for _, _, found in days_in(sentence, _REFERENCE)}
    return date[5:] in named if named else str(int(date[8:])) in {word.lstrip("0").rstrip("thsndr") for word in said}


def _means(sentence: str, date: str, written: datetime) -> bool:
    """Whether a phrase of time ("next Friday") means this very day."""
    window = window_of(sentence, written)
    one_day = window is not None and window.end - window.start <= timedelta(days=1)
    return window is not None and one_day and window.start.date().isoformat() == date


def _is_said(wanted: list[str], said: set[str]) -> bool:
    stems = {word[:_STEM] for word in said if len(word) >= _STEM}
    found = [word in said or (len(word) >= _STEM and word[:_STEM] in stems) or _runs_on(word, said) for word in wanted]
    numbers = [hit for word, hit in zip(wanted, found, strict=True) if word.isdigit()]
    return all(numbers) and 2 * sum(found) >= len(wanted)


def _runs_on(word: str, said: set[str]) -> bool:
    """Whether a word stands among others of a script without spaces, which nothing parts from it."""
    if UNSPACED.search(word):
        return any(word in one for one in said)
    return any(word in _BETWEEN_UNSPACED.findall(one) for one in said if UNSPACED.search(one))


def numbers_in(text: str) -> set[str]:
    """The numbers of a text, in whatever way they are written, without leading zeros."""
    forms = (text, _plain(text))
    return {found.lstrip("0") or "0" for form in forms for found in re.findall(r"\d+", form)} if text else set()


def _words(text: str) -> list[str]:
    return _WORD.findall(length_kept(text))


def _plain(text: str) -> str:
    """The text with its numbers without separators, empty cents and units, and its hours on a clock of 24."""
    text = _HOUR.sub(_on_24, digits(text))
    text = _BARE_HOUR.sub(lambda found: f"{int(found[1]):02}:00", text)
    text = _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), _CENTS_IN_TEXT.sub("", text))
    return _UNIT.sub(" ", text)


def _on_24(found: re.Match[str]) -> str:
    hour = int(found[1]) % 12 + (12 if found[3] in "pP" else 0)
    return f"{hour:02}:{found[2] or '00'}"
