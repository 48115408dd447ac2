"""The mails of `tests/security`, each read alone: whom it proves, and whose thread it joins. Seconds where the campaign takes minutes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from deploy.local import Endpoints
from services.core.app import App
from services.core.mailbox import MailboxKey
from services.mail.authentication.results import Level
from services.mail.tokens import make_token, own_message_id
from tests.flow.scenario import AUTHSERV
from tests.integration.test_read_email import read_in
from tests.security import attacks, more_attacks
from tests.security.attacks import Arsenal, Victim, secret_of
from tests.security.mails import RawMail, proven, zone_of
from tests.support.app import INBOX, settings_for
from tests.support.brokerless import opened_brokerless

DOMAINS = ("acme.example", "evil.example", "signed.example")
BOXES = [{**INBOX, "vouched_by": "", "address": "support@ourcompany.example"}]


class Names:
    """A DNS that holds the keys and policies of the campaign's domains."""

    records = zone_of(*DOMAINS)

    def lookup(self, name: str, kind: str) -> tuple[str, ...]:
        """The TXT record of a name."""
        return (self.records[name],) if kind == "TXT" and name in self.records else ()


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    settings = settings_for(
        stack, database, topic_prefix, tmp_path, inboxes=BOXES, own_authserv_ids=[AUTHSERV], secret="x" * 32
    )
    async with opened_brokerless(settings) as opened:
        yield replace(opened, resolver=Names())


async def victims(app: App, domain: str, *names: str) -> tuple[list[Victim], set[object]]:
    """People who wrote once, proven, and were answered; with the threads that are theirs."""
    made, threads = [], set()
    for name in names:
        address = f"{name}@{domain}"
        write = more_attacks.unsigned_id if domain == "signed.example" else proven
        first = write(f"Our vault code is {secret_of(name)}.", address, message_id=f"first-{name}@{domain}")
        read = await read_in(app, first.raw)
        assert (read.identity.level, read.verdict.kind) == ("verified", "answer"), read.identity
        token = make_token(app.signing_keys, app.settings.workspace, read.thread_id, MailboxKey(address))
        made.append(Victim(name, address, first, own_message_id(token, uuid4(), "ourcompany.example")))
        threads.add(read.thread_id)
    return made, threads


async def judged(app: App, arsenal: Arsenal, threads: set[object]) -> list[str]:
    """What is wrong with how the mails were read."""
    wrong = []
    for one in arsenal.made:
        read = await read_in(app, one.message.raw)
        author = read.author.addr if read.author else ""
        level: Level | str = read.identity.level
        if read.identity.trusted and author != one.proves and read.verdict.kind != "duplicate":
            wrong.append(f"{one.what}: {author} is {level} ({read.identity.reasons[:1]})")
        if read.thread_id in threads and read.verdict.kind not in ("duplicate", "park", "loop"):
            wrong.append(f"{one.what}: stands in the victim's thread as {read.verdict.kind}, {level}")
        if read.report and read.report.reply_id:
            wrong.append(f"{one.what}: is believed as a report")
    return wrong


async def test_no_header_or_result_makes_a_stranger_a_customer(app: App) -> None:
    """From in spellings that programs read differently, and results in our server's name that it did not write."""
    people, threads = await victims(app, "acme.example", "wanda", "xaver", "yara", "zeno")
    arsenal = Arsenal()
    more_attacks.headers(arsenal, people)
    more_attacks.odd_results(arsenal, people)
    assert await judged(app, arsenal, threads) == []


async def test_no_token_report_or_hidden_text_reaches_a_customers_thread(app: App) -> None:
    """The token of our reply in odd places, our own name, reports, and orders in what a reader does not see."""
    people, threads = await victims(app, "acme.example", "falk", "greta")
    arsenal = Arsenal()
    more_attacks.further_tokens(arsenal, people)
    more_attacks.colleagues(arsenal, people)
    more_attacks.hidden_content(arsenal, people)
    assert await judged(app, arsenal, threads) == []


async def test_no_copy_of_a_signed_mail_is_read_again(app: App) -> None:
    """Whatever may be changed about it: a duplicate, or proven no more."""
    people, threads = await victims(app, "signed.example", "dario", "elsa")
    arsenal = Arsenal()
    more_attacks.copies(arsenal, people)
    attacks.replays(arsenal, people, {one.name: one.first for one in people})
    assert await judged(app, arsenal, threads) == []
    assert isinstance(arsenal.made[0].message, RawMail)
