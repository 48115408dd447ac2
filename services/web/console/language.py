"""The language of a page: what its user chose, else what their browser asks for; texts, dates and numbers in it.

A text stands in English where it is used, and is looked up when it is shown, in
`locale/LANGUAGE/LC_MESSAGES/console.po`. A language is there once its catalogue is. Zones are the browser's business
(`static/times.js`): here a time is in UTC.

Invariants
- What has no translation is shown in English.
- Each request chooses its language before anything of it is said; whoever speaks outside of a request speaks English.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, date, datetime, time
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from babel import Locale, negotiate_locale
from babel.dates import format_date, format_skeleton, format_time
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal
from markupsafe import escape

FOLDER = Path(__file__).parent / "locale"
ENGLISH = "en"  # of the texts themselves
MOST_ASKED = 20  # languages of a browser that are looked at
Kind = Literal["day", "minute", "second"]
Forms = Mapping[Kind, tuple[str, str]]  # how a day and a time are written
IN_ENGLISH: Forms = MappingProxyType(
    {"day": ("yyyy-MM-dd", ""), "minute": ("yyyy-MM-dd", "HH:mm"), "second": ("yyyy-MM-dd", "HH:mm:ss")}
)
ELSEWHERE: Forms = MappingProxyType(
    {"day": ("medium", ""), "minute": ("medium", "short"), "second": ("medium", "medium")}
)

_spoken: ContextVar[str] = ContextVar("language", default=ENGLISH)


class Message(str):
    """A text that is written before anybody is there to read it: English to code, the reader's language to `str`.

    `join` and `+` take a string as it is: put it through `str` first.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return translated(str.__str__(self))

    def __html__(self) -> str:  # templates join what has this as text that is to be shown
        return escape(str(self))


@cache
def languages() -> dict[str, str]:
    """Each language that a page may be in, by its code, with its own name."""
    codes = [ENGLISH, *(path.parents[1].name for path in FOLDER.glob("*/LC_MESSAGES/console.po"))]
    names = {code: (Locale.parse(code).get_display_name() or code).capitalize() for code in codes}
    return dict(sorted(names.items(), key=lambda one: one[1].casefold()))


def speak(language: str) -> None:
    """Have what is said from here on in this request be in a language; one that is not there is English."""
    _spoken.set(language if language in languages() else ENGLISH)


def spoken() -> str:
    """The code of the language that is spoken now."""
    return _spoken.get()


def asked_for(header: str) -> str:
    """The language that an `Accept-Language` prefers of those that are there (RFC 9110, section 12.5.4)."""
    weighed = [_weighed(one) for one in header.split(",")[:MOST_ASKED]]
    wanted = [tag for weight, tag in sorted(weighed, key=lambda one: -one[0]) if weight > 0]
    return negotiate_locale(wanted, list(languages()), sep="-") or ENGLISH


def translated(message: str, **values: object) -> str:
    """A text in the language that is spoken, with `%(name)s` filled in."""
    said = _catalogue(spoken()).gettext(message)
    return said % values if values else said


def plural(one: str, many: str, number: int) -> str:
    """The form of a text that goes with a number, nothing filled in."""
    return _catalogue(spoken()).ngettext(one, many, number)


def date_of(at: datetime) -> str:
    """The day in words, such as 3 May 2026."""
    return format_date(at, "d MMMM y" if spoken() == ENGLISH else "long", locale=spoken())


def month_of(day: date) -> str:
    """A month in words, such as May 2026."""
    return format_skeleton("yMMMM", datetime.combine(day, time.min, UTC), locale=spoken())


def moment_of(at: datetime, kind: Kind = "day") -> str:
    """A day, or a day and a time of it, in figures."""
    day, time = (IN_ENGLISH if spoken() == ENGLISH else ELSEWHERE)[kind]
    said = format_date(at, day, locale=spoken())
    return f"{said} {format_time(at, time, locale=spoken())}" if time else said


def decimal(number: float, places: int = 2, *, signed: bool = False) -> str:
    """A number with so many places behind its point, or comma."""
    form = f"0.{'0' * places}"
    return format_decimal(number, f"+{form};-{form}" if signed else form, locale=spoken())


def _weighed(part: str) -> tuple[float, str]:
    tag, _, weight = part.partition(";")
    try:
        return float(weight.strip().removeprefix("q=") or 1), tag.strip()
    except ValueError:
        return 0.0, tag.strip()


@cache
def _catalogue(language: str) -> NullTranslations:
    if language == ENGLISH:
        return NullTranslations()
    compiled: Any = BytesIO()
    with (FOLDER / language / "LC_MESSAGES" / "console.po").open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return GNUTranslations(compiled)


# The texts of our own modules as a page carries them at its `<body>` (`static/texts.js`).


def script_texts() -> str:
    """JSON: each text by its name, or its forms by the names that browsers have for them."""
    return json.dumps(
        {
            "live": translated("live · %(at)s"),
            "not live": translated("not live"),
            "not live since": translated("not live since %(at)s"),
            "newer": _forms("%(count)s newer", "%(count)s newer"),
            "changed": translated("Something changed here since you opened this page."),
            "found": _forms("%(count)s found", "%(count)s found"),
            "silent": translated("The console does not answer. Try again."),
            "writing": _forms("%(names)s is writing", "%(names)s are writing"),
            "session over": translated(
                "Your session is over, and nothing was done. Sign in again in another tab; what you wrote is still "
                "here: copy it before you reload."
            ),
            "not done": translated("Not done."),
            "not done, silent": translated(
                "Not done: the console does not answer. Try again; what you wrote is still here."
            ),
            "theme": translated("Theme: system"),
            "theme light": translated("Theme: light"),
            "theme dark": translated("Theme: dark"),
            "density": translated("Density: roomy"),
            "density dense": translated("Density: dense"),
        },
        ensure_ascii=False,
    )


def _forms(one: str, many: str) -> dict[str, str]:
    return {"one": plural(one, many, 1), "other": plural(one, many, 2)}
