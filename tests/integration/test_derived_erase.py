"""Somebody is erased while what is made of their memory is under way: nothing of them comes after it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from schemas.events.investigations import InvestigationRequested
from schemas.events.merging import ParticipantMergeRequested
from services import condense_memory, reach_out
from services.core.app import App
from services.core.bus.runner import Runner
from services.operations.erase.proof import prove
from services.operations.erase.run import erase
from services.operations.erase.survey import Survey
from services.operations.outreach import ask_for_rounds
from services.operations.periods import ask as ask_for_periods
from services.operations.requests import ask
from services.reach_out import load as reading
from tests.support.erasing import differences, found
from tests.support.investigating import ADA, BO, PAD, Desk, finish, investigating, otherwise, write
from tests.support.remembering import day, fact, remembering
from tests.support.scripted_model import ScriptedModel, Seen, reply_tool
from tests.support.tending import tending

pytestmark = pytest.mark.timeout(300)
SECRET = "quixotryzebra"  # a word that is the erased customer's alone
KEYS = "SELECT key_id FROM subject_keys ORDER BY key_id"


class Gate:
    """Something that is under way until it is let go on."""

    def __init__(self) -> None:
        self.reached, self.opened = asyncio.Event(), asyncio.Event()

    async def wait(self) -> None:
        self.reached.set()
        await self.opened.wait()


async def erased_meanwhile(app: App, work: Any, gate: Gate, who: str) -> Survey:
    """`work` is begun, and goes on when `who` was erased; who that was."""
    under_way = asyncio.create_task(work)
    await asyncio.wait_for(gate.reached.wait(), 60)
    gone = await found(app, who)
    await erase(app, gone, by="grace")
    gate.opened.set()
    await asyncio.gather(under_way, return_exceptions=True)
    return gone


async def nothing_left(app: App, gone: Survey, stack: Endpoints) -> None:
    """No store holds a word or a row of theirs, nor a key; the tables follow from the events."""
    assert SECRET in gone.marks.words
    assert (await prove(app, gone.marks, gone.people)).findings == ()
    assert await differences(app, stack) == set()


async def test_a_period_that_was_being_told_was_kept_under_a_new_key(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """The model tells a day of somebody who is erased before it answers: neither sentence, answer nor key is kept."""
    gate = Gate()

    async def told(request: Seen) -> Any:
        await gate.wait()
        rows = [line[3:39] for line in "\n".join(request.fenced("rows")).splitlines() if SECRET in line]
        return reply_tool("tell", {"sentences": [{"text": f"Our plan: {SECRET}.", "rows": rows}]})

    async with ScriptedModel() as server:
        server.script(told)
        model = {"provider": "anthropic", "api_key": "k", "base_url": server.base_url, "max_retries": 0}
        changes: dict[str, Any] = {"model": model, "condense": {"enabled": True, "rows_from": 2}}
        async with remembering(stack, database, topic_prefix, tmp_path, **changes) as one:
            said = {"plan": f"Our plan: {SECRET}.", "region": "Our region: Rome."}
            facts = [fact("plan", SECRET, said["plan"]), fact("region", "Rome", said["region"])]
            await one.tell("\n".join(said.values()), *facts, on=1)
            one.clock.forward(day(2))
            await ask_for_periods(one.app, asyncio.Event())
            [asked] = await one.waiting(condense_memory.PROCESSOR)
            runner = Runner(condense_memory.PROCESSOR, one.app)
            gone = await erased_meanwhile(one.app, runner.process(asked), gate, "ada@acme.example")
            assert await one.rows(KEYS) == []
            await nothing_left(one.app, gone, stack)


RENEWAL = {"name": "renewal", "text": "Hi {name}, it is {date} soon.", "fact": "renewal date", "within_days": 14}


async def test_whom_a_round_of_outreach_had_looked_at_was_proposed_under_a_new_key(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The erase comes between what the round reads and what it records: nothing is proposed to whom it took."""
    gate, counted = Gate(), reading._proposed

    async def slowly(*args: Any) -> int:
        await gate.wait()
        return await counted(*args)

    monkeypatch.setattr(reading, "_proposed", slowly)
    async with tending(stack, database, topic_prefix, tmp_path, reach_out={"rules": [RENEWAL]}) as one:
        for sender in (ADA, BO):
            await one.write(f"Hello from {SECRET if sender == ADA else 'Bo'}.", sender=sender)
            address = sender.rpartition("<")[2].strip(">")
            renews = {"key": "renewal date", "value": "2026-02-10", "text": "It renews on 2026-02-10."}
            await one.ask("add", 1, address, **renews)
        await one.wait(days=32)
        await ask_for_rounds(one.app)
        [due] = await one.waiting(reach_out.PROCESSOR)
        gone = await erased_meanwhile(
            one.app, Runner(reach_out.PROCESSOR, one.app).process(due), gate, "ada@acme.example"
        )
        await one.settle()
        rows = await one.rows("SELECT participant_id FROM outreach")
        assert [row["participant_id"] for row in rows] == [one.person("bo@two.example")]
        await nothing_left(one.app, gone, stack)


@pytest.fixture
async def desk(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Desk]:
    async with investigating(stack, database, topic_prefix, tmp_path) as one:
        yield one


@pytest.mark.parametrize("number", [0, 1], ids=["first round", "last round"])
async def test_a_round_under_way_during_an_erase_leaves_nothing(desk: Desk, stack: Endpoints, number: int) -> None:
    """The model answers after the erase: no round, note, file or proposal follows, whichever round it was."""
    thread = await desk.app.write(f"Our {SECRET} fails.", sender=ADA)
    gate = Gate()

    async def script(request: Seen) -> Any:
        if "finish" not in request.tools:
            return otherwise(request)
        if request.round == number:
            await gate.wait()
        if request.round:
            return finish(f"It is the {SECRET}.")(request)
        return write(PAD, f"- {SECRET}\n")(request)

    desk.server.script(script)
    await desk.request(thread)
    await desk.step(InvestigationRequested.TYPE)
    gone = await erased_meanwhile(desk.app.app, desk.app.settle(), gate, "ada@acme.example")
    await desk.app.settle()
    assert len(desk.asked) == number + 1
    assert await desk.app.rows("SELECT 1 FROM investigations") == []
    await nothing_left(desk.app.app, gone, stack)


async def test_of_two_who_were_one_person_the_folder_of_one_kept_the_words_of_the_other(
    desk: Desk, stack: Endpoints
) -> None:
    """Investigated while they were merged, taken apart, then one is erased: the other's investigation has no word of theirs."""
    await desk.app.write(f"Our {SECRET} fails.", sender=BO)
    thread = await desk.app.write("Our export fails.", sender=ADA)
    ids = {"participant_id": desk.who(BO), "into": desk.who(ADA), "by": "grace"}
    await ask(desk.app.app, ParticipantMergeRequested.model_validate({**ids, "op": "merge"}))
    await desk.app.settle()
    desk.rounds(write(PAD, f"- {SECRET}\n"), finish(f"It is the {SECRET}."))
    await desk.investigate(thread)
    assert SECRET in str(await desk.opened())
    await ask(desk.app.app, ParticipantMergeRequested.model_validate({**ids, "op": "unmerge"}))
    await desk.app.settle()
    gone = await found(desk.app.app, "bo@two.example")
    await erase(desk.app.app, gone, by="grace")
    await desk.app.settle()
    await nothing_left(desk.app.app, gone, stack)


async def test_one_of_two_in_a_thread_is_erased_and_the_others_investigation_stands(
    desk: Desk, stack: Endpoints
) -> None:
    """What was found out of Ada's case in a thread in which Bo wrote stays; nothing of Bo's is in it."""
    thread = await desk.app.write("Our export fails.", sender=ADA, cc="bo@two.example")
    [row] = await desk.app.rows("SELECT message_id FROM mails WHERE thread_id = %(id)s", id=thread)
    await desk.app.write(f"My {SECRET} fails, too.", sender=BO, after=row["message_id"])
    desk.rounds(write(PAD, "- the export\n"), finish("It is the export."))
    whole = await desk.investigate(thread)
    gone = await found(desk.app.app, "bo@two.example")
    await erase(desk.app.app, gone, by="grace")
    await desk.app.settle()
    left = await desk.whole(whole.investigation.investigation_id)
    assert (left.note, left.investigation.outcome) == ("It is the export.", "finished")
    assert await desk.kept() == {PAD: "- the export\n"}
    await nothing_left(desk.app.app, gone, stack)
