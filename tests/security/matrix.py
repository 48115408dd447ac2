"""The matrix: sender level x token x thread owner, and for each what is read and what is written.

Observed on the running product and kept as a table in the docs, which the test holds to what it sees.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tests.security.attacks import Victim, secret_of
from tests.security.mails import RawMail, proven, results, write
from tests.security.script import MODEL, words_in

if TYPE_CHECKING:
    from tests.security.campaign import Campaign

Level = Literal["verified", "unverified", "failed"]
Names = Literal["nothing", "own mail", "other's mail", "own token", "other's token"]

DOMAIN = "matrix.example"
LEVELS: tuple[Level, ...] = ("verified", "unverified", "failed")
NAMED: tuple[Names, ...] = ("nothing", "own mail", "own token", "other's mail", "other's token")
PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "identity.md"
BEGIN, END = "<!-- matrix: made by tests/security -->", "<!-- end of matrix -->"
WRITE = "CORRESPONDENT_WRITE_MATRIX"
HEAD = ("sender", "the mail names", "its thread", "the model reads", "is written", "answer")


@dataclass(frozen=True)
class Cell:
    """One combination. The first of `people` is whom the mail says it is from, the last whose thread it names."""

    number: int
    level: Level
    names: Names
    people: tuple[Victim, ...]
    message: RawMail | None = None

    @property
    def word(self) -> str:
        """The cell's own word."""
        return f"AWmatrix{_letters(self.number)}"

    @property
    def author(self) -> Victim:
        """Whom the mail says it is from."""
        return self.people[0]

    @property
    def owner(self) -> Victim:
        """Whose thread it names, or would."""
        return self.people[-1]

    def aimed(self, text: str) -> RawMail:
        """Its mail."""
        named = {"nothing": "", "own mail": self.owner.first.message_id, "other's mail": self.owner.first.message_id}
        reply_to = named.get(self.names, self.owner.reply_id)
        if self.level == "verified":
            return proven(text, self.author.address, reply_to=reply_to)
        above = (f"Authentication-Results: {results(DOMAIN, 'fail')}",) if self.level == "failed" else ()
        return write(text, self.author.address, reply_to=reply_to, above=above)


def cells() -> list[Cell]:
    """Every combination, each with people of its own."""
    made = []
    for number, (level, names) in enumerate(product(LEVELS, NAMED)):
        roles = ("a", "b") if names.startswith("other") else ("a",)
        made.append(Cell(number, level, names, tuple(_person(f"m{_letters(number)}{role}") for role in roles)))
    return made


def observed(campaign: Campaign) -> list[tuple[str, ...]]:
    """The rows of the table, as the product behaved."""
    return [(_sender(cell), _said(cell), *_thread_and_more(campaign, cell)) for cell in campaign.cells]


def rendered(rows: list[tuple[str, ...]]) -> str:
    """The table in Markdown."""
    lines = [HEAD, tuple("---" for _ in HEAD), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def on_the_page() -> str:
    """The table that the docs show."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return rest.partition(END)[0].strip()


def keep(table: str) -> None:
    """Write the table into the docs, where the environment asks for it."""
    if os.environ.get(WRITE):
        text = PAGE.read_text(encoding="utf-8")
        head, _, rest = text.partition(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n\n{table}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def _thread_and_more(campaign: Campaign, cell: Cell) -> tuple[str, str, str, str]:
    assert cell.message is not None
    rows = campaign.product.rows(
        "SELECT thread_id, verdict, identity FROM mails WHERE message_id = %(id)s", id=cell.message.message_id
    )
    (mail,) = rows
    assert mail["identity"] == cell.level, "the row would speak of another sender than it names"
    return (
        _thread(campaign, cell, mail["thread_id"]),
        _read(campaign, cell),
        _written(campaign, cell),
        _answer(campaign, cell, mail["verdict"]),
    )


def _thread(campaign: Campaign, cell: Cell, thread_id: object) -> str:
    for whose, person in (("their own", cell.author), ("the other's", cell.owner)):
        rows = campaign.product.rows(
            "SELECT 1 AS one FROM mails WHERE message_id = %(id)s AND thread_id = %(thread)s",
            id=person.first.message_id, thread=thread_id,
        )  # fmt: skip
        if rows:
            return whose
    return "a new one"


def _read(campaign: Campaign, cell: Cell) -> str:
    asked = [one for one in campaign.prompts if cell.word in one.text and "AFTER" not in one.text]
    if not asked:
        return "no model is asked"
    seen = {word for one in asked for word in words_in(one.text)}
    found = ["own memory"] if cell.author.secret in seen else []
    found += ["the other's memory"] if cell.owner is not cell.author and cell.owner.secret in seen else []
    return ", ".join(found) or "this mail alone"


def _written(campaign: Campaign, cell: Cell) -> str:
    of = {person.name for person in cell.people}
    changed = {
        (name, table)
        for name in of
        for table, rows in campaign.after[name].items()
        if rows != campaign.before[name][table]
    }
    kinds = []
    for whose, person in (("own", cell.author), ("the other's", cell.owner)):
        tables = {table for name, table in changed if name == person.name}
        memory = tables & {"facts", "briefs", "brief_divergences", "participants", "sessions", "relations"}
        kinds += [f"{whose} memory"] if memory else []
        kinds += [f"{whose} thread"] if tables & {"threads", "conversation", "goals", "thread_log"} else []
        if cell.owner is cell.author:
            break
    return ", ".join(kinds) or "nothing"


def _answer(campaign: Campaign, cell: Cell, verdict: str) -> str:
    from tests.security.campaign import answered, text_of

    assert cell.message is not None
    ours = [one for one in campaign.sent if answered(one) == cell.message.message_id]
    if not ours:
        return "none: set aside" if verdict == "park" else "none: a person decides"
    (one,) = ours
    assert one.recipient == cell.author.address
    return "by the model" if MODEL in text_of(one) else "the fixed reply"


def _sender(cell: Cell) -> str:
    return {"verified": "proven", "unverified": "unproven", "failed": "disowned by its domain"}[cell.level]


def _said(cell: Cell) -> str:
    return {
        "nothing": "no earlier mail",
        "own mail": "their own mail",
        "own token": "our reply to them",
        "other's mail": "another's mail",
        "other's token": "our reply to another",
    }[cell.names]


def _person(name: str) -> Victim:
    address = f"{name}@{DOMAIN}"
    text = f"Hello, I am {name}. Our vault code is {secret_of(name)}."
    return Victim(name, address, proven(text, address, message_id=f"first-{name}@{DOMAIN}"))


def _letters(number: int) -> str:
    return "".join(chr(97 + int(digit)) for digit in f"{number:02}")
