"""What machines send: an out-of-office note, a newsletter, and a bounce of one of our replies."""

from __future__ import annotations

from collections.abc import Iterator

from services.demo.world.messages import DemoMail
from services.demo.world.stage import Stage
from services.demo.world.things import Expected, Mail

_PASSWORDS = (
    "how do I reset my password?",
    "I forgot my password. How can I reset it?",
    "I cannot sign in any more, how do I reset the password?",
)


def tell(stage: Stage) -> Iterator[Mail]:
    """No model call is spent on any of these but the password question, whose answer bounces."""
    yield _out_of_office(stage)
    yield _newsletter(stage)
    yield from _bounced(stage)


def _out_of_office(stage: Stage) -> Mail:
    person, day = stage.cast.away, stage.dice.number(2, 9)
    return stage.mail(
        "away-1",
        person,
        stage.at(4, day, 7, 15),
        "Automatic reply: Maintenance window",
        f"I am out of the office until {day + 10} April and will read your mail then.\n\n{person.name}\n",
        Expected("parked"),
        f"an out-of-office note of {person.first}: parked, no model call",
        headers=(("Auto-Submitted", "auto-replied"), ("X-Auto-Response-Suppress", "All")),
    )


def _newsletter(stage: Stage) -> Mail:
    person, day = stage.cast.away, stage.dice.number(12, 20)
    return stage.mail(
        "newsletter-1",
        person,
        stage.at(4, day, 5, 0),
        "Ten tips for your spring cleaning",
        "This month: ten tips for a tidy office.\n\nUnsubscribe at any time.\n",
        Expected("parked"),
        "a newsletter: parked, no model call",
        headers=(("List-Id", f"<news.{person.seal.domain}>"), ("Precedence", "bulk")),
    )


def _bounced(stage: Stage) -> Iterator[Mail]:
    person, dice = stage.cast.gone, stage.dice
    asked = stage.at(4, dice.number(21, 27), 15, 50)
    yield stage.mail(
        "gone-1",
        person,
        asked,
        "Password",
        f"Hello,\n\n{dice.pick(_PASSWORDS)}\n\nBest,\n{person.name}\n{person.company}\n",
        Expected("replied", must_mention=(person.first, "Forgot password")),
        f"{person.first} of {person.company} asks how to reset a password",
    )
    bounced = stage.at(4, asked.day, 15, 58)
    host = "mx.relay.example"
    message = DemoMail(
        sender=f"Mail Delivery Subsystem <MAILER-DAEMON@{host}>",
        to=stage.support,
        subject="Undelivered Mail Returned to Sender",
        date=bounced,
        message_id=f"bounce.{stage.seed}@{host}",
        text=f"Your message could not be delivered to {person.address}: 550 5.1.1 User unknown.\n",
        headers=(("Auto-Submitted", "auto-replied"),),
        bounce_of=person.address,
    )
    yield Mail(
        "gone-2",
        stage.support,
        bounced,
        "",
        "none",
        message,
        Expected("bounce"),
        f"the answer to {person.first} bounces: the address is suppressed",
        about="gone-1",
    )
