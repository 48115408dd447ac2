"""Customers who write for two years, drawn from a seed: their mails, what a model makes of each, and questions with gold.

What is asked has one true answer by construction: a plan, a contact or a number of seats never comes back once it has
changed, and no customer has two threads of one subject. Every name and company is invented.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

BEGIN = datetime(2024, 1, 1, 9, 0, tzinfo=UTC)
MONTHS = 24
PLANS = ("Starter", "Team", "Growth", "Business", "Premium", "Enterprise")
PEOPLE = ("Nora Lind", "Otto Brandt", "Priya Nair", "Quinn Avery", "Rosa Marin", "Sven Holt", "Tara Boyd", "Ugo Conti")
TROUBLES = (
    "The export of reports fails", "Invoices arrive twice", "Imported contacts are missing", "The calendar is an hour off",
    "Logins end after a minute", "The dashboard stays empty", "Attachments cannot be opened", "Notifications come late",
    "The search finds nothing", "Labels print upside down", "The mobile app crashes", "Webhooks are delivered twice",
)  # fmt: skip
SEASONS = {"spring": 3, "summer": 6, "autumn": 9}
KEYS = {
    "plan": "Which plan were we on",
    "seats": "How many seats did we have",
    "billing contact": "Who was our billing contact",
}


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail, and what a model makes of it: a summary, and at most one fact as `key` and `value`."""

    at: datetime
    sender: str
    code: str
    subject: str
    text: str
    summary: str
    key: str = ""
    value: str = ""

    @property
    def reflection(self) -> dict[str, Any]:
        """The model's answer after its turn."""
        said = {"op": "ADD", "kind": "customer_info", "key": self.key, "value": self.value, "importance": 7}
        words = self.text.partition("\n")[0]
        facts = [{**said, "text": f"Their {self.key} is {self.value}.", "quote": words}] if self.key else []
        return {"summary": self.summary, "facts": facts, "brief": "A customer."}


@dataclass(frozen=True, slots=True)
class Question:
    """What a customer asks: of a `state`, with the fact that holds; of a `story`, with the subjects of its threads."""

    sort: Literal["state", "story"]
    text: str
    key: str = ""
    value: str = ""
    subjects: tuple[str, ...] = ()


@dataclass
class Customer:
    """Somebody's two years: mails in the order of time."""

    addr: str
    letters: list[Letter] = field(default_factory=list)

    def states(self, key: str, now: datetime) -> list[Letter]:
        """The mails until now that said a value of a key."""
        return [one for one in self.letters if one.key == key and one.at <= now]

    def troubles(self, now: datetime) -> list[Letter]:
        """The mails until now that told of a trouble."""
        return [one for one in self.letters if not one.key and one.at <= now]


def customers(seed: int, count: int) -> list[Customer]:
    """So many customers; the first ones are the same however many there are."""
    return [_customer(random.Random(f"{seed}/{number}"), number) for number in range(count)]


def _customer(dice: random.Random, number: int) -> Customer:
    one = Customer(f"pat{number}@firm{number}.example")
    seats = sorted(dice.sample(range(10, 990), 6))
    told = {
        "plan": [
            (value, f"We are on the {value} plan now.") for value in sorted(dice.sample(PLANS, 4), key=PLANS.index)
        ],
        "seats": [(str(value), f"We have {value} seats now.") for value in seats],
        "billing contact": [(value, f"Our billing contact is {value} now.") for value in dice.sample(PEOPLE, 3)],
    }
    drawn = [
        _letter(dice, one.addr, f"{number}-{key.split()[-1]}-{place}", months, key, value, words)
        for key, values in told.items()
        for place, ((value, words), months) in enumerate(zip(values, _months(dice, len(values)), strict=True))
    ]
    troubles = dice.sample(TROUBLES, 10)
    drawn += [
        _trouble(dice, one.addr, f"{number}-t{place}", months, subject)
        for place, (subject, months) in enumerate(zip(troubles, sorted(dice.sample(range(MONTHS), 10)), strict=True))
    ]
    one.letters = sorted(drawn, key=lambda letter: letter.at)
    return one


def _months(dice: random.Random, count: int) -> list[int]:
    """The months in which the values of a key come: the first one in the first quarter, no two in one."""
    return [dice.randrange(3), *sorted(dice.sample(range(4, MONTHS - 1), count - 1))]


def _at(dice: random.Random, month: int) -> datetime:
    first = month_of(month)
    return first + timedelta(days=dice.randrange(27), hours=dice.randrange(9), minutes=dice.randrange(60))


def month_of(number: int) -> datetime:
    """When a month of the story begins, in the office."""
    return BEGIN.replace(year=BEGIN.year + number // 12, month=number % 12 + 1)


def _letter(dice: random.Random, addr: str, code: str, month: int, key: str, value: str, words: str) -> Letter:
    subject = f"Our {key}: {value}"
    text = f"{words}\n\nPlease note it. Reference {code}."
    return Letter(_at(dice, month), addr, code, subject, text, f"They told us that their {key} is {value}.", key, value)


def _trouble(dice: random.Random, addr: str, code: str, month: int, subject: str) -> Letter:
    hours = dice.randrange(2, 40)
    text = f"{subject}.\n\nIt began {hours} hours ago. What can we do? Reference {code}."
    summary = f"{subject}, since {hours} hours. Support promised an answer within {dice.randrange(1, 6)} days."
    return Letter(_at(dice, month), addr, code, subject, text, summary)


def questions(dice: random.Random, one: Customer, now: datetime, count: int) -> Iterator[Question]:
    """Half of states and half of stories, so many together, of what is over by now."""
    for number in range(count):
        asked = _state(dice, one, now) if number % 2 else _story(dice, one, now)
        if asked is not None:
            yield asked


def _state(dice: random.Random, one: Customer, now: datetime) -> Question | None:
    key = dice.choice(tuple(KEYS))
    months = [month_of(n) for n in range(MONTHS) if month_of(n + 1) <= now]
    sure = [(month, values[-1]) for month in months if (values := _held(one.states(key, now), month))]
    if not sure:
        return None
    month, letter = dice.choice(sure)
    return Question("state", f"{KEYS[key]} in {month:%B %Y}?", key, letter.value)


def _held(told: Sequence[Letter], month: datetime) -> list[Letter]:
    """What was told before a month; nothing where the value changed within it."""
    end = (month + timedelta(days=32)).replace(day=1)
    return [] if any(month.replace(hour=0) <= one.at < end for one in told) else [one for one in told if one.at < month]


def _story(dice: random.Random, one: Customer, now: datetime) -> Question | None:
    troubles = one.troubles(now - timedelta(days=3))
    if not troubles:
        return None
    about = dice.choice(troubles)
    season = next((name for name, month in SEASONS.items() if month <= about.at.month < month + 3), "")
    if season and dice.random() < 0.5:
        begins = SEASONS[season]
        within = [t for t in troubles if t.at.year == about.at.year and begins <= t.at.month < begins + 3]
        return Question(
            "story", f"What happened in {season} {about.at.year}?", subjects=tuple(t.subject for t in within)
        )
    words = about.subject[0].lower() + about.subject[1:]
    asked = dice.choice((f"When did we tell you that {words}?", f"What did you promise us when {words}?"))
    return Question("story", asked, subjects=(about.subject,))
