"""The console's texts: each is in every catalogue, and none stands beside them."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import get_args

import pytest
from babel.messages.catalog import Catalog, Message
from jinja2 import Environment

from schemas.events.mail import VerdictKind
from schemas.events.marks import DeadlineKind, DeadlineStatus, Priority
from schemas.events.memory import ParticipantState, Trust
from schemas.events.threads import ThreadState, Trigger, TurnOutcome
from services.load_memory.layers import LAYERS
from services.memory.facts import KINDS
from services.operations.drafts.grounds import Kind
from services.operations.health.backlog import LINES
from services.operations.memory import restores
from services.operations.users import ROLES
from services.pipeline import NAMES
from services.web.console import mails
from services.web.console.language import script_texts, speak
from services.web.console.recorded import TEXTS, VALUE
from services.web.console.shown import CODE_NAMES, KNOWN, STATES, known
from tests.catalogues import CONSOLE, brought_up, extracted, languages, path_of, written
from tests.support.recorded_texts import recorded_by_code
from tests.support.visible_texts import untranslated

TEMPLATES = sorted((CONSOLE / "templates").glob("*.html"))
MODULES = sorted(CONSOLE.glob("*.py"))
SHOWN_ARGUMENTS = {"RequestRefused": 2, "problem": 2, "Unsent": 1}  # call -> which of its arguments a page shows
SHOWN_NAMES = {"wrong", "title"}
PLACEHOLDER = re.compile(r"%\(\w+\)s|%")
TAG = re.compile(r"</?\w[^>]*>")
SAYS = re.compile(r"[a-z]{3,} |[ }][a-z]{3,}")  # words, and no bare value or name of code
WORD = re.compile(r"[^\W\d_]{2,}")
CODE = re.compile(r"<code>(.*?)</code>", re.DOTALL)
LISTED = {VALUE.sub("{}", str.__str__(one)) for one in TEXTS}


@pytest.fixture(scope="module")
def texts() -> Catalog:
    """Every text that is looked up."""
    return extracted()


@pytest.fixture(scope="module")
def environment() -> Environment:
    """What parses templates as the console does."""
    found = Environment(extensions=["jinja2.ext.i18n"], trim_blocks=True, lstrip_blocks=True)
    found.newstyle_gettext = True  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_every_word_that_a_template_shows_is_looked_up(environment: Environment, path: Path) -> None:
    """No text, read attribute or literal of a template is shown in English whatever the language."""
    assert untranslated(environment, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "<p>Words</p>",
        '<p title="Words">{{ _("Text") }}</p>',
        '<input placeholder="Words">',
        '{{ "Words" if one else _("Text") }}',
        '{{ one or "Words" }}',
        '{{ "Words"|line(20) }}',
        "<p>{{ one }} words</p>",
        '{% set said = {"a": "Words"} %}{{ said.a }}',
        '{% for one in ("Words", "more") %}{{ one }}{% endfor %}',
        '{{ table("Words") }}',
        '<td data-name="{{ "words" if one else "" }}">1</td>',
        "{% if one %}{% else %}Words{% endif %}",
        "{% macro one() %}Words{% endmacro %}",
        "{% set one %}Words{% endset %}",
        "<code>code</code> words",
    ],
)
def test_a_word_beside_the_catalogues_is_found(environment: Environment, source: str) -> None:
    """Each way in which a template may show one is seen."""
    assert untranslated(environment, source)


@pytest.mark.parametrize(
    "source",
    [
        '<p class="words">{{ _("Text") }} · 1 &amp; 2 &nbsp;</p>',
        "{% trans %}Words <b>here</b>{% endtrans %}",
        "<pre><code>correspondent console</code></pre> <kbd>Ctrl</kbd> Correspondent",
        '<p{% if one == "Some words" %} hidden{% endif %}>{{ one|moment("day") }}</p>',
        '{% block watch %}data-watch="list"{% endblock %}',
    ],
)
def test_what_is_no_word_is_let_be(environment: Environment, source: str) -> None:
    """Names of code, keys, the product, and attributes that nobody reads."""
    assert untranslated(environment, source) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_what_a_module_refuses_is_looked_up(path: Path) -> None:
    """No reason that a page shows is a literal of the module."""
    assert list(_literals(ast.parse(path.read_text(encoding="utf-8")))) == []


def _literals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            at = SHOWN_ARGUMENTS.get(name)
            shown = [] if at is None else node.args[at : at + 1]
            shown += [one.value for one in node.keywords if one.arg in SHOWN_NAMES]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            shown = [node.value] if node.targets[0].id in {*SHOWN_NAMES, "said"} else []
        else:
            continue
        for one in shown:
            parts = one.values if isinstance(one, ast.JoinedStr) else [one]
            for part in parts:
                if (
                    isinstance(part, ast.Constant)
                    and isinstance(part.value, str)
                    and re.search(r"[a-z] |[a-z]{3}", part.value)
                ):
                    yield part.lineno, part.value


def test_the_languages_that_are_promised_are_there() -> None:
    """German, Spanish and French at least."""
    assert {"de", "es", "fr"} <= set(languages())


@pytest.mark.parametrize("language", languages())
def test_a_catalogue_has_every_text_and_no_other(texts: Catalog, language: str) -> None:
    """`make texts` changes nothing, every entry is filled in, and none is marked as a guess."""
    catalogue = brought_up(language, texts)
    assert path_of(language).read_bytes() == written(catalogue), "run `make texts`"
    assert [one.id for one in catalogue if one.id and not all(_strings(one))] == []
    assert [one.id for one in catalogue if one.id and one.fuzzy] == []


@pytest.mark.parametrize("language", languages())
def test_a_translation_fills_in_what_its_text_does(texts: Catalog, language: str) -> None:
    """Placeholders, tags and names of code are those of the English text, as often."""
    wrong = []
    for one in brought_up(language, texts):
        ids = (one.id,) if isinstance(one.id, str) else one.id
        for at, said in enumerate(_strings(one) if one.id else ()):
            english = ids[min(at, len(ids) - 1)]
            same = all(Counter(part.findall(english)) == Counter(part.findall(said)) for part in (TAG, CODE))
            if not same or Counter(PLACEHOLDER.findall(english)) != Counter(PLACEHOLDER.findall(said)):
                wrong.append((english, said))
    assert wrong == []


@pytest.mark.parametrize("language", languages())
def test_a_translation_begins_and_ends_as_its_text_does(texts: Catalog, language: str) -> None:
    """A sentence stays one, and a part of a sentence a part of it."""
    wrong = []
    for one in brought_up(language, texts):
        ids = (one.id,) if isinstance(one.id, str) else one.id
        for at, said in enumerate(_strings(one) if one.id else ()):
            english = ids[min(at, len(ids) - 1)]
            if (said != said.strip()) or (english[-1] in ".:?!…") != (said[-1] in ".:?!…"):
                wrong.append((english, said))
    assert wrong == []


@pytest.mark.parametrize(("one", "other"), list(combinations(languages(), 2)))
def test_no_two_languages_say_a_text_in_the_same_words(texts: Catalog, one: str, other: str) -> None:
    """Else one of them was filled in with the other's words. Names and what is said alike are three words at most."""
    there = {at.id: at.string for at in brought_up(other, texts) if at.id}
    shared = [(at.id, at.string) for at in brought_up(one, texts) if at.id and at.string == there[at.id]]
    assert [both for both in shared if len(WORD.findall(TAG.sub("", PLACEHOLDER.sub("", str(both[1]))))) > 3] == []


def _strings(one: Message) -> tuple[str, ...]:
    return (one.string,) if isinstance(one.string, str) else tuple(one.string)


def test_no_text_holds_a_percent_sign_of_its_own(texts: Catalog) -> None:
    """Templates would fill it in, and code would not."""
    held = [id for one in texts if one.id for id in ([one.id] if isinstance(one.id, str) else one.id)]
    assert [id for id in held if "%" in PLACEHOLDER.sub(lambda found: "" if len(found[0]) > 1 else "%", id)] == []


def test_names_of_code_that_people_read_are_in_the_catalogue() -> None:
    """Every state, level, kind and reason of a closed list that a page shows as words."""
    shown = [*get_args(Priority), *get_args(DeadlineKind), *get_args(DeadlineStatus), *get_args(VerdictKind)]
    shown += [
        *get_args(ParticipantState),
        *get_args(Trust),
        *get_args(Trigger),
        *get_args(TurnOutcome),
        *get_args(Kind),
    ]
    shown += [*get_args(restores.State), *ROLES, *KINDS, *(one.__name__.rpartition(".")[2] for one in LAYERS)]
    shown += [words for _, words, _ in LINES] + list(NAMES)
    shown += [state for state in get_args(mails.State) if state not in ("", "suppressed")]
    assert [name for name in shown if CODE_NAMES.get(name, name.replace("_", " ")) not in KNOWN] == []
    assert set(get_args(ThreadState)) == set(STATES)


@pytest.fixture(scope="module")
def recorded() -> set[str]:
    """Every text that code records as a reason."""
    return recorded_by_code()


def test_every_reason_that_code_records_is_in_the_catalogue(recorded: set[str]) -> None:
    """What is said in words, with `{}` for each value, is a text of the list that is looked up when it is shown."""
    assert sorted(one for one in recorded if SAYS.search(one)) != []
    assert sorted(one for one in recorded - LISTED - set(KNOWN) if SAYS.search(one)) == []


def test_no_reason_is_listed_that_no_code_records(recorded: set[str]) -> None:
    """A reason that got new words is found under these."""
    assert sorted(LISTED - recorded) == []


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("we answered", "wir haben geantwortet"),
        ("Grace took it back", "Grace hat es zurückgenommen"),
        ("the thread is awaiting_reply already", "die Konversation ist schon: wartet auf Kunden"),
        ("missed a deadline: Ada answered", "Frist versäumt: Ada hat geantwortet"),
        ("Grace: we answered", "Grace: wir haben geantwortet"),
        ("He called, and wants it by Friday", "He called, and wants it by Friday"),
        ("Grace: missed a deadline: Ada answered", "Grace: Frist versäumt: Ada hat geantwortet"),
        ("Told him: all is well", "Told him: all is well"),
        ("a: b; c, " * 50, "a: b; c, " * 50),
        ("x" * 600 + " answered", "x" * 600 + " answered"),
    ],
)
def test_a_stored_reason_is_said_in_the_readers_language_and_a_persons_words_are_not(stored: str, shown: str) -> None:
    """With its values, which are said as well where code recorded them; what a person typed is shown as it is."""
    speak("de")
    try:
        assert known(stored) == shown
    finally:
        speak("en")
    assert known(stored) in (stored, stored.replace("awaiting_reply", "waiting for customer"))


def test_modules_of_the_browser_say_texts_that_a_page_carries() -> None:
    """Each text that a module asks for by name is there, and each that is there is asked for."""
    asked = {
        name for path in (CONSOLE / "static").glob("*.js") for name in re.findall(r'said\("([^"]+)"', path.read_text())
    }
    themes = {"theme", "theme light", "theme dark", "density", "density dense"}  # put together from what was chosen
    assert asked | themes == set(json.loads(script_texts()))
