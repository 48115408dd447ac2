"""The word that our replies offer (`send.disclosure`): who answers it gets a person, whatever the model thinks."""

from __future__ import annotations

import re

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail

WORD = "human"


def asks_for_person(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """To a human where the first line of what they wrote is the word alone."""
    first_line = (mail.reply.new or mail.text).strip().partition("\n")[0]
    if re.findall(r"\w+", first_line.casefold()) == [WORD]:
        return Verdict("human", "they ask for a person", "asks_for_person")
    return None
