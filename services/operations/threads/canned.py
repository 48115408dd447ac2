"""What a person may begin a reply with: canned answers with variables filled in, and the agent's own suggestion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.core.db import Connection
from services.core.settings import Settings
from services.core.settings.replies import VARIABLE
from services.mail.compose.body import safe_text
from services.mail.compose.links import LinkPolicy
from services.operations.threads.inbox import InboxLine
from services.operations.threads.listing import Note
from services.send_email.frozen import as_the_agent_may_write
from services.track_threads.turns import DRAFTED, SUGGESTED

LONGEST_NAME = 80  # characters of what others wrote that are filled in


@dataclass(frozen=True, slots=True)
class FilledAnswer:
    """A canned answer for one thread."""

    name: str
    text: str


def canned_answers(settings: Settings, line: InboxLine, me: str) -> list[FilledAnswer]:
    """Those of the thread's inbox, filled in. Of an author whom nothing proves no name is used.

    What a person sends keeps its links, as their own: what others wrote is filled in without any.
    """
    proven = "" if line.claims_to_be else _without_links(line.participant_name)[:LONGEST_NAME]
    values = {
        "name": proven,
        "first_name": proven.partition(" ")[0],
        "subject": _without_links(line.subject),
        "me": me,
    }
    mine = [one for one in settings.canned_answers if one.inbox in ("", line.inbox)]
    return [FilledAnswer(one.name, filled(one.text, values)) for one in mine]


def _without_links(text: str) -> str:
    """What somebody wrote, on one line."""
    return " ".join(safe_text(text, LinkPolicy()).split())


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with its variables filled in, once: what a value says is no variable."""
    return VARIABLE.sub(lambda found: values.get(found[1], "") or found[2] or "", text)


async def offered_suggestion(conn: Connection, settings: Settings, line: InboxLine, notes: Sequence[Note]) -> str:
    """What the agent would have answered, without links that it may not write; "" where no note says so."""
    text = suggestion_in(notes)
    return await as_the_agent_may_write(conn, settings, line.inbox, text, [line.participant]) if text else ""


def suggestion_in(notes: Sequence[Note]) -> str:
    """What the agent would have answered, by the newest of its notes that says so; "" where none does."""
    for note in reversed(notes):
        heading, _, text = note.text.partition("\n\n")
        if note.trigger == "ai" and heading in (SUGGESTED, DRAFTED):
            return text
    return ""
