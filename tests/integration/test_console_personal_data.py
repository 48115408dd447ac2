"""An admin exports and erases a person from the screen: with a preview of what vanishes, once the address is typed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest

from deploy.local import Endpoints
from services.operations.erase.export import TooMuch, Zipped
from services.operations.erase.inventory import counts_of, found_of
from services.web.console import personal_data
from tests.support.beginning import after
from tests.support.console import form, signed_in, text_of
from tests.support.remembering import ADA, day, fact
from tests.support.tending import Tended, tending

HOSTILE = "<img src=x onerror=alert(1)>"
BO = "bo@granite.example"


async def two_people(one: Tended) -> None:
    """Two mails of Ada, of which something was learnt, and one of Bo."""
    mail = await one.mail("We are on the Team plan.", on=0)
    await one.learn(mail, fact("plan", "Team", "We are on the Team plan."))
    one.clock.forward(day(1))
    await one.write("The CSV export stops at row 4711.", sender=f'"{HOSTILE}" <{ADA}>')
    await one.write("Where is my invoice?", subject="Invoice", sender=BO)


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment that remembers something of Ada, whose name means harm, and has mail of Bo."""
    async with after(
        two_people, tending, stack, template_database, topic_prefix, tmp_path, send={"approval": "review"}
    ) as one:
        yield one


@pytest.fixture
async def admin(app: Tended) -> AsyncIterator[httpx.AsyncClient]:
    """An admin who is signed in."""
    async with signed_in(app.app) as client:
        yield client


def place(app: Tended, what: str = "data") -> str:
    return f"/console/people/{app.person()}/{what}"


async def test_the_preview_counts_what_the_command_would_destroy(app: Tended, admin: httpx.AsyncClient) -> None:
    """The same counts, by the same operation; a name that means harm is text, and looking changes nothing."""
    counts = await counts_of(app.app, await found_of(app.app, ADA))
    assert counts["mails"] == 2
    assert counts["facts"]
    page = await admin.get(place(app))
    for kind, count in counts.items():
        assert f"{count} {kind}" in text_of(page)
    assert HOSTILE not in page.text
    assert ADA in text_of(page)
    assert counts == await counts_of(app.app, await found_of(app.app, ADA))


async def test_an_export_is_a_zip_of_what_is_theirs_alone(app: Tended, admin: httpx.AsyncClient) -> None:
    """Mails, facts with their source and events; nothing of anybody else; its name says nothing of the person."""
    answer = await form(await admin.get(place(app)), "/export").send(admin)
    assert answer.headers["content-disposition"] == f'attachment; filename="person-{str(app.person())[:8]}.zip"'
    with ZipFile(BytesIO(answer.content)) as zipped:
        assert zipped.testzip() is None
        held = {name: zipped.read(name) for name in zipped.namelist()}
    assert sum(name.startswith("mails/") and name.endswith(".eml") for name in held) == 2
    assert b"Team" in held["person/facts.json"]
    assert b"4711" in held["events.jsonl"]
    assert not any(BO.encode() in content or b"invoice" in content for content in held.values())


async def test_nothing_is_erased_until_the_address_is_typed(app: Tended, admin: httpx.AsyncClient) -> None:
    """Another address, a part of it or none changes nothing and says so; typed in capitals it is the same mailbox."""
    asked, before = form(await admin.get(place(app)), "/erase"), await counts_of(app.app, await found_of(app.app, ADA))
    for typed in ("", BO, ADA[:-1], "yes", HOSTILE):
        refused = await asked.send(admin, address=typed)
        assert refused.status_code == 422
        assert "Nothing was erased" in text_of(refused)
        assert HOSTILE not in refused.text
    assert await counts_of(app.app, await found_of(app.app, ADA)) == before
    erased = await asked.send(admin, address=f" {ADA.replace('acme', 'ACME')} ")
    assert "Erased." in text_of(erased)
    assert (await found_of(app.app, ADA)).events == 0
    assert not await app.rows("SELECT 1 FROM facts WHERE participant_id = %(id)s", id=app.person())
    assert [row["author_addr"] for row in await app.rows("SELECT author_addr FROM mails WHERE author_addr <> ''")] == [
        BO
    ]
    assert (await admin.get(place(app))).status_code == 404
    assert (await asked.send(admin, address=ADA)).status_code == 404
    (told,) = await app.rows("SELECT by FROM erasures")
    assert told["by"] == "Grace"


async def test_who_exported_and_erased_is_in_the_record(app: Tended, admin: httpx.AsyncClient) -> None:
    """By name, with the participant's number and no word of theirs, refused tries too."""
    page = await admin.get(place(app))
    await form(page, "/export").send(admin)
    await form(page, "/erase").send(admin, address="wrong")
    await form(page, "/erase").send(admin, address=ADA)
    rows = await app.rows("SELECT * FROM console_audit WHERE act LIKE '/people/%%' ORDER BY at, audit_id")
    assert sorted((row["by"], row["act"], row["status"]) for row in rows) == [
        ("Grace", "/people/{who}/erase", 303),
        ("Grace", "/people/{who}/erase", 422),
        ("Grace", "/people/{who}/export", 200),
    ]
    assert {row["subject"] for row in rows} == {f"/people/{app.person()}/{act}" for act in ("erase", "export")}


async def test_an_agent_can_neither_see_nor_do_it(app: Tended, admin: httpx.AsyncClient) -> None:
    """Not the preview, not with the token of another form; the person's page does not lead there."""
    before = await counts_of(app.app, await found_of(app.app, ADA))
    async with signed_in(app.app, "Ann", role="agent") as agent:
        page = await agent.get(f"/console/people/{app.person()}")
        assert "Export or erase" not in page.text
        assert (await agent.get(place(app))).status_code == 403
        token = form(page, "/sign-out").fields["form_token"]
        for act in ("export", "erase"):
            answer = await agent.post(place(app, act), data={"form_token": token, "address": ADA})
            assert answer.status_code == 403
    assert "Export or erase" in (await admin.get(f"/console/people/{app.person()}")).text
    assert await counts_of(app.app, await found_of(app.app, ADA)) == before


async def test_what_does_not_fit_into_a_download_is_refused_whole(
    app: Tended, admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never half of what is held: the page names the command that has no limit."""
    monkeypatch.setattr(personal_data, "MOST_EXPORTED_MB", 0.001)
    answer = await form(await admin.get(place(app)), "/export").send(admin)
    assert answer.status_code == 409
    assert "correspondent export" in text_of(answer)
    zipped = Zipped(10)
    zipped.add("one", b"x" * 10)
    with pytest.raises(TooMuch):
        zipped.add("two", b"x")
