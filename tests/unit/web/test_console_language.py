"""The language of a page: how it is chosen, and how texts, dates and numbers are said in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import copy_context
from datetime import UTC, datetime, timedelta

import pytest
from jinja2 import Environment

from services.web.console import language
from services.web.console.language import Message, asked_for, decimal, moment_of, plural, speak, spoken, translated
from services.web.console.shown import age, known, moment, state, words

AT = datetime(2026, 5, 3, 9, 5, 7, tzinfo=UTC)


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Nothing that a test speaks is spoken after it."""
    yield
    speak("en")


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("", "en"),
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("pt-BR,fr;q=0.5,es;q=0.7", "es"),
        ("de;q=0,fr;q=0.1", "fr"),
        ("ja,*;q=0.5", "en"),
        ("en-GB, de", "en"),
        ("de;q=much,es", "es"),
        (",;=q,de;q=nan," + "x," * 1000, "en"),
    ],
)
def test_a_browser_gets_the_language_that_it_prefers_of_those_there_are(header: str, wanted: str) -> None:
    """By weight, with the nearest of a region, and English where none fits or nothing can be read."""
    assert asked_for(header) == wanted


def test_a_language_that_is_not_there_is_english() -> None:
    """A stored one may have been removed."""
    speak("tlh")
    assert spoken() == "en"


def test_a_constant_is_said_to_each_reader_in_their_language() -> None:
    """It is English to code that compares it, and translated wherever it becomes text."""
    said = Message("resolved")
    shown = Environment(autoescape=True).from_string("{{ said }} {{ said ~ '!' }}")
    assert (said == "resolved", str(said), f"{said}", f"{said}!") == (True, "resolved", "resolved", "resolved!")
    speak("de")
    assert (said == "resolved", str(said), f"{said}", f"{said}!") == (True, "gelöst", "gelöst", "gelöst!")
    assert shown.render(said=said) == "gelöst gelöst!"


def test_two_requests_do_not_hear_each_other() -> None:
    """What one speaks is spoken in its context alone."""
    other = copy_context()
    other.run(speak, "fr")
    assert (translated("Save"), other.run(translated, "Save")) == ("Save", "Enregistrer")


def test_what_has_no_translation_is_english() -> None:
    """A text that no catalogue knows is shown as it is."""
    speak("de")
    assert (
        translated("A text of %(name)s that no catalogue knows", name="Ada") == "A text of Ada that no catalogue knows"
    )


def test_a_number_takes_the_form_of_its_language() -> None:
    """None of a thing is one in French, and many in English."""
    forms = ("%(count)s week", "%(count)s weeks")
    assert plural(*forms, 0) == "%(count)s weeks"
    speak("fr")
    assert plural(*forms, 0) == "%(count)s semaine"


@pytest.mark.parametrize(
    ("code", "day", "minute", "long", "number"),
    [
        ("en", "2026-05-03", "2026-05-03 09:05", "3 May 2026", "+0.50"),
        ("de", "03.05.2026", "03.05.2026 09:05", "3. Mai 2026", "+0,50"),
        ("es", "3 may 2026", "3 may 2026 9:05", "3 de mayo de 2026", "+0,50"),
        ("fr", "3 mai 2026", "3 mai 2026 09:05", "3 mai 2026", "+0,50"),
    ],
)
def test_dates_and_numbers_are_those_of_the_language(code: str, day: str, minute: str, long: str, number: str) -> None:
    """English ones are in figures, as they always were."""
    speak(code)
    assert (moment_of(AT), moment_of(AT, "minute"), language.date_of(AT)) == (day, minute, long)
    assert decimal(0.5, signed=True) == number
    assert f'datetime="2026-05-03T09:05:07.000+00:00" data-show="minute">{minute} UTC' in moment(AT)


def test_names_of_code_are_said_in_words() -> None:
    """Ours are translated; what others named stays as it is."""
    speak("de")
    assert (known("the reply was sent"), known("environment A_B")) == ("die Antwort wurde gesendet", "environment A_B")
    assert (words("first_response"), words("api_limits"), state("escalated"), age(timedelta(days=3))) == (
        "erste Antwort",
        "api limits",
        "braucht einen Menschen",
        "3 T",
    )
