"""Where the stories play: who is there, what is sold, and how a person's words become a mail."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from services.demo.world.cast import Cast
from services.demo.world.dice import Dice
from services.demo.world.messages import DemoMail
from services.demo.world.things import Expected, Mail, Person, Product

_DELIVERY = timedelta(seconds=4)


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything a story needs. `dice` is drawn from in the order of the stories."""

    seed: int
    year: int
    product: Product
    cast: Cast
    dice: Dice

    @property
    def support(self) -> str:
        """The inbox for questions."""
        return f"support@{self.product.domain}"

    @property
    def billing(self) -> str:
        """The inbox for invoices."""
        return f"billing@{self.product.domain}"

    def at(self, month: int, day: int, hour: int, minute: int = 0) -> datetime:
        """A moment of the story's year, UTC."""
        return datetime(self.year, month, day, hour, minute, tzinfo=UTC)

    def mail(
        self,
        key: str,
        person: Person,
        when: datetime,
        subject: str,
        text: str,
        expected: Expected,
        story: str,
        *,
        inbox: str = "",
        answers: str = "",
        headers: tuple[tuple[str, str], ...] = (),
    ) -> Mail:
        """A signed mail of `person`; with `answers`, below our reply to that mail of theirs."""
        message = DemoMail(
            sender=f"{person.name} <{person.address}>",
            to=inbox or self.support,
            subject=f"Re: {subject}" if answers else subject,
            date=when - _DELIVERY,
            message_id=self.message_id(key, person),
            text=text,
            seal=person.seal,
            headers=headers,
            earlier=self.message_id(answers, person) if answers else "",
        )
        return Mail(
            key, inbox or self.support, when, person.address, "verified", message, expected, story, answers=answers
        )

    def message_id(self, key: str, person: Person) -> str:
        """The Message-ID of a mail of this world, without angle brackets."""
        return f"{key}.{self.seed}@{person.seal.domain}"
