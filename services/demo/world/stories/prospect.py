"""Somebody who asks for prices before buying, and then buys."""

from __future__ import annotations

from collections.abc import Iterator

from services.demo.world.stage import Stage
from services.demo.world.things import Expected, Mail

_QUESTIONS = (
    "How much does the {plan} plan cost, and can we try it for free?",
    "What is the price of the {plan} plan? Is there a free trial?",
    "Could you tell me what the {plan} plan costs per user and whether there is a free trial?",
)
_BUYS = (
    "We have just subscribed to the {plan} plan, thank you.",
    "Thank you, we signed up for the {plan} plan today.",
)


def tell(stage: Stage) -> Iterator[Mail]:
    """Two mails of one thread."""
    person, plan, dice = stage.cast.prospect, stage.product.middle, stage.dice
    users, day = dice.number(12, 40, 4), dice.number(10, 18)
    yield stage.mail(
        "prospect-1",
        person,
        stage.at(3, day, 13, 2),
        "Pricing",
        f"Hello,\n\nmy name is {person.name} and I work at {person.company}. We are looking for a tool for "
        f"{stage.product.purpose} for {users} people.\n{dice.pick(_QUESTIONS).format(plan=plan.name)}\n\n"
        f"Kind regards,\n{person.name}\n",
        Expected(
            "replied",
            must_mention=(person.first, f"${plan.price}", "14 days"),
            participant_state="prospect",
            learned=(person.company,),
        ),
        f"{person.first} of {person.company} asks what it costs",
    )
    yield stage.mail(
        "prospect-2",
        person,
        stage.at(3, day + 7, 9, 45),
        "Pricing",
        f"Hi,\n\n{dice.pick(_BUYS).format(plan=plan.name)} How can we add more users later?\n\n{person.first}\n",
        Expected("replied", must_mention=(person.first,), participant_state="customer", learned=(plan.name,)),
        f"{person.first} has bought",
        answers="prospect-1",
    )
