"""Nobody pays for another's erase: random populations that share words, names, quotes, values, addresses.

One of them may be an attacker who calls himself by a victim's name or address, takes a victim's Message-ID, and plants
a victim's words. Pure: which events a person's erase changes, and how, is decided without a database.
POPULATIONS=1000 takes more than three times as many.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from random import Random
from typing import Any
from uuid import UUID

import pytest

from schemas.events.mail import EmailRead
from schemas.events.memory import FactRecorded, ParticipantSeen, SessionNoted
from schemas.events.threads import MailAttached
from services.core.bus.event_row import EventRow
from services.core.ids import participant_id
from services.core.keys.keyring import subject_of
from services.operations.erase.survey import Survey, kept, listener
from services.operations.erase.words import texts, words_of

POPULATIONS = int(os.environ.get("POPULATIONS", "300"))
BLOCKS = 10
WORKSPACE = "w"
ADDRESSES = (
    "a@b.example",
    "ma@b.example",
    "o'a@b.example",
    "x.a@b.example",
    "x+a@b.example",
    "a@b.example.org",
    "a@b.examples",
    "strasse@weiss.example",
    "maria.garcia@acme.example",
    "garcia@acme.example",
)
NAMES = (
    "Maria Garcia",
    "maria garcia",
    "Ann Lee",
    "Joann Leeds",
    "Ada Quillfeather",
    "Bob",
    "",
    "Jürgen Weiß",
    "Order Number",
    "İpek Quillfeather",
)
SHARED = (
    "zanzibarite",
    "88123",
    "export",
    "order",
    "number",
    "quillfeather",
    "Team",
    "plan",
    "weiß",
    "77456",
    "garcia",
)
SECRETS = ("ondulator", "pyrheliometer", "41234", "quincunxial", "syzygetic", "xylopyrography", "61001", "zymurgical")

# What an erase does not look at of a row.
ROW = EventRow(
    id=UUID(int=0),
    seq=0,
    workspace=WORKSPACE,
    topic="",
    key="",
    type="",
    source="",
    time=datetime(2025, 5, 1, tzinfo=UTC),
    aggregate=None,
    aggregate_id=None,
    version=None,
    data_subject=None,
    correlation_id=UUID(int=0),
    causation_id=None,
    data={},
    stored_at=datetime(2025, 5, 1, tzinfo=UTC),
    published_at=None,
)


@dataclass
class Population:
    """People, what each of them said alone, and the stored events, opened, with the owners of their keys."""

    random: Random
    people: list[str]
    names: dict[str, str]
    secrets: dict[str, str]
    rows: list[EventRow] = field(default_factory=list)
    owners: dict[UUID, frozenset[UUID]] = field(default_factory=dict)
    message_ids: dict[str, list[str]] = field(default_factory=dict)
    involved: list[str] = field(default_factory=list)

    def id(self, who: str) -> UUID:
        return participant_id(WORKSPACE, who)

    def record(self, kind: str, data: dict[str, Any], who: set[str]) -> None:
        """An event sealed with the key of these people."""
        owners = frozenset(self.id(one) for one in who)
        key = subject_of(owners)
        self.owners[key] = owners
        number = UUID(int=len(self.rows) + 1)
        sealed = {"$key": str(key), "$of": str(number), "$sealed": "x"}
        self.rows.append(replace(ROW, id=number, type=kind, data=data, sealed=sealed))


def population(seed: int) -> Population:
    random = Random(seed)
    people = random.sample(ADDRESSES, random.randint(2, 6))
    names = {who: random.choice(NAMES) for who in people}
    made = Population(random, people, names, dict(zip(people, random.sample(SECRETS, len(people)), strict=True)))
    for number in range(random.randint(2, 12)):
        writes(made, random.choice(people), number)
    if random.random() < 0.5:
        attack(made)
        made.people.sort(key=lambda one: one not in made.involved)
    for who in people:
        learned(made, who)
    return made


def writes(made: Population, who: str, number: int, *, name: str | None = None, id: str = "", text: str = "") -> None:
    """One mail of somebody, its copy in the thread, and what was made of the conversation."""
    random = made.random
    to = [one for one in made.people if one != who and random.random() < 0.35]
    id = id or f"{number}.{random.randint(0, 3)}@{who.split('@')[1]}"
    text = text or words(made, who)
    mail = str(UUID(int=1000 + len(made.rows)))
    seen = made.names[who] if name is None else name
    data = {
        "mail_id": mail,
        "participant_id": str(made.id(who)),
        "message_id": id,
        "references": random.sample(all_ids(made), min(2, len(all_ids(made)))),
        "subject": random.choice(["A question", f"About {random.choice(SHARED)}"]),
        "author": {"name": seen, "addr": who},
        "to": [{"name": made.names[one], "addr": one.upper()} for one in to],
        "text": text,
        "participants": [who, *to],
        "attachments": [{"filename": f"{random.choice(SHARED)}.pdf", "text": words(made, who)}],
        "report": None,
    }
    made.message_ids.setdefault(who, []).append(id)
    made.record(ParticipantSeen.TYPE, {"participant_id": str(made.id(who)), "addr": who, "name": seen}, {who})
    made.record(EmailRead.TYPE, data, {who, *to})
    copied = {"mail_id": mail, "participant_id": str(made.id(who)), "text": text}
    made.record(MailAttached.TYPE, copied, {who, *to})
    summary = {"participant_id": str(made.id(who)), "summary": text}
    made.record(SessionNoted.TYPE, summary, {who, *to[:1]})


def words(made: Population, who: str) -> str:
    """What somebody writes: words that everybody has, now and then their own, quotations, others' names and addresses."""
    random, said = made.random, list[str]()
    for _ in range(random.randint(3, 15)):
        other = random.choice(made.people)
        said.append(
            random.choice(
                [
                    random.choice(SHARED),
                    random.choice(SHARED),
                    made.secrets[who],
                    made.names[other] or "nobody",
                    f"<{other}>",
                    f"On Monday {made.names[other]} <{other.upper()}> wrote:\n> {random.choice(SHARED)}\n",
                    made.secrets[other] if random.random() < 0.1 else "yes",
                ]
            )
        )
    return " ".join(said)


def attack(made: Population) -> None:
    """Somebody uses the names, addresses, Message-IDs and words of another."""
    random = made.random
    attacker, victim = made.involved = random.sample(made.people, 2)
    names = [victim, made.names[victim], f"{made.secrets[victim]} {random.choice(SHARED)}", "order number", "team plan"]
    ids = [*made.message_ids.get(victim, []), "order number", victim, victim.upper()]
    for number in range(random.randint(1, 4)):
        planted = " ".join([made.secrets[victim], *random.sample(SHARED, 3), victim, words(made, attacker)])
        writes(made, attacker, 50 + number, name=random.choice(names), id=random.choice(ids), text=planted)
    writes(made, victim, 60)


def learned(made: Population, who: str) -> None:
    """Facts of somebody, by API too: their words need not stand in any mail."""
    for _ in range(made.random.randint(0, 3)):
        value = made.random.choice([*SHARED, made.secrets[who], *made.people, *(one for one in NAMES if one)])
        data = {
            "participant_id": str(made.id(who)),
            "value": value,
            "text": f"Says {value}.",
            "quote": words(made, who),
        }
        made.record(FactRecorded.TYPE, data, {who})


def all_ids(made: Population) -> list[str]:
    return sorted({one for some in made.message_ids.values() for one in some})


def surveyed(made: Population, who: str) -> tuple[Survey, list[EventRow], list[EventRow]]:
    """What the erase knows, the mails of others that it seals anew, and the events that it does not touch."""
    people = frozenset({made.id(who)})
    found = Survey(WORKSPACE, people, {key: one for key, one in made.owners.items() if one & people}, {who})
    own = [row for row in made.rows if found.is_own(row)]
    rest = [row for row in made.rows if not found.is_own(row)]
    for row in own:
        found.learn(row)
    theirs = kept(own, people)
    found.give_way(theirs)
    ears = listener(found)
    for row in rest:
        ears.hear(row.data)
    ears.hear_kept(theirs)
    return found, theirs, rest


def check(made: Population, who: str) -> None:
    found, theirs, rest = surveyed(made, who)
    assert not [row for row in theirs if row.type not in (EmailRead.TYPE, MailAttached.TYPE)]
    assert not [row for row in theirs if UUID(row.data["participant_id"]) in found.people]
    left, redactor, marks = [row.data for row in rest], found.redactor, found.marks
    for row in theirs:
        data = redactor.redacted(row.data)
        only_the_person_went(made, who, row.data, data)
        left.append(data)
    still = {(one, text) for data in left for text in texts(data) for one in marks.found_in(text)}
    assert still == set(), "a proof must not fail on what others said"
    others = {word for data in left for text in texts(data) for word in words_of(text)}
    said = any(made.secrets[who] in text for row in made.rows if found.is_own(row) for text in said_by(row, who, made))
    if said and made.secrets[who] not in others:
        assert made.secrets[who] in marks.words, "what only they said is searched for"


def said_by(row: EventRow, who: str, made: Population) -> list[str]:
    own = row.data.get("participant_id") == str(made.id(who))
    return [row.data["text"]] if own and row.type == EmailRead.TYPE else []


def only_the_person_went(made: Population, who: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Every word but those of the person's address and name is where it was; what is structure is the same."""
    for name in ("mail_id", "participant_id", "message_id", "author", "attachments"):
        assert after.get(name) == before.get(name)
    if "to" in before:
        assert [one["addr"] for one in after["to"]] == [
            one["addr"] for one in before["to"] if one["addr"].lower() != who
        ]
        others = {one.lower() for whose, some in made.message_ids.items() if whose != who for one in some}
        ids = {one.lower() for one in made.message_ids.get(who, ())} - others
        kept_ids = [one for one in before["references"] if one.lower() not in ids]
        assert [one for one in after["references"] if one.lower() not in ids] == kept_ids
        assert after["participants"] == [one for one in before["participants"] if one != who]
    address = re.compile(rf"(?<![\w.+'-]){re.escape(who)}(?![\w-]|\.\w)", re.IGNORECASE)
    assert not address.search(after["text"])
    names = {one for row in made.rows if is_mail_of(row, who, made) for one in words_of(row.data["author"]["name"])}
    missing = count(words_of_text(before["text"])) - count(words_of_text(after["text"]))
    assert set(missing) <= names | words_of(who)
    for victim in set(made.people) - {who}:
        theirs = re.compile(rf"(?<![\w.+'-]){re.escape(victim)}(?![\w-]|\.\w)", re.IGNORECASE)
        assert len(theirs.findall(after["text"])) == len(theirs.findall(before["text"])), "another's address is whole"


def is_mail_of(row: EventRow, who: str, made: Population) -> bool:
    return bool(row.type == EmailRead.TYPE and row.data["participant_id"] == str(made.id(who)))


def words_of_text(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def count(said: list[str]) -> Counter[str]:
    return Counter(said)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_an_erase_touches_nothing_of_anybody_else(block: int) -> None:
    """Of what others own nothing changes; of what they wrote to the person only the person's address and own name goes;
    and the proof searches for nothing that somebody else said."""
    for seed in range(block, POPULATIONS, BLOCKS):
        made = population(seed)
        for who in made.people[:2]:  # in no order, attacker and victim among them
            check(made, who)


def test_a_stolen_display_name_and_message_id_take_nothing_from_the_victim() -> None:
    """The attacker's name is the victim's address, his Message-ID the victim's; the victim's mail to him stays whole."""
    bob, mallory = "bob@brackwater.example", "mallory@evil.example"
    made = Population(
        Random(1), [bob, mallory], {bob: "Bob Brackwater", mallory: bob}, {bob: "88123", mallory: "41234"}
    )
    writes(made, mallory, 4, name="Bob Brackwater", id=bob, text="I am Bob Brackwater.")
    made.random.random = lambda: 0.0  # type: ignore[method-assign]
    writes(
        made,
        bob,
        1,
        id="b1@x.example",
        text="My order number is 88123, says Bob Brackwater <bob@brackwater.example>.",
    )
    writes(made, mallory, 2, name=bob, id="b1@x.example", text="order number 88123")
    writes(made, mallory, 3, name="Order Number", id="order number", text="order number 88123")
    learned(made, bob)
    found, theirs, _ = surveyed(made, mallory)
    [mail] = [row.data for row in theirs if row.type == EmailRead.TYPE]
    left = found.redactor.redacted(mail)
    assert {**left, "to": mail["to"], "participants": mail["participants"]} == mail
    assert left["to"] == []
    check(made, mallory)
