"""One campaign: people write and are answered, the attacks come, the people write again; what was seen of all that."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import cache
from typing import Any

from services.mail.reports.automatic.judgement import UNREAD
from tests.security import attacks, late_attacks, more_attacks
from tests.security.attacks import Arsenal, Attack, Category, Victim, orders, secret_of
from tests.security.mails import RawMail, proven, signed, write
from tests.security.matrix import Cell, cells
from tests.security.more_attacks import unsigned_id
from tests.security.product import Product
from tests.security.script import obedient
from tests.support.scripted_model import Seen
from tests.support.smtp_server import Kept

FOLDED = {  # a letter that full case folding, or compatibility forms, make another
    "weiss": "weiß@fold.example",
    "kim": "\u212aim@fold.example",
    "sam": "\u017fam@fold.example",
    "fitz": "\ufb01tz@fold.example",
    "anna": "\u0430nna@fold.example",
    "vera": "ｖera@fold.example",
    "oskar": "\u043eskar@fold.example",
    "ines": "\u0131nes@fold.example",
}
NAMES: dict[Category, tuple[str, ...]] = {
    "from": ("abel", "bela", "cleo", "dora", "emil", "fina", "gero", "hedi"),
    "folding": tuple(FOLDED),
    "results": ("ilka", "jana", "karl"),
    "replay": ("lena", "mark"),
    "token": ("nora", "otto"),
    "hijack": ("pina", "quentin"),
    "quota": ("rosa",),
    "poison": ("sven", "tilda", "udo", "viola"),
    "header": ("wanda", "xaver", "yara", "zeno"),
    "odd results": ("arno", "berta", "cosmo"),
    "copies": ("dario", "elsa"),
    "further tokens": ("falk", "greta"),
    "colleague": ("hanno", "ilse"),
    "content": ("jonas", "karla"),
    "neighbour": ("liv", "moritz", "nele"),
    "report": ("olga", "paul"),
    "wrapped": ("quirin", "rieke"),
}
CACHED = {"embedding", "embedding_model", "words"}  # columns that are made of a row's text, some time after it
TABLES = {  # what is written about somebody, and by which id it is theirs
    "facts": "participant_id",
    "fact_sources": "participant_id",
    "participants": "participant_id",
    "participant_log": "participant_id",
    "participant_issues": "participant_id",
    "sessions": "participant_id",
    "briefs": "participant_id",
    "brief_divergences": "participant_id",
    "relations": "participant_id",
    "threads": "thread_id",
    "turns": "thread_id",
    "conversation": "thread_id",
    "conversation_passages": "thread_id",
    "goals": "thread_id",
    "thread_log": "thread_id",
    "thread_actions": "thread_id",
    "thread_summaries": "thread_id",
}
Snapshot = dict[str, list[str]]
Row = Mapping[str, Any]


@dataclass
class Campaign:
    """What was sent, and what was seen of it."""

    victims: dict[Category, list[Victim]]
    arsenal: Arsenal
    product: Product
    cells: list[Cell]
    before: dict[str, Snapshot] = field(default_factory=dict)
    after: dict[str, Snapshot] = field(default_factory=dict)
    second: dict[str, RawMail] = field(default_factory=dict)

    @property
    def prompts(self) -> list[Seen]:
        """Every question to the model."""
        return self.product.around.model.requests

    @property
    def sent(self) -> list[Kept]:
        """Every mail that left."""
        return self.product.around.smtp.accepted

    def attacks(self, category: Category) -> list[Attack]:
        """Those of one category."""
        return [one for one in self.arsenal.made if one.category == category]


@cache
def parsed(kept: Kept) -> EmailMessage:
    """A mail that left; each is looked at for every rule."""
    message = message_from_bytes(kept.raw, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


def answered(kept: Kept) -> str:
    """The Message-ID that a mail of ours answers, without brackets."""
    return str(parsed(kept)["In-Reply-To"] or "").strip().strip("<>")


@cache
def text_of(kept: Kept) -> str:
    """All that a reader of a mail of ours sees: its subject and its bodies."""
    message = parsed(kept)
    return "\n".join([str(message["Subject"]), *(str(part.get_content()) for part in message.iter_parts())])


def run(product: Product) -> Campaign:
    """The whole campaign."""
    product.around.model.script(obedient)
    victims = {category: [_person(category, name) for name in names] for category, names in NAMES.items()}
    campaign = Campaign(victims, Arsenal(), product, cells())
    everybody = [one for group in victims.values() for one in group]
    count = _seeds(campaign)
    for one in everybody:
        product.post(one.first.raw)
    for cell in campaign.cells:
        for person in cell.people:
            product.post(person.first.raw)
            count += 1
    count += len(everybody)
    product.settle(count)
    _learn_replies(campaign)
    campaign.before = snapshots(campaign)
    _aim(campaign)
    count += _fire(campaign)
    product.settle(count)
    campaign.after = snapshots(campaign)
    for category, group in campaign.victims.items():
        for one in group:
            made = signed if category in ("replay", "copies") else proven
            campaign.second[one.name] = made("Is there any news? AFTER", one.address, reply_to=one.reply_id)
            product.post(campaign.second[one.name].raw)
            count += 1
    product.settle(count)
    return campaign


def _person(category: Category, name: str) -> Victim:
    signing = {"replay": signed, "copies": unsigned_id}
    domain = "signed.example" if category in signing else {"folding": "fold.example"}.get(category, "acme.example")
    address = f"{name}@{domain}"
    text = f"Hello, I am {name}. Our vault code is {secret_of(name)}."
    made = signing.get(category, proven)
    return Victim(name, address, made(text, address, message_id=f"first-{name}@{domain}"))


def _seeds(campaign: Campaign) -> int:
    """What comes before the victim's first mail: an id that they will use, or refer to."""
    people = campaign.victims["poison"]
    for number, one in enumerate(people):
        referred = f"seed{number}@evil.example"
        own, eves = number == 0, number == 2
        if not own:
            text = f"Hello, I am {one.name}. Our vault code is {one.secret}."
            people[number] = one = replace(
                one, first=proven(text, one.address, message_id=one.first.message_id, reply_to=referred)
            )

        def made(text: str, one: Victim = one, own: bool = own, eves: bool = eves, id: str = referred) -> RawMail:
            if eves:
                return proven(text, attacks.EVIL, message_id=id, headers=(f"Cc: {one.address}",))
            return write(text, one.address, message_id=one.first.message_id if own else id)

        campaign.arsenal.add("poison", f"before {one.name}", one, made, attacks.EVIL if eves else "")
    for attack in campaign.arsenal.made:
        campaign.product.post(attack.message.raw)
    campaign.product.settle(len(campaign.arsenal.made))
    return len(campaign.arsenal.made)


def _learn_replies(campaign: Campaign) -> None:
    time.sleep(UNREAD.total_seconds() + 1)  # what answers ours sooner is a colleague's, whatever it is
    replies = {answered(one): one.message_id for one in campaign.sent}
    for category, group in campaign.victims.items():
        campaign.victims[category] = [replace(one, reply_id=replies.get(one.first.message_id, "")) for one in group]
    campaign.cells = [
        replace(cell, people=tuple(replace(one, reply_id=replies.get(one.first.message_id, "")) for one in cell.people))
        for cell in campaign.cells
    ]


def _aim(campaign: Campaign) -> None:
    people, arsenal = campaign.victims, campaign.arsenal
    attacks.spoofing(arsenal, people["from"])
    attacks.folding(arsenal, [(one, FOLDED[one.name]) for one in people["folding"]])
    attacks.forged_results(arsenal, people["results"])
    attacks.replays(arsenal, people["replay"], {one.name: one.first for one in people["replay"]})
    attacks.tokens(arsenal, people["token"])
    attacks.hijacks(arsenal, people["hijack"])
    attacks.floods(arsenal, people["quota"])
    more_attacks.headers(arsenal, people["header"])
    more_attacks.odd_results(arsenal, people["odd results"])
    more_attacks.copies(arsenal, people["copies"])
    more_attacks.further_tokens(arsenal, people["further tokens"])
    more_attacks.colleagues(arsenal, people["colleague"])
    more_attacks.hidden_content(arsenal, people["content"])
    late_attacks.neighbours(arsenal, people["neighbour"])
    late_attacks.reports(arsenal, people["report"])
    late_attacks.wrapped(arsenal, people["wrapped"])


def _fire(campaign: Campaign) -> int:
    """Send every attack that was not sent yet: by webhook to two inboxes, and each fourth by IMAP."""
    fresh = [one for one in campaign.arsenal.made if not one.what.startswith("before ")]
    for number, attack in enumerate(fresh):
        if number % 4 == 3:
            campaign.product.deliver(attack.message.raw)
        else:
            campaign.product.post(attack.message.raw, inbox="desk" if number % 4 == 1 else "support")
    for number, cell in enumerate(campaign.cells):
        message = cell.aimed(orders(cell.word, cell.people[-1]))
        campaign.cells[number] = replace(cell, message=message)
        campaign.product.post(message.raw)
    return len(fresh) + len(campaign.cells)


def snapshots(campaign: Campaign) -> dict[str, Snapshot]:
    """What is written about each person, and in their threads."""
    people = [one for group in campaign.victims.values() for one in group]
    people += [one for cell in campaign.cells for one in cell.people]
    mails = campaign.product.rows("SELECT message_id, author_addr, thread_id, participant_id FROM mails WHERE trusted")
    tables = {table: campaign.product.rows(f"SELECT * FROM {table}") for table in TABLES}
    return {one.name: _written(one, mails, tables) for one in people}


def _written(one: Victim, mails: Sequence[Row], tables: Mapping[str, Sequence[Row]]) -> Snapshot:
    theirs = [
        mail for mail in mails if (mail["message_id"], mail["author_addr"]) == (one.first.message_id, one.address)
    ]
    written = {}
    for table, key in TABLES.items():
        ids = {mail[key] for mail in theirs if mail[key] is not None}
        rows = [row for row in tables[table] if row[key] in ids]
        written[table] = sorted(repr(sorted((name, row[name]) for name in row.keys() - CACHED)) for row in rows)
    return written
