"""A customer who gets angrier with each mail, and at last wants a manager."""

from __future__ import annotations

from collections.abc import Iterator

from services.demo.world.stage import Stage
from services.demo.world.things import Expected, Mail

_FIRST = (
    "Our {item} do not sync since this morning. This is really frustrating, we have a deadline today.",
    "Our {item} stopped syncing again and nobody can work. This is very annoying.",
)
_SECOND = (
    "That did not help at all. Our {item} still do not sync and this is unacceptable.",
    "I tried that, it did not help. Still broken, I am really frustrated with your product.",
)
_THIRD = (
    "Still not working! This is the third time I write, this is ridiculous. We are considering switching to a "
    "competitor.",
    "Third mail and it is still broken. I am fed up, and we are thinking about switching to a competitor.",
)
_MANAGER = (
    "Enough. I want to speak to a manager.",
    "I demand to talk to your manager now.",
    "Let me speak to a human, not a machine. Get me your manager.",
)
_AFTER = ("Hello? Is anybody there?", "Any news from your manager?")


def tell(stage: Stage) -> Iterator[Mail]:
    """Five mails of one thread within a day; the last arrives while a person has it."""
    person, dice, item = stage.cast.angry, stage.dice, stage.product.item
    day = dice.number(4, 11)
    replied = Expected("replied", must_mention=(person.first,))
    at_risk = Expected("replied", must_mention=(person.first,), participant_state="at_risk")
    turns = (
        (
            f"Hello,\n\nI'm {person.name} at {person.company}, on the {stage.product.middle.name} plan. "
            f"{dice.pick(_FIRST).format(item=item)}",
            replied,
            "reports that nothing syncs",
        ),
        (dice.pick(_SECOND).format(item=item), replied, "is still waiting"),
        (dice.pick(_THIRD), at_risk, "is angry and names a competitor: high risk"),
        (
            dice.pick(_MANAGER),
            Expected("escalated", thread_state="escalated", participant_state="at_risk"),
            "wants a manager: a person takes over",
        ),
        (dice.pick(_AFTER), Expected("attached", thread_state="escalated"), "writes on while a person has the thread"),
    )
    for number, (text, expected, story) in enumerate(turns, start=1):
        yield stage.mail(
            f"angry-{number}",
            person,
            stage.at(5, day, 8 + 2 * number, 7),
            f"{item.capitalize()} do not sync",
            f"{text}\n\n{person.first}\n",
            expected,
            f"{person.first} {story}",
            answers=f"angry-{number - 1}" if number > 1 else "",
        )
