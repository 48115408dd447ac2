"""Nobody's memory is read or changed through another person: every read path, ids of others included, fuzzed."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from deploy.local import Endpoints
from schemas.events.memory import RelationProposal
from schemas.events.threads import TurnClosed
from schemas.model_output import SearchMemoryInput
from services import reflect
from services.core.bus.work import Work
from services.core.clock import random_id
from services.core.settings import shaped
from services.core.web import make_app
from services.generate_reply.desk import AnsweredMail, Desk
from services.generate_reply.tools import search
from services.load_memory.layers import LAYERS
from services.load_memory.turn import Turn, load_mails
from services.memory.embeddings import meanings
from services.memory.questions import read
from services.operations.memory import facts as reading
from services.operations.memory import past, people
from services.operations.memory import search as finding
from services.reflect.materials import gather
from services.reflect.turn import ended
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.layers import load_layer
from tests.support.remembering import Memory, day, fact, memory_loaded, remembering

TOKEN = "a token for tests"
NAMES = ("ada", "bob", "cyd", "dan")
KINDS = ("customer_info", "preference", "issue_history", "goal", "relationship", "note")


def addr(name: str) -> str:
    return f"{name}@acme.example"


def secret(name: str) -> str:
    """A word that belongs to one person alone."""
    return f"zebra{name}zebra"


def leaks(name: str, told: object) -> list[str]:
    """The other people, all of one company, whose words or address stand in what was told."""
    return [one for one in NAMES if one != name and (secret(one) in str(told) or addr(one) in str(told))]


async def filled(one: Memory) -> None:
    """Everybody has a memory."""
    for number, name in enumerate(NAMES):
        await fill(one, name, random.Random(number))


@pytest.fixture
async def memory(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with after(
        filled, remembering, stack, template_database, topic_prefix, tmp_path, web={"api_token": TOKEN}
    ) as one:
        yield one


async def fill(memory: Memory, name: str, dice: random.Random) -> None:
    """A memory with facts of several kinds, an edge, a brief and a session, each holding the person's own word."""
    for on in range(1, 4):
        text = f"Our plan is {secret(name)} {on} and our export is slow."
        mail = await memory.mail(text, on=on, sender=addr(name))
        claims = [
            fact(f"{kind} key", f"{secret(name)} {on}", f"plan is {secret(name)} {on}", kind=kind, text=text)
            for kind in dice.sample(KINDS, 3)
        ]
        edge = RelationProposal(
            subject=name, predicate="uses", object=secret(name), quote=f"plan is {secret(name)} {on}"
        )
        await memory.learn(mail, *claims, relations=(edge,), brief=secret(name), summary=secret(name))
    await memory.ask("add", 4, addr(name), key="vip note", value=secret(name))


async def mail_of(memory: Memory, name: str) -> dict[str, Any]:
    query = "SELECT * FROM mails WHERE author_addr = %(addr)s ORDER BY received_at LIMIT 1"
    return (await memory.rows(query, addr=addr(name)))[0]


async def test_every_layer_of_a_prompt_holds_the_authors_memory_alone(memory: Memory) -> None:
    """Whatever the mail asks for, layers show the author's own words; and the author's own are shown at all."""
    for name in NAMES:
        mail = await mail_of(memory, name)
        asked = f"Who else at Acme wrote to you? {' '.join(secret(one) for one in NAMES)}"
        async with memory.app.database.reading() as conn:
            (meaning,) = await meanings(memory.app.embedder, [asked])
            mails = await load_mails(conn, [mail["mail_id"]])
        turn = Turn(
            app=memory.app,
            workspace=memory.workspace,
            now=day(3.9),
            thread_id=random_id(),
            participant_id=memory.person(addr(name)),
            inbox=memory.app.settings.inboxes[0],
            mails=tuple(replace(one, text=asked) for one in mails),
            meaning=meaning,
            asked=((read(asked, day(3.9)), meaning),),
            chosen=shaped(memory.app.settings, memory.app.settings.inboxes[0], addr(name)),
        )
        layers = [await load_layer(layer, turn) for layer in LAYERS]
        echoed = {one.name: one.text + str(one.items) for one in layers if one.name != "mail"}
        told = {layer: text.replace(asked, "the mail's own words") for layer, text in echoed.items()}
        assert leaks(name, told) == []
        for layer in ("participant", "brief", "session"):
            assert secret(name) in told[layer]
        nobody = replace(turn, participant_id=None)
        untrusted = [await load_layer(layer, nobody) for layer in LAYERS]
        assert not any(secret(one) in str(layer) for one in NAMES for layer in untrusted if layer.name != "mail")


async def test_the_models_search_and_the_reflections_view_hold_the_authors_memory_alone(memory: Memory) -> None:
    """The tool that the model calls, with any query and window, and what the reflection reads."""
    dice = random.Random(7)
    for name in NAMES:
        mail = await mail_of(memory, name)
        event = memory_loaded(memory.person(addr(name)), thread_id=mail["thread_id"], mail_ids=(mail["mail_id"],))
        desk = Desk(
            event=event,
            app=memory.app,
            workspace=memory.workspace,
            now=day(5),
            mails=(AnsweredMail(mail["mail_id"], mail["text"]),),
        )
        for _ in range(8):
            query = dice.choice([secret(one) for one in NAMES] + [str(memory.person(addr(one))) for one in NAMES])
            given = SearchMemoryInput(query_text=query, max_results=50, maximum_days_ago=dice.choice([3, 36_500]))
            assert leaks(name, await search.memory(given, desk)) == []
        closed = TurnClosed(
            turn_id=random_id(),
            thread_id=mail["thread_id"],
            participant_id=event.participant_id,
            inbox="support",
            mail_ids=event.mail_ids,
            trusted=True,
            outcome="sent",
        )
        work = Work(closed, memory.event(closed, day(5)), "reflect", memory.app, reflect.PROCESSOR.appliers)
        async with work.reading() as conn:
            assert leaks(name, (await gather(work, conn, ended(closed))).layers) == []


async def test_reads_for_people_hold_one_persons_memory(memory: Memory) -> None:
    """Current, as-of, history, refusals and search answer for the person who is named, by address and by id."""
    for name in NAMES:
        async with memory.app.database.reading() as conn:
            by_addr = await people.find_person(conn, memory.workspace, addr(name))
            assert await people.find_person(conn, memory.workspace, str(by_addr.participant_id)) == by_addr
            who = (conn, memory.workspace, by_addr.participant_id)
            told = [
                await reading.current(*who, day(5)),
                await past.as_of(*who, valid_at=day(2), known_at=day(9)),
                await reading.history(*who, day(5)),
                await reading.refusals(*who),
            ]
        found = await finding.find(memory.app, by_addr.participant_id, secret("bob"), now=day(5), limit=50)
        assert leaks(name, [told, found]) == []
        assert secret(name) in str(told)


async def test_ids_of_others_open_nothing(memory: Memory) -> None:
    """Every (person, another's fact) pair over REST: not read, not changed, by any verb; the state stays as it was."""
    rows = await memory.rows("SELECT fact_id, participant_id FROM facts")
    before = await memory.rows("SELECT fact_id, value, pinned, superseded_at FROM facts ORDER BY fact_id")
    dice = random.Random(11)
    web_app = make_app([routes(memory.app)])
    transport = httpx.ASGITransport(web_app, raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as api,
        memory.at_work(),
    ):
        for name in NAMES:
            foreign = [row["fact_id"] for row in rows if row["participant_id"] != memory.person(addr(name))]
            for fact_id in dice.sample(foreign, 5):
                path = f"/api/participants/{addr(name)}/facts/{fact_id}"
                assert (await api.get(path)).status_code == 404
                verb, given = dice.choice([("PUT", {"json": {"value": "x"}}), ("DELETE", {})])
                assert (await api.request(verb, path, **given)).status_code == 409
                assert (await api.put(f"{path}/pin")).status_code == 409
    assert await memory.rows("SELECT fact_id, value, pinned, superseded_at FROM facts ORDER BY fact_id") == before


async def test_a_model_that_names_others_facts_changes_none(memory: Memory) -> None:
    """UPDATE and DELETE with any foreign id, from any person's mail, leave the others' rows byte for byte."""
    dice = random.Random(13)
    rows = await memory.rows("SELECT fact_id, participant_id FROM facts WHERE superseded_at IS NULL")
    for name in NAMES:
        mine: UUID = memory.person(addr(name))
        query = "SELECT * FROM facts WHERE participant_id <> %(mine)s ORDER BY fact_id"
        before = await memory.rows(query, mine=mine)
        foreign = [row["fact_id"] for row in rows if row["participant_id"] != mine]
        ops = [
            fact(f"k{n}", "x1", "our export", op=dice.choice(["update", "delete"]), fact_id=str(one))
            for n, one in enumerate(dice.sample(foreign, 6))
        ]
        await memory.tell("x1: our export is slow.", *ops, on=6, sender=addr(name))
        assert await memory.rows(query, mine=mine) == before


async def test_another_workspace_is_another_world(memory: Memory) -> None:
    """The same address in another workspace names nobody here."""
    async with memory.app.database.reading() as conn:
        with pytest.raises(people.NobodyFound):
            await people.find_person(conn, "elsewhere", addr("ada"))
        assert await reading.history(conn, "elsewhere", memory.person(addr("ada")), day(9)) == []
        assert await people.list_people(conn, "elsewhere") == []
