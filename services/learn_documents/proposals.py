"""An article from an answer that a person gave: their own words, with personal data taken out. Pure, no model.

Why by rule and not by a model: nobody has to trust an invention, it costs no call, and it is the same with every model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.words import count_words
from services.mail.masking import Known, marks_in, without_personal
from services.mail.thread_ids import without_reply_prefixes
from services.model.offline.requests import body_of
from services.model.offline.sentences import sentences

MOST_QUESTIONS = 2
MOST_CHARACTERS = 20_000
LONGEST_TITLE = 120


@dataclass(frozen=True, slots=True)
class Answered:
    """A thread as far as an article is made from it: its subject, what was asked, what a person answered."""

    subject: str
    asked: Sequence[str]
    answer: str
    known: Known


@dataclass(frozen=True, slots=True)
class Article:
    """A title, Markdown, and how much was taken out of it."""

    title: str
    text: str
    masked: int


def article(case: Answered, least_words: int) -> Article | None:
    """The article, or None where the answer is too short to teach anybody ("Done, thanks!")."""
    answer = without_personal(body_of(case.answer), case.known)[:MOST_CHARACTERS].strip()
    if count_words(answer) < least_words:
        return None
    subject = " ".join(without_reply_prefixes(case.subject).split())[:LONGEST_TITLE]
    title = without_personal(subject, case.known) or "An answer"
    asked = [without_personal(one, case.known) for one in _questions(case.asked)]
    parts = [f"# {title}", *(f"*{one}*" for one in asked), _no_headings(answer)]
    text = "\n\n".join(parts)
    return Article(title, text, marks_in(text))


def _questions(mails: Sequence[str]) -> list[str]:
    """The first questions that were asked, each on one line."""
    found = [" ".join(one.split()) for mail in mails for one in sentences(body_of(mail)) if one.rstrip().endswith("?")]
    return list(dict.fromkeys(found))[:MOST_QUESTIONS]


def _no_headings(answer: str) -> str:
    """A line of a mail that begins with # is no heading of an article."""
    return "\n".join(f"\\{line}" if line.lstrip().startswith("#") else line for line in answer.splitlines())
