"""People whose addresses only full case folding makes one: apart in memory and mail, from now on and from before."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from deploy.local import Endpoints
from services.core.ids import former_participant_id
from services.operations.erase.person import SharesKey, person
from services.operations.mailboxes import give_mailbox_keys
from services.operations.rebuild import run as rebuild
from services.operations.rebuild.scopes import scope
from services.send_email.apply import SQL as SENDING
from tests.support.remembering import Memory, fact, remembering

WEISS, SHARP = "weiss@kunde.example", "Weiß@kunde.example"
PAIRS = [(WEISS, SHARP), ("kelvin@kunde.example", "\u212aelvin@kunde.example"), ("sam@kunde.example", "\u017fam@kunde.example"),
         ("office@kunde.example", "o\ufb03ce@kunde.example")]  # fmt: skip


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as opened:
        yield opened


async def recipient(memory: Memory, mail: dict[str, Any]) -> str:
    """Whom a reply to the mail goes to."""
    (row,) = await memory.rows(SENDING.newest_mail, mail_ids=[mail["mail_id"]])
    address: str = row["author_addr"]
    return address


@pytest.mark.parametrize(("one", "other"), PAIRS)
async def test_two_mailboxes_that_folding_joins_are_two_people(memory: Memory, one: str, other: str) -> None:
    """Neither is shown or overwrites the other's facts, and each is answered at the address as they write it."""
    first = await memory.tell("My plan is Gold.", fact("plan", "Gold", "My plan is Gold."), on=0, sender=one)
    second = await memory.tell("My plan is Basic.", fact("plan", "Basic", "My plan is Basic."), on=1, sender=other)
    assert first["participant_id"] != second["participant_id"]
    assert first["thread_id"] != second["thread_id"]
    assert [await memory.current(addr=addr) for addr in (one, other)] == [["Gold"], ["Basic"]]
    assert [await recipient(memory, mail) for mail in (first, second)] == [one, other]


async def test_spellings_of_one_mailbox_are_one_person(memory: Memory) -> None:
    """ASCII case and the two forms of an international domain; the answer goes to the address as it was written."""
    first = await memory.tell(
        "My plan is Gold.", fact("plan", "Gold", "My plan is Gold."), on=0, sender="Ann@münchen.example"
    )
    second = await memory.mail("Hi.", on=1, sender="aNN@XN--mnchen-3ya.example")
    assert first["participant_id"] == second["participant_id"]
    assert await memory.current(addr="ann@münchen.example") == ["Gold"]
    assert await recipient(memory, second) == "aNN@xn--mnchen-3ya.example"


async def of_before(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> dict[str, UUID]:
    """Two people as an older release kept them: under one id, made by full folding."""

    def folded(workspace: str, mailbox: str, space: str = "") -> UUID:
        return former_participant_id(workspace, mailbox)

    with monkeypatch.context() as patch:
        patch.setattr("services.read_email.handler.participant_id", folded)
        patch.setattr("services.core.bus.sealing.participant_id", folded)
        patch.setattr("services.read_email.apply.author_id", lambda workspace, address, stored: stored)
        await memory.tell("My plan is Gold.", fact("plan", "Gold", "My plan is Gold."), on=0, sender=WEISS)
        await memory.tell("I live in Bonn.", fact("city", "Bonn", "I live in Bonn."), on=1, sender=WEISS)
        mail = await memory.mail("My plan is Basic, and my cat is Mia.", on=2, sender=SHARP)
        facts = fact("plan", "Basic", "My plan is Basic"), fact("pet", "Mia", "my cat is Mia")
        await memory.learn(mail, *facts, brief="They love their cat.")
        await memory.tell("I live in Bonn.", fact("city", "Bonn", "I live in Bonn."), on=3, sender=SHARP)
    async with memory.app.database.transaction(memory.workspace) as conn:
        await conn.execute("UPDATE mails SET author_written = '', author_addr = %(a)s", {"a": WEISS})
    ids = {row["participant_id"] for row in await memory.rows("SELECT participant_id FROM mails")}
    assert ids == {memory.person(WEISS)}
    return {addr: memory.person(addr) for addr in (WEISS, SHARP)}


async def test_people_of_before_who_shared_an_id_are_taken_apart(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the upgrade each has what their own mails say, what was overwritten stands again, and shared texts are gone."""
    await of_before(memory, monkeypatch)
    assert await memory.current(addr=WEISS) == ["Basic"]
    assert await give_mailbox_keys(memory.app) == 2
    await memory.settle()
    assert [await memory.current(addr=addr) for addr in (WEISS, SHARP)] == [["Gold"], ["Basic"]]
    assert [await memory.current("pet", addr) for addr in (WEISS, SHARP)] == [[], ["Mia"]]
    assert [await memory.current("city", addr) for addr in (WEISS, SHARP)] == [["Bonn"], ["Bonn"]]
    mails = await memory.rows("SELECT mail_id, participant_id, author_written FROM mails ORDER BY received_at")
    assert [row["participant_id"] for row in mails] == [memory.person(one) for one in (WEISS, WEISS, SHARP, SHARP)]
    assert [await recipient(memory, row) for row in mails] == [WEISS, WEISS, SHARP, SHARP]
    assert [row["text"] for row in await memory.rows("SELECT text FROM briefs")] == [""]
    who = await memory.rows("SELECT addr FROM participants WHERE participant_id = %(id)s", id=memory.person(SHARP))
    assert [row["addr"] for row in who] == [SHARP]


async def test_taking_apart_is_done_once_and_survives_a_kill(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before its end it goes on at the next start; done, it changes nothing; a rebuild gives the same tables."""
    await of_before(memory, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr("services.operations.mailboxes.BATCH", 1)
        patch.setattr("services.operations.mailboxes.publish", _killed)
        with pytest.raises(Killed):
            await give_mailbox_keys(memory.app)
    await give_mailbox_keys(memory.app)
    await memory.settle()
    state = await memory.state()
    assert await give_mailbox_keys(memory.app) == 0
    await memory.settle()
    assert await memory.state() == state
    assert [await memory.current(addr=addr) for addr in (WEISS, SHARP)] == [["Gold"], ["Basic"]]
    found = await rebuild.check(memory.app.settings, scope("all"), lambda count: None)
    assert not found.differences


async def test_an_erase_reaches_what_was_stored_under_the_former_id(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old mails are sealed with the key of the id of then: alone under it, it is destroyed with them; shared, it is said."""
    who = await of_before(memory, monkeypatch)
    await give_mailbox_keys(memory.app)
    await memory.settle()
    with pytest.raises(SharesKey, match=str(who[WEISS])):
        await person(memory.app, SHARP)
    assert (await person(memory.app, WEISS))[0] == {who[WEISS]}
    async with memory.app.database.transaction(memory.workspace) as conn:
        await conn.execute("DELETE FROM mails WHERE participant_id = %(id)s", {"id": who[WEISS]})
    assert (await person(memory.app, SHARP))[0] == {who[WEISS], who[SHARP]}


class Killed(BaseException):
    """The process is gone."""


async def _killed(app: object, envelopes: list[object]) -> None:
    if envelopes:
        raise Killed
