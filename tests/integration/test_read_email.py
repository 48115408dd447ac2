"""The handler of read_email on real tables: whose mail it is, and what a reply token is worth after a rotation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from deploy.local import Endpoints
from schemas.events.mail import EmailRead
from services.core.bus import history
from services.core.bus.runner import Runner
from services.core.db import fetch_all
from services.core.house import House, open_house
from services.core.mail.tokens import Keyring, make_token, own_message_id, plus_address
from services.core.settings import Settings
from services.process import prepare
from services.read_email import PROCESSOR
from services.receive_email.accept import accept
from tests.support.house import INBOX, settings_for
from tests.support.letters import letter

ANN = "ann@acme.example"
FORMER, NEWEST = "a secret of last year's, still known", "the secret of this year, quite long"
SUPPORT, BILLING = {**INBOX, "vouched_by": ""}, {"name": "billing", "address": "billing@ourcompany.example"}


@pytest.fixture
async def house(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[House]:
    settings = settings_for(stack, database, topic_prefix, tmp_path, inboxes=[SUPPORT, BILLING], secret=NEWEST)
    await prepare(settings)
    async with open_house(settings) as opened:
        yield opened


def changed(house: House, **changes: object) -> House:
    """The same house with other settings."""
    return replace(house, settings=Settings.model_validate({**house.settings.model_dump(), **changes}))


async def read_in(house: House, raw: bytes, inbox: str = "support") -> EmailRead:
    """A mail let in at an inbox and read."""
    taken = await accept(house, house.settings.inbox(inbox), raw, source="file", source_key=str(uuid4()))
    runner, query = Runner(PROCESSOR, house), "SELECT * FROM events WHERE data ->> 'mail_id' = %(id)s ORDER BY version"
    async with house.database.reading() as conn:
        (received,) = await fetch_all(conn, query, {"id": str(taken.mail_id)})
        await runner.process(history.envelope(received))
        (read,) = [row for row in await fetch_all(conn, query, {"id": str(taken.mail_id)}) if row["version"]]
    data = history.envelope(read).data
    assert isinstance(data, EmailRead)
    return data


@pytest.mark.parametrize("where", ["Message-ID", "plus-address"])
@pytest.mark.parametrize(("former", "honoured"), [((FORMER,), True), ((), False)])
async def test_a_token_of_a_former_secret_is_honoured_as_long_as_that_is_listed(
    house: House, where: str, former: tuple[str, ...], honoured: bool
) -> None:
    """A customer who answers a mail of before the rotation comes into the same thread, and is trusted for it."""
    thread = uuid4()
    token = make_token(Keyring((FORMER.encode(),)), house.settings.workspace, thread, ANN)
    ours = own_message_id(token, uuid4(), "ourcompany.example") if where == "Message-ID" else ""
    to = INBOX["address"] if ours else plus_address(INBOX["address"], token)
    answer = letter("Thanks.", sender=ANN, to=to, in_reply_to=f"<{ours}>" if ours else "")
    read = await read_in(changed(house, former_secrets=former), answer)
    assert (read.thread_id == thread, read.identity.reply_token, read.identity.trusted) == (honoured,) * 3


async def test_the_newest_secret_alone_makes_tokens(house: House) -> None:
    """Former ones prove what was sent before, and sign nothing any more."""
    keyring = changed(house, former_secrets=(FORMER,)).keyring
    args = ("main", UUID(int=1), ANN)
    assert make_token(keyring, *args) == make_token(Keyring((NEWEST.encode(),)), *args)
    assert make_token(keyring, *args) != make_token(Keyring((FORMER.encode(),)), *args)


@pytest.mark.parametrize("order", [("support", "billing"), ("billing", "support")])
async def test_a_mail_to_several_inboxes_is_the_first_addressed_ones(house: House, order: tuple[str, str]) -> None:
    """Whichever copy is read first, one is answered, by the inbox addressed first; the other is a duplicate."""
    raw = letter("Both of you?", sender=ANN, to=f"{BILLING['address']}, {SUPPORT['address']}")
    first, second = [await read_in(house, raw, inbox) for inbox in order]
    assert (first.inbox, first.verdict.kind) == ("billing", "answer")
    assert (second.inbox, second.verdict.kind) == (order[1], "duplicate")


async def test_a_mail_that_names_no_inbox_is_the_ones_that_got_it(house: House) -> None:
    """A blind copy, or a forwarded address, is answered where it came in."""
    read = await read_in(house, letter("Hi", sender=ANN, to="info@elsewhere.example"), "billing")
    assert (read.inbox, read.verdict.kind) == ("billing", "answer")


async def test_a_paused_inbox_gets_no_mail_of_another(house: House) -> None:
    """What is addressed to it first, and to another of ours, is answered by the one that is read."""
    paused = changed(house, inboxes=[{**SUPPORT, "paused": True}, BILLING])
    read = await read_in(paused, letter("Hi", sender=ANN, to=f"{SUPPORT['address']}, {BILLING['address']}"), "billing")
    assert (read.inbox, read.verdict.kind) == ("billing", "answer")
