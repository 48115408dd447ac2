"""Robots that answer mail in every language, and people who sound like them: texts, and mails made of them.

The four forms say less and less: RFC 3834's header, a maker's own header, a mail program's subject prefix alone, and a
plain `Re:` with nothing but the words.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage

OURS, SUBJECT, PERSON = "c.token.salt@shop.example", "Order 4711", "Ann Lee <ann@customer.example>"
FORMS = ("standard", "vendor", "prefix", "bare")


@dataclass(frozen=True, slots=True)
class Text:
    """One text, its language, and the prefix that a mail program of that language puts before a subject."""

    language: str
    prefix: str
    body: str


def vacation_notes() -> tuple[Text, ...]:
    """What responders say."""
    return tuple(_texts("vacation_notes.txt"))


def notes_written_apart() -> tuple[Text, ...]:
    """What other responders say: notes that were written without a look at the wording tables."""
    return tuple(_texts("notes_written_apart.txt"))


def frozen_notes() -> tuple[Text, ...]:
    """What robots of companies, shops and offices say: frozen before the tables were looked at."""
    return tuple(_texts("frozen_notes.txt"))


def frozen_people() -> tuple[Text, ...]:
    """What customers say who mention leave, receipts and robots: frozen before the tables were looked at."""
    return tuple(_texts("frozen_people.txt"))


def drawn_notes() -> tuple[Text, ...]:
    """What robots say: the half of a set with which the tables of the languages were written."""
    return tuple(_texts("drawn_notes.txt"))


def drawn_people() -> tuple[Text, ...]:
    """What customers say near the topic: the half of a set with which the tables of the languages were written."""
    return tuple(_texts("drawn_people.txt"))


def held_out_notes() -> tuple[Text, ...]:
    """The other half of the robots' set: only its figures are looked at, never what fails."""
    return tuple(_texts("held_out_notes.txt"))


def held_out_people() -> tuple[Text, ...]:
    """The other half of the customers' set: only its figures are looked at, never what fails."""
    return tuple(_texts("held_out_people.txt"))


def concept_notes() -> tuple[Text, ...]:
    """What robots say of themselves, in words that no table has learned from."""
    return tuple(_texts("concept_notes.txt"))


def concept_people() -> tuple[Text, ...]:
    """What customers say near those notes, in words that no table has learned from."""
    return tuple(_texts("concept_people.txt"))


def later_notes() -> tuple[Text, ...]:
    """What robots of further kinds say, likewise."""
    return tuple(_texts("later_notes.txt"))


def later_people() -> tuple[Text, ...]:
    """What customers say near those, likewise."""
    return tuple(_texts("later_people.txt"))


def further_notes() -> tuple[Text, ...]:
    """What robots of eleven further kinds say, likewise."""
    return tuple(_texts("further_notes.txt"))


def further_people() -> tuple[Text, ...]:
    """What customers write on any day, and near those: twelve mails in each language, likewise."""
    return tuple(_texts("further_people.txt"))


def fresh_notes() -> tuple[Text, ...]:
    """Receipts in words, short absences, closed cases: never looked at with what fails, and not learned from."""
    return tuple(_texts("fresh_notes.txt"))


def fresh_people() -> tuple[Text, ...]:
    """Customers' mails next to those, likewise."""
    return tuple(_texts("fresh_people.txt"))


def people() -> tuple[Text, ...]:
    """What customers say who sound like them, and ask for something."""
    return tuple(_texts("people.txt"))


def statements() -> tuple[Text, ...]:
    """What customers on leave tell, without asking for anything."""
    return tuple(_texts("statements.txt"))


def robot_mail(note: Text, form: str) -> bytes:
    """A responder's answer to a mail of ours, in one of `FORMS`."""
    prefixed = f"{note.prefix}: Re: {SUBJECT}"
    if form == "standard":
        return _mail(note.body, prefixed, **_answers(), **{"Auto-Submitted": "auto-replied"})
    if form == "vendor":
        return _mail(note.body, f"Re: {SUBJECT}", **{"X-Autoreply": "yes", "Precedence": "bulk"})
    if form == "prefix":
        return _mail(note.body, prefixed)
    return _mail(note.body, f"Re: {SUBJECT}", **_answers())


def person_mails(text: Text) -> Iterator[bytes]:
    """A customer's mail: an answer to ours, a new one, and with headers that say nothing by themselves."""
    yield _mail(text.body, f"Re: {SUBJECT}", **_answers())
    yield _mail(text.body, SUBJECT)
    yield _mail(text.body, f"Re: {SUBJECT}", **{"X-TMDA-Fingerprint": "x", "Newsgroups": "example.talk"})


def _answers() -> dict[str, str]:
    return {"In-Reply-To": f"<{OURS}>", "References": f"<{OURS}>"}


def _mail(body: str, subject: str, **headers: str) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = PERSON, "support@shop.example", subject
    for name, value in headers.items():
        message[name] = value
    message.set_content(body)
    return message.as_bytes()


def _texts(name: str) -> Iterator[Text]:
    language, prefixes = "", dict[str, str]()
    for line in importlib.resources.files(__name__).joinpath(name).read_text(encoding="utf-8").split("\n"):
        if line.startswith("["):
            language, _, prefix = line[1:].partition("]")
            prefixes.setdefault(language, prefix.strip())
        elif line and not line.startswith("#"):
            yield Text(language, prefixes[language], line.replace("|", "\n"))
