"""The words around the answers: greeting, apology, admission, closing, signature."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta

from services.model.offline.lexicon import NOT_PERSONAL
from services.model.offline.memory_lines import last_matter
from services.model.offline.sentences import quotable
from services.model.offline.view import View

_LONG_SILENCE = timedelta(days=30)
_DISCLOSE = re.compile(r"\bsentence, in these words: (.+)")
_FIRST_NAME = re.compile(r"[^\W\d_][\w'’-]+")


class Draft:
    """A mail being written: paragraphs, joined at the end."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._paragraphs: list[str] = []

    def greet(self, *, frustrated: bool, recall: bool) -> None:
        """By first name if it is known; after a long silence with the last matter, unless `recall` tells it anyway."""
        first = first_name(self._view.name)
        self._paragraphs.append(f"Hi {first}," if first else "Hello,")
        if frustrated:
            self._paragraphs.append("I am sorry for the trouble this gives you.")
        elif self._was_silent():
            last = "" if recall else last_matter(self._view.facts, self._view.items("earlier"))
            self._paragraphs.append(f"Good to hear from you again. {last}".strip())

    def add(self, paragraphs: Iterable[str]) -> None:
        """What was found."""
        self._paragraphs.extend(paragraphs)

    def admit(self, questions: Iterable[str]) -> None:
        """What was not found: said once, with the way to a person."""
        asked = "\n".join(f'"{quotable(one)}"' for one in questions)
        if asked:
            self._paragraphs.append(f"I find no answer in our documents to this, and I do not want to guess:\n{asked}")
            who = "" if self._disclosure else "I am an automatic assistant that answers from our documents. "
            self._paragraphs.append(f"{who}Our team sees that this is open; if you prefer a person, just write so.")

    def ask_back(self, *, thank: bool) -> None:
        """An answer to a mail that asks nothing: thanks for the news, or the question what is meant."""
        if thank:
            self._paragraphs.append("Thank you for telling us.")
        else:
            self._paragraphs.append("Thank you for your message. Could you tell me what we can do for you?")

    def close(self, *, confirm: bool, answered: bool) -> None:
        """The last line."""
        if confirm:
            self._paragraphs.append("Did I get this right? If something is missing, tell me and I will look again.")
        elif answered:
            self._paragraphs.append("If this does not answer your question, just reply to this mail.")

    def offer_person(self) -> None:
        """The way to a person, for somebody who has had enough of a machine."""
        self._paragraphs.append("If you want a person to take over, just write so, and a colleague will.")

    def disclose(self) -> None:
        """That a machine writes, where the settings ask for it."""
        if self._disclosure:
            self._paragraphs.append(self._disclosure)

    def sign(self) -> None:
        """As the persona asks, else plainly."""
        view = self._view
        name = view.value("persona", "signature") or view.value("persona", "agent") or "Your support team"
        self._paragraphs.append(f"Best regards,\n{name}")

    def text(self) -> str:
        """The whole mail."""
        return "\n\n".join(self._paragraphs) + "\n"

    @property
    def _disclosure(self) -> str:
        asked = _DISCLOSE.search(self._view.text("behaviours"))
        return asked[1] if asked else ""

    def _was_silent(self) -> bool:
        now, last = self._view.now, self._view.last_contact
        return bool(now and last and now - last >= _LONG_SILENCE)


def first_name(name: str) -> str:
    """The first name of a personal name, or "" if it does not look like one ("Billing Team", "x@y")."""
    words = name.split()
    if not words or words[0].lower() in NOT_PERSONAL or "@" in name or words[-1].lower() in NOT_PERSONAL:
        return ""
    return words[0] if _FIRST_NAME.fullmatch(words[0]) else ""
