"""Words of many languages kept as text next to the code that uses them: one regular expression a line, `#` for remarks.

To teach a further phrase or language, add a line (in lower case) to a file.
"""

from __future__ import annotations

import importlib.resources
import unicodedata
from functools import cache
from re import MULTILINE, Match, Pattern
from re import compile as compiled

_NOT_ASCII = compiled(r"[^\x00-\x7f]++")
MAX_REPEATS = 60
MAX_ANYTHING = 300
_UNSEEN = compiled(  # characters without a shape that are no format characters (Default_Ignorable_Code_Point)
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_UNBOUNDED = compiled(r"(?<!\\)((?:\\\\)*(?:\\[SsWwDd]|\.))([*+])(?![+])")


def lines_of(package: str, name: str) -> list[str]:
    """The regular expressions of `name.txt` in a package, in their order."""
    text = (importlib.resources.files(package) / f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.split("\n") if line.strip() and not line.startswith("#")]


def bounded(line: str) -> str:
    """A line whose repeated classes (`\\S*`, `\\w+`, `.*`) end after a number of times, so that no text takes long."""
    return _UNBOUNDED.sub(_bounds, line)


def _bounds(found: Match[str]) -> str:
    most = MAX_ANYTHING if found[1].endswith(".") else MAX_REPEATS
    return f"{found[1]}{{{int(found[2] == '+')},{most}}}"


def folded(text: str) -> str:
    """A text as its wording is compared: small letters without accents, nothing that cannot be seen."""
    return _plain(text.casefold())


def length_kept(text: str) -> str:
    """A text in small letters without accents, each character in its place; what is written in several stays."""
    return "".join(map(_one_letter, text)) if not text.isascii() else text.casefold()


@cache
def _one_letter(letter: str) -> str:
    plain = folded(letter)
    return plain if len(plain) == 1 else letter


def as_read(text: str) -> str:
    """A text as a reader sees it: without what nobody does, such as joiners, fillers and variation selectors.

    Letters and digits of other shapes (full width, in circles) are the plain ones; white space stays as it is. What is
    found in a mail and replaced there needs the way back, which `services/mail/plain_view.py` keeps.
    """
    if text.isascii():
        return text
    kept = _UNSEEN.sub("", text)
    return "".join(one if one.isascii() or one.isspace() else _shape(one) for one in kept)


def _shape(one: str) -> str:
    return "" if unicodedata.category(one) == "Cf" else unicodedata.normalize("NFKC", one)


def plain_lines_of(package: str, name: str) -> list[str]:
    """The lines of `name.txt` without accents and bounded, as `wording` joins them."""
    return [bounded(_plain(line)) for line in lines_of(package, name)]


@cache
def wording(package: str, name: str) -> Pattern[str]:
    """Any line of `name.txt`, for texts that are `folded`; the lines themselves may keep their accents."""
    return compiled("|".join(f"(?:{line})" for line in plain_lines_of(package, name)), MULTILINE)


@cache
def accented(package: str, name: str) -> Pattern[str]:
    """Any line of `name.txt`, for texts in small letters that keep their accents."""
    return compiled("|".join(f"(?:{bounded(line)})" for line in lines_of(package, name)), MULTILINE)


def _plain(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text)
    return _NOT_ASCII.sub(_seen, parts) if not parts.isascii() else parts


def _seen(found: Match[str]) -> str:
    seen = "".join(one for one in found[0] if unicodedata.category(one) not in ("Mn", "Cf"))
    return seen.replace("ł", "l")  # no decomposition knows its stroke
