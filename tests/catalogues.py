"""`make texts`: takes the console's texts out of templates and code, and brings the catalogue of each language up to them.

What is new has no translation yet, and what is gone is removed. `make texts ARGS=it` begins the catalogue of another
language.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from services.operations.users import invitations
from services.web.console.language import FOLDER
from services.web.console.webhooks import ABOUT

CONSOLE = FOLDER.parent
METHODS = [("templates/*.html", "jinja2"), ("*.py", "python")]
OPTIONS = {
    "templates/*.html": {
        "trimmed": "true",
        "trim_blocks": "true",
        "lstrip_blocks": "true",
        "newstyle_gettext": "true",
        "silent": "false",
    }
}
FORMS = (1, 2)  # arguments of what says one and many
KEYWORDS: dict[str, tuple[int, ...] | None] = {
    **dict.fromkeys(("_", "gettext", "translated", "Message")),
    **dict.fromkeys(("ngettext", "plural", "_forms"), FORMS),
}
HEADER = (
    'msgid ""\nmsgstr ""\n"Language: {language}\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n'
    '"Plural-Forms: {plural_forms}\\n"\n\n'
)


def extracted() -> Catalog:
    """Every text of the console that is looked up, with the files that it stands in."""
    found = Catalog(charset="utf-8")
    for name, _, message, _, _ in extract_from_dir(CONSOLE, METHODS, OPTIONS, KEYWORDS):
        found.add(message, locations=[(name, 0)])
    for about in ABOUT.values():  # the first lines of what the API's reference says of each type
        found.add(str.__str__(about), locations=[("webhooks.py", 0)])
    for text in (invitations.SUBJECT, invitations.TEXT):
        found.add(text, locations=[("users.py", 0)])
    return found


def languages() -> list[str]:
    """Those that have a catalogue."""
    return sorted(path.parents[1].name for path in FOLDER.glob("*/LC_MESSAGES/console.po"))


def path_of(language: str) -> Path:
    """Where the catalogue of a language lies."""
    return FOLDER / language / "LC_MESSAGES" / "console.po"


def brought_up(language: str, texts: Catalog) -> Catalog:
    """The catalogue of a language with every text, and with no other."""
    catalogue = Catalog(locale=language, charset="utf-8")
    if path_of(language).exists():
        with path_of(language).open("rb") as file:
            catalogue = read_po(file, locale=language)
    catalogue.update(texts, no_fuzzy_matching=True)
    return catalogue


def written(catalogue: Catalog) -> bytes:
    """A catalogue as its file has it: by file and text, without the numbers of lines, which change too often."""
    file = BytesIO()
    write_po(file, catalogue, width=0, sort_by_file=True, include_lineno=False, omit_header=True, ignore_obsolete=True)
    head = HEADER.format(language=catalogue.locale_identifier, plural_forms=catalogue.plural_forms)
    return head.encode() + file.getvalue()


def main() -> int:
    """Write the catalogues that there are, and those that are asked for."""
    texts = extracted()
    for language in sorted({*languages(), *sys.argv[1:]}):
        catalogue, path = brought_up(language, texts), path_of(language)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(written(catalogue))
        empty = sum(
            not all([one.string] if isinstance(one.string, str) else one.string or [""]) for one in catalogue if one.id
        )
        print(f"{language}: {len(catalogue)} texts, {empty} without a translation: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
