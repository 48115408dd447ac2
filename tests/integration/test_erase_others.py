"""Nobody pays for another's erase, on the whole stack: an attacker plants a victim's name, address, words and ids."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from schemas.events.memory import FactRecorded, FactRequested
from schemas.topics import catalogue
from services.core.app import App
from services.core.archive.archive import archive_of
from services.core.bus import event_store
from services.core.bus.envelope import first
from services.core.bus.runner import enter
from services.core.clock import random_id
from services.core.db import fetch_all
from services.core.ids import participant_id
from services.operations.erase.proof import prove
from services.operations.erase.run import erase
from services.operations.erase.survey import everything
from services.operations.idle import until_idle
from services.pipeline import PROCESSORS
from services.receive_email.accept import accept
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.erasing import differences, found
from tests.support.letters import letter

EXAMPLES = Path(__file__).parents[2] / "schemas/examples"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
BOB, MARIA, TWIN, MALLORY = "bob@brackwater.example", "maria@acme.example", "aria@acme.example", "m@evil.example"
PEOPLE = {BOB: "Bob Brackwater", MARIA: "Maria Garcia", TWIN: "Maria Garcia"}
CODE = "pyrheliometer"  # what the attacker takes from Bob's facts; it stands in no mail of Bob's
SECRET = "quincunxial"  # the attacker's own


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    async with running_brokerless(settings_for(stack, database, topic_prefix, tmp_path)) as one:
        await one.cache.drop_all()
        for number, (who, name) in enumerate(PEOPLE.items()):
            await write(
                one, who, name, f"My order number is 7745{number}. We are on the Team plan.", f"<{number}@x.example>"
            )
            await know(one, who, "device", f"{CODE} 9000")
            await know(one, who, "colleague", f"Maria Garcia, {MALLORY}")
        await write(
            one, BOB, "Bob Brackwater", "Dear Maria Garcia, the order number is 77450.", "<b@x.example>", cc=MALLORY
        )
        planted = f"{CODE} 77450 77451 Team plan order number {BOB} {SECRET}"
        await write(one, MALLORY, BOB, planted, "<0@x.example>")
        await write(one, MALLORY, "Maria Garcia", planted, f"<{BOB}>")
        await write(one, MALLORY, "Order Number", planted, "<m3@x.example>")
        yield one


async def write(app: App, who: str, name: str, text: str, message_id: str, cc: str = "") -> None:
    headers = {"Cc": cc} if cc else {}
    raw = letter(text, sender=f'"{name}" <{who}>', message_id=message_id, subject="The order number", **headers)
    await accept(app, app.settings.inboxes[0], raw, source="file", source_key=f"{who}{message_id}")
    await until_idle(app, timeout_s=120)


async def know(app: App, who: str, key: str, value: str) -> None:
    asked = FactRequested(
        participant_id=participant_id(app.settings.workspace, who), op="add", key=key, value=value,
        text=f"Their {key} is {value}.", by="a colleague",
    )  # fmt: skip
    await enter(app, first(asked, id=random_id(), source="console", time=app.now(), workspace=app.settings.workspace))
    await until_idle(app, timeout_s=120)


async def rows_of_others(app: App, who: str) -> dict[str, list[str]]:
    """Every row of every projection that is another participant's."""
    gone = participant_id(app.settings.workspace, who)
    names = {one.name for one in PROCESSORS}
    tables = [table for table, writer in catalogue().tables.items() if writer in names]
    async with app.database.reading() as conn:
        columns = await fetch_all(
            conn,
            "SELECT table_name AS name FROM information_schema.columns WHERE column_name = 'participant_id'"
            " AND table_schema = current_schema() AND table_name = ANY(%(tables)s)",
            {"tables": tables},
        )
        return {
            row["name"]: sorted(one["row"] for one in await fetch_all(conn, _others(row["name"]), {"gone": gone}))
            for row in columns
        }


def _others(table: str) -> Any:
    return f"SELECT to_jsonb(t)::text AS row FROM {table} t WHERE participant_id <> %(gone)s"


async def events_of_others(app: App, who: str) -> dict[Any, Any]:
    """Every event that can be read under a key of others alone."""
    found_of = await found(app, who)
    async with app.database.reading() as conn:
        return {
            row.seq: row.data
            async for row in everything(conn, archive_of(app.settings))
            if not found_of.is_own(row) and not row.is_sealed
        }


async def test_an_attacker_who_is_erased_takes_nothing_of_anybody_with_him(app: App, stack: Endpoints) -> None:
    """Facts, mails, threads and vectors of others are byte for byte what they were; the proof passes; his secret is gone."""
    before, events = await rows_of_others(app, MALLORY), await events_of_others(app, MALLORY)
    assert len(before["facts"]) >= 6
    mallory = await found(app, MALLORY)
    assert SECRET in mallory.marks.words
    assert {CODE, "77450", BOB, "maria garcia", "order number"} & set(
        mallory.marks.words | mallory.marks.phrases
    ) == set()
    assert any(SECRET in one.word for one in (await prove(app, mallory.marks)).findings)

    assert (await erase(app, mallory, by="the test")).events > 10
    await until_idle(app, timeout_s=120)

    after = await rows_of_others(app, MALLORY)
    changed = {table: set(before[table]) ^ set(after[table]) for table in before}
    [*to_him] = [one for one in before["mails"] if MALLORY in one]
    left_of_it = changed.pop("mails")
    assert {one for one in left_of_it if one in before["mails"]} == set(to_him), "only Bob's mail to him lost its Cc"
    assert not any(MALLORY in one for one in after["mails"])
    assert {table: rows for table, rows in changed.items() if rows} == {}
    now = await events_of_others(app, MALLORY)
    assert {seq: one for seq, one in events.items() if now[seq] != one} == {}
    assert (await prove(app, mallory.marks)).findings == ()
    assert await differences(app, stack) == set()


async def test_one_of_two_who_share_a_name_is_erased_and_the_other_keeps_it(app: App, stack: Endpoints) -> None:
    """Maria Garcia goes; the other Maria Garcia, whose address hers contains, keeps name, address, mails and facts."""
    before = await rows_of_others(app, TWIN)
    twin = await found(app, TWIN)
    assert "maria garcia" not in twin.marks.phrases
    await erase(app, twin, by="the test")
    await until_idle(app, timeout_s=120)
    assert await rows_of_others(app, TWIN) == before
    assert (await prove(app, twin.marks)).findings == ()
    assert await differences(app, stack) == set()
    assert SECRET in (await found(app, MALLORY)).marks.words
    await _say_in_another_workspace(app, f"the {SECRET} plan")
    assert SECRET not in (await found(app, MALLORY)).marks.words, "a proof searches every workspace's rows"


async def _say_in_another_workspace(app: App, value: str) -> None:
    data = json.loads((EXAMPLES / "fact.recorded.v1.json").read_text("utf-8"))["data"]
    said = FactRecorded.model_validate({**data, "value": value})
    stored = first(said, id=random_id(), source="learn_facts", time=app.now(), workspace="another")
    async with app.database.transaction("another") as conn:
        await event_store.store(conn, [replace(stored, version=1)])
