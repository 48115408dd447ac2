"""The handler of read_email on real tables: whose mail it is, and what a reply token is worth after a rotation."""

from __future__ import annotations

import io
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest

from deploy.local import Endpoints
from schemas.events.mail import EmailRead
from services.core.bus import history
from services.core.bus.runner import Runner
from services.core.db import fetch_all
from services.core.house import House, open_house
from services.core.mail.tokens import Keyring, make_token, own_message_id, plus_address
from services.core.settings import Settings
from services.load_memory.layers import mail as layer
from services.load_memory.turn import Turn, load_mails
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
    return await read_taken(house, taken.mail_id)


async def read_taken(house: House, mail_id: UUID) -> EmailRead:
    """A mail that has been let in, read."""
    (received,) = await events_of(house, mail_id)
    await Runner(PROCESSOR, house).process(history.envelope(received))
    (read,) = [row for row in await events_of(house, mail_id) if row["version"]]
    data = history.envelope(read).data
    assert isinstance(data, EmailRead)
    return data


async def events_of(house: House, mail_id: UUID) -> list[dict[str, Any]]:
    query = "SELECT * FROM events WHERE data ->> 'mail_id' = %(id)s ORDER BY version"
    async with house.database.reading() as conn:
        return await fetch_all(conn, query, {"id": str(mail_id)})


def with_files(*files: tuple[str, bytes], text: str = "See the files.") -> bytes:
    """A mail with attachments, by name and content."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Message-ID"] = ANN, INBOX["address"], "<files@acme.example>"
    mail.set_content(text)
    for name, content in files:
        mail.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return mail.as_bytes()


def zipped(name: str, *, encrypted: bool = False) -> bytes:
    """An archive with one file; `encrypted` sets the mark that a password is needed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, b"inside")
    content = bytearray(out.getvalue())
    if encrypted:
        content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def turn_of(house: House, mail: dict[str, Any]) -> Turn:
    """A turn about one mail."""
    inbox = house.settings.inboxes[0]
    return Turn(house, house.settings.workspace, mail["received_at"], uuid4(), None, inbox, (mail,), np.zeros(384))


async def test_attachments_are_read_by_what_they_are(house: House) -> None:
    """Words of a text, names in an archive, and why something was not read; the mail is answered with them."""
    files = (
        ("orders.csv", b"order,state\n4711,lost\n"),
        ("photos.zip", zipped("lamp.jpg")),
        ("x.bin", b"\x01\x02\x03"),
    )
    read = await read_in(house, with_files(*files))
    assert [one.text for one in read.attachments] == ["order,state\n4711,lost", "lamp.jpg (6 bytes)", ""]
    assert [bool(one.unread) for one in read.attachments] == [False, False, True]
    assert [await house.blobs.get(one.blob) for one in read.attachments] == [content for _, content in files]
    assert read.verdict.kind == "answer"
    async with house.database.reading() as conn:
        (mail,) = await load_mails(conn, [read.mail_id])
        shown = (await layer.load(turn_of(house, mail), conn)).entries[0].text
    assert "Attachment orders.csv (text/csv, 22 bytes):\norder,state\n4711,lost" in shown
    assert "Attachment x.bin (application/octet-stream, 3 bytes): not read, " in shown


async def test_an_encrypted_attachment_is_for_a_human(house: House) -> None:
    """The agent cannot know what it says, so it does not pretend to have read it."""
    read = await read_in(house, with_files(("orders.zip", zipped("orders.csv", encrypted=True))))
    assert (read.verdict.kind, read.verdict.filter) == ("human", "unreadable")
    assert "orders.zip is encrypted" in read.verdict.reason


async def test_what_attachments_say_has_its_room(house: House) -> None:
    """8,000 characters a mail, the first files first, each cut one marked; ten files are opened, the rest are kept."""
    files = tuple((f"{number}.txt", b"word " * 1000) for number in range(12))
    read = await read_in(house, with_files(*files))
    assert [len(one.text) for one in read.attachments] == [4999, 3001, *[0] * 10]
    assert [one.cut for one in read.attachments] == [False, *[True] * 9, False, False]
    assert len({one.blob for one in read.attachments}) == 1


async def test_attachments_that_nobody_will_answer_are_not_opened(house: House) -> None:
    """History, and what colleagues sent, is stored whole and costs no child process."""
    raw, inbox = with_files(("orders.csv", b"a,b\n")), house.settings.inbox("support")
    taken = await accept(house, inbox, raw, source="file", source_key="old", mode="history")
    read = await read_taken(house, taken.mail_id)
    assert [(one.text, one.unread) for one in read.attachments] == [("", "")]


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


def letters(count: int, **parts: Any) -> list[bytes]:
    """Mails with words and ids of their own."""
    return [letter(f"Word {n}.", **{"sender": ANN, "message_id": f"<{n}@acme.example>"} | parts) for n in range(count)]


async def test_a_sender_over_the_rate_is_parked_and_another_is_not(house: House) -> None:
    """The numbers are settings; what is over one is set aside with it as the reason."""
    strict = changed(house, limits={"sender_per_hour": 2})
    read = [await read_in(strict, raw) for raw in letters(3)]
    other = await read_in(strict, letter("Hi", sender="ben@acme.example", message_id="<ben@acme.example>"))
    assert [one.verdict.kind for one in (*read, other)] == ["answer", "answer", "park", "answer"]
    assert (read[2].verdict.filter, "more than 2 mails" in read[2].verdict.reason) == ("rates", True)


async def test_the_global_breaker_opens_for_everybody(house: House) -> None:
    """However many senders there are, and however new."""
    strict = changed(house, limits={"all_per_hour": 2})
    senders = [f"{name}@acme.example" for name in ("ann", "ben", "cem")]
    raws = [letter(f"From {one}", sender=one, message_id=f"<{one}>") for one in senders]
    read = [await read_in(strict, raw) for raw in raws]
    assert [one.verdict.kind for one in read] == ["answer", "answer", "park"]
    assert "global breaker" in read[2].verdict.reason


async def test_the_same_words_again_and_again_are_a_storm(house: House) -> None:
    """Under new ids each time, from one sender: two robots, or a form gone mad."""
    raws = [letter("Help", sender=ANN, message_id=f"<{n}@acme.example>") for n in range(4)]
    read = [await read_in(house, raw) for raw in raws]
    assert [one.verdict.kind for one in read] == ["answer"] * 3 + ["loop"]
    assert read[3].verdict.filter == "storm"


async def test_history_counts_for_no_limit(house: House) -> None:
    """An import of years of mail opens no breaker."""
    strict, inbox = changed(house, limits={"all_per_hour": 1}), house.settings.inbox("support")
    for number, raw in enumerate(letters(3)):
        taken = await accept(house, inbox, raw, source="file", source_key=f"old-{number}", mode="history")
        assert (await read_taken(strict, taken.mail_id)).verdict.kind == "answer"
    live = letter("Now", sender=ANN, message_id="<now@acme.example>")
    assert (await read_in(strict, live)).verdict.kind == "answer"
