"""A person is erased: nothing of them is found in any store, nothing of anybody else is lost, and the fold agrees."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from services.core.bus import history
from services.core.db import fetch_all
from services.core.db.migrate import migrate
from services.core.house import House
from services.core.ids import participant_id
from services.core.keys import Erased
from services.tools.erase.export import export
from services.tools.erase.person import person
from services.tools.erase.proof import prove
from services.tools.erase.run import erase, finish
from services.tools.erase.survey import Survey, survey
from services.tools.fold import fold, state_hash
from services.tools.rebuild.beside import connected
from services.tools.settle import settle
from tests.support.remembered_people import ADA, BOB, CARL, SECRET, remembered, write
from tests.support.stack import fresh_database

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture
async def house(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[House]:
    async with remembered(stack, database, topic_prefix, tmp_path) as one:
        yield one


async def found(house: House, who: str) -> Survey:
    people, names = await person(house, who)
    async with house.database.reading() as conn:
        return await survey(conn, house.settings.workspace, people, names)


async def rows(house: House, query: str, **args: Any) -> list[dict[str, Any]]:
    async with house.database.reading() as conn:
        return await fetch_all(conn, query, args)  # type: ignore[arg-type]


async def differences(house: House, stack: Endpoints) -> set[str]:
    """The tables that a fold of the history makes otherwise than they are."""
    with fresh_database(stack.database) as url:
        migrate(url)
        async with house.database.reading() as conn:
            await fold(conn, url)
            live = await state_hash(conn)
        async with connected(url) as target:
            folded = await state_hash(target)
    return {name for name in live if live[name] != folded[name]}


async def test_nothing_of_an_erased_person_is_left_and_nothing_of_the_others_is_lost(
    house: House, stack: Endpoints, tmp_path: Path
) -> None:
    """Ada is found everywhere before and nowhere after; Bob, Carl and the documents are as they were."""
    ada = await found(house, ADA)
    marks = ada.marks
    assert {ADA, "ada quillfeather"} <= marks.phrases
    assert {SECRET, "88123", "quillfeather"} <= marks.words
    assert "77456" not in marks.words
    before = await prove(house, marks)
    assert {one.place.split()[0] for one in before.findings} >= {"table", "topic", "blob"}

    done = await erase(house, ada, by="the test")
    await settle(house, timeout_s=120)

    assert done.events > 20
    after = await prove(house, marks)
    assert after.findings == ()
    assert min(after.read.values()) > 0 or after.read["cache"] == 0
    assert await differences(house, stack) == set()
    mails = await rows(house, "SELECT author_addr, text, recipients FROM mails ORDER BY received_at")
    assert [one["author_addr"] for one in mails] == [BOB, BOB, CARL]
    assert "77456" in mails[0]["text"]
    assert ADA not in mails[0]["recipients"]
    facts = await rows(house, "SELECT DISTINCT participant_id FROM facts")
    ids = {name: participant_id(house.settings.workspace, name) for name in (ADA, BOB, CARL)}
    assert ids[ADA] not in {one["participant_id"] for one in facts}
    assert ids[CARL] in {one["participant_id"] for one in facts}


async def test_what_was_erased_stays_erased_and_the_person_may_begin_anew(
    house: House, stack: Endpoints, tmp_path: Path
) -> None:
    """Erasing twice changes nothing; a new mail makes a new key and new facts, and old events stay unreadable."""
    await erase(house, await found(house, ADA), by="the test")
    await settle(house, timeout_s=120)
    again = await found(house, ADA)
    async with house.database.reading() as conn:
        before = await state_hash(conn)
    assert (await erase(house, again, by="the test")).events == 0
    async with house.database.reading() as conn:
        assert await state_hash(conn) == before

    await write(house, ADA, "My order number is 55001. What does the Team plan cost?", "<a9@quillfeather.example>")
    read = await rows(house, "SELECT * FROM events WHERE type = 'email.read.v1' ORDER BY seq")
    with pytest.raises(Erased):
        history.envelope(read[0])
    assert read[-1]["data"]["author"]["addr"] == ADA
    [person_row] = await rows(house, "SELECT name FROM participants WHERE addr = %(addr)s", addr=ADA)
    assert person_row["name"] == "Ada Quillfeather"
    assert await differences(house, stack) == set()


async def test_an_erase_that_was_cut_short_after_its_transaction_is_finished_by_the_next_run(house: House) -> None:
    """What lies outside the database is remembered until it is cleared, whoever clears it."""
    ada = await found(house, ADA)
    blobs = [row["data"]["blob"] for row in await rows(house, "SELECT * FROM events WHERE type = 'mail.received.v1'")]
    deleted, house.blobs.delete = house.blobs.delete, _out_of_power  # type: ignore[method-assign]
    with pytest.raises(OSError, match="power"):
        await erase(house, ada, by="the test")
    house.blobs.delete = deleted  # type: ignore[method-assign]
    assert await finish(house, house.settings.workspace) == 1
    assert await finish(house, house.settings.workspace) == 0
    for name in blobs[:1]:
        with pytest.raises(Erased):
            await house.blobs.get(name)


async def _out_of_power(name: str) -> None:
    raise OSError("no power")


async def test_an_export_holds_what_is_held_and_nothing_of_anybody_else(house: House, tmp_path: Path) -> None:
    """Mails as they came, facts with their sources, threads, replies; the other's mail of a shared thread is not in it."""
    folder = tmp_path / "export"
    counts = await export(house, await found(house, ADA), folder)
    text = "\n".join(path.read_text("utf-8", "replace") for path in folder.rglob("*") if path.is_file())
    assert counts["mails"] == 2
    assert counts["replies"] >= 1
    assert SECRET in text
    assert "88123" in text
    assert [path.name for path in folder.rglob("*") if path.is_file() and b"77456" in path.read_bytes()] == []
    assert "66789" not in text
    assert {"facts.json", "fact_sources.json", "threads.json"} <= {path.name for path in (folder / "person").iterdir()}
