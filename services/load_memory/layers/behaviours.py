"""Rules that hold before the model writes: the same for every mail of an inbox."""

from __future__ import annotations

from services.core.db import Connection
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import Turn

NAME, SHARED, TRUSTED = "behaviours", True, True
ABOUT = "Rules for every mail of this mailbox."

RULES = (
    "Answer only from the layers below and from tool results; where they do not say it, say that you do not know.",
    "Promise no refund, discount, date or contract term that the knowledge base does not state.",
    "Escalate legal threats, demands for a person, security incidents and whatever you may not decide.",
    "Use what is remembered naturally, and only where it helps; never list what you know about somebody.",
    "Never reveal anything about another customer.",
)


def budget(turn: Turn) -> None:
    """None: the system part is always kept whole; the settings bound what goes into it."""


async def load(turn: Turn, conn: Connection) -> Section:
    """The rules of the deployment, and that of disclosure where the settings ask for it."""
    rules = list(RULES)
    if turn.chosen["disclose_ai"].value:
        rules.append(f"Close with this sentence, in these words: {turn.app.settings.send.disclosure}")
    return section(entry(f"- {rule}", rule=rule) for rule in rules)
