"""Words of many languages kept as text beside the code that uses them: one regular expression a line, `#` for remarks.

To teach a further phrase or language, add a line (in lower case) to a file.
"""

from __future__ import annotations

import importlib.resources
import unicodedata
from functools import cache
from re import MULTILINE, Pattern
from re import compile as compiled


def lines_of(package: str, name: str) -> list[str]:
    """The regular expressions of `name.txt` in a package, in their order."""
    text = (importlib.resources.files(package) / f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.split("\n") if line.strip() and not line.startswith("#")]


def folded(text: str) -> str:
    """A text as its wording is compared: small letters without accents, nothing that cannot be seen."""
    return _plain(text.casefold())


@cache
def wording(package: str, name: str) -> Pattern[str]:
    """Any line of `name.txt`, for texts that are `folded`; the lines themselves may keep their accents."""
    return compiled("|".join(f"(?:{_plain(line)})" for line in lines_of(package, name)), MULTILINE)


def _plain(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text)
    return "".join(one for one in parts if unicodedata.category(one) not in ("Mn", "Cf"))
