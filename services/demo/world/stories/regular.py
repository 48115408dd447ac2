"""A customer over four months: an invoice that looks too high, an upgrade, and "following up on our chat"."""

from __future__ import annotations

from collections.abc import Iterator

from services.demo.world.stage import Stage
from services.demo.world.things import Expected, Mail

_OPENINGS = (
    "I have a question about our March invoice.",
    "Our March invoice puzzles me.",
    "Something on the invoice for March looks off to me.",
)
_WHY = (
    "It says ${total} instead of ${usual}. Why is it higher than usual?",
    "We expected ${usual} but were charged ${total}. Why is the invoice higher?",
    "The amount is ${total}, last month it was ${usual}. Why was it higher?",
)
_SOLVED = (
    "Thanks, that explains it. All solved on our side!",
    "Perfect, thank you, that answers my question. Solved!",
    "Thank you! That clears it up, no further questions.",
)
_UPGRADES = (
    "we have moved up to the {plan} plan.",
    "good news: we are on the {plan} plan now.",
    "we have just upgraded to the {plan} plan.",
)
_COMEBACKS = (
    "following up on our chat. Could you remind me where things stand on our side?",
    "just following up on our conversation - where do we stand?",
    "I'm following up on what we talked about. Can you tell me where we are?",
)


def tell(stage: Stage) -> Iterator[Mail]:
    """Five mails at two inboxes: the last two say almost nothing, so what is remembered has to answer."""
    yield from _invoice(stage)
    yield from _upgrade(stage)
    yield from _return(stage)


def _invoice(stage: Stage) -> Iterator[Mail]:
    john, product, dice = stage.cast.regular, stage.product, stage.dice
    seats, added = dice.number(10, 40, 10), dice.number(4, 8, 2)
    usual = seats * product.middle.price
    total = usual + added * product.middle.price // 2
    why = dice.pick(_WHY).format(usual=usual, total=total)
    asked = stage.at(3, dice.number(3, 9), 9, 12)
    text = (
        f"Hello,\n\nI'm {john.name} from {john.company}. {dice.pick(_OPENINGS)} {why}\n"
        f"We are on the {product.middle.name} plan and added {added} users in February.\n\n"
        f"Best regards,\n{john.name}\n{john.company}\n"
    )
    yield stage.mail(
        "regular-1",
        john,
        asked,
        "March invoice",
        text,
        Expected(
            "replied",
            must_mention=(john.first, "proration"),
            participant_state="customer",
            learned=(product.middle.name, john.company),
        ),
        f"{john.first} of {john.company} asks why the March invoice is higher",
    )
    yield stage.mail(
        "regular-2",
        john,
        stage.at(3, asked.day, 14, 40),
        "March invoice",
        f"{dice.pick(_SOLVED)}\n\n{john.first}\n",
        Expected("no_reply", participant_state="customer"),
        f"{john.first} says thanks: nothing to answer",
        answers="regular-1",
    )


def _upgrade(stage: Stage) -> Iterator[Mail]:
    john, top, dice = stage.cast.regular, stage.product.top, stage.dice
    users = dice.number(60, 90, 10)
    news = dice.pick(_UPGRADES).format(plan=top.name)
    yield stage.mail(
        "regular-3",
        john,
        stage.at(4, dice.number(14, 22), 10, 5),
        f"Upgrade to {top.name}",
        f"Hi,\n\n{news} We are now {users} users.\nHow do we set up SSO, and how long does the roll-out take?\n\n"
        f"Best regards,\n{john.name}\n{john.company}\n",
        Expected(
            "replied",
            must_mention=(john.first, "SSO", "working days"),
            participant_state="customer",
            learned=(top.name, str(users)),
        ),
        f"{john.first} upgrades to {top.name} and asks how SSO is rolled out",
    )


def _return(stage: Stage) -> Iterator[Mail]:
    john, top, dice = stage.cast.regular, stage.product.top, stage.dice
    yield stage.mail(
        "regular-4",
        john,
        stage.at(6, dice.number(16, 24), 8, 30),
        "Following up",
        f"Hi,\n\n{dice.pick(_COMEBACKS)}\n\n{john.first}\n",
        Expected("replied", must_mention=(john.first, "invoice", top.name)),
        f"two months later {john.first} only says 'following up on our chat'",
    )
    yield stage.mail(
        "regular-5",
        john,
        stage.at(6, dice.number(26, 28), 11, 20),
        "Which plan are we on?",
        "Hello,\n\nwhich plan are we on at the moment, and when do we get the next invoice?\n\n"
        f"Thanks,\n{john.first}\n",
        Expected("replied", must_mention=(john.first, top.name, "first day of each month")),
        f"{john.first} writes to the other inbox, and is known there too",
        inbox=stage.billing,
    )
