"""Learning does not wait for the reply to leave: not for a person, for a full hour, or for a mail server."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from schemas.events.replies import DraftDecided
from services import reflect
from services.cli.threads.view import whole
from services.core.bus.processor import Processor
from services.core.bus.runner import Runner
from services.core.bus.work import Work
from services.model.offline import OfflineModel
from services.model.port import Answer, Request, ToolCall
from services.operations.drafts.listing import waiting_drafts
from services.operations.health.backlog import read_backlog
from services.operations.learning import unlearned
from services.operations.requests import ask
from services.pipeline import PROCESSORS
from services.receive_email.accept import accept
from services.reflect.materials import gather
from services.reflect.reflection import reflect_on
from services.reflect.turn import waiting
from tests.support.offline import EMBEDDER
from tests.support.remembering import ADA
from tests.support.tending import Tended, tending

PLAN = "We are on the Enterprise plan. Where do I export an invoice?"
CROSS = "This is the third time that it fails. I am really angry and frustrated!"
OTHERS = tuple(one for one in PROCESSORS if one.name != "reflect")
REVIEW: dict[str, Any] = {"send": {"approval": "review"}}


class Counting(OfflineModel):
    """The offline model: it counts what it is asked, notes nothing while it replies, and is out of order if told."""

    def __init__(self) -> None:
        super().__init__(EMBEDDER)
        self.asked: Counter[str] = Counter()
        self.garbage = False

    async def ask(self, request: Request) -> Answer:
        self.asked[request.purpose] += 1
        if request.purpose == "reply":
            given = {"text": "Look under Exports, then Invoices.", "state": "awaiting_reply"}
            return Answer("", (ToolCall("c1", "reply", given),), "tool_use", self.name)
        if self.garbage:
            return Answer("}{", (ToolCall("c1", "reflect", {"summary": 7}),), "tool_use", self.name)
        return await super().ask(request)


Start = Callable[..., AbstractAsyncContextManager[Tended]]


@pytest.fixture
def model() -> Counting:
    return Counting()


@pytest.fixture
def start(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, model: Counting) -> Start:
    return lambda **said: tending(stack, database, topic_prefix, tmp_path, model_object=model, **said)


async def decide(app: Tended, *, approve: bool, text: str = "") -> None:
    """A person's word on the draft that waits."""
    async with app.app.database.reading() as conn:
        (held,) = await waiting_drafts(conn, app.workspace)
    ids = {"reply_id": held.reply_id, "thread_id": held.thread_id, "text_sha256": held.text_sha256}
    await ask(app.app, DraftDecided(**ids, approve=approve, text=text, by="grace"))
    await app.settle()


async def earlier(app: Tended) -> str:
    """What the newest turn was shown of other threads."""
    rows = await app.rows("SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq DESC LIMIT 1")
    return {one["name"]: str(one["text"]) for one in rows[0]["data"]["layers"]}["earlier"]


async def outcomes(app: Tended) -> list[str]:
    """How each turn stood that was learned from, oldest first."""
    rows = await app.rows("SELECT data FROM events WHERE type = 'turn.reflected.v1' ORDER BY seq")
    return [row["data"]["outcome"] for row in rows]


async def test_nothing_was_learned_while_a_draft_waited_for_a_person(start: Start, model: Counting) -> None:
    """What the mail says is known before anybody decides, by one question in all, and the thread says when."""
    async with start(**REVIEW) as app:
        thread_id = await app.write(PLAN)
        assert await app.current("plan") == ["Enterprise"]
        await app.wait(hours=2)
        await decide(app, approve=True)
        assert (model.asked["reflect"], await outcomes(app)) == (1, ["drafted", "sent"])
        (row,) = await app.rows("SELECT actions FROM sessions")
        assert [one[17:] for one in row["actions"]] == ["we replied", "a reply is written and waits to be sent"]
        shown = "\n".join(line.plain for line in whole(await app.thread(thread_id), app.clock()))
        assert shown.count("learned  from the turn whose reply waited") == 1
        assert "learned  nothing" not in shown


async def test_a_reply_that_no_summary_covers_is_shown_to_the_next_thread_once_it_has_left(start: Start) -> None:
    """While the draft waits nobody is told that we answered; afterwards the answer stands in its own words."""
    async with start(**REVIEW) as app:
        await app.write(PLAN)
        await app.write("And the logo?", subject="Logo")
        assert "Look under Exports" not in await earlier(app)
        async with app.app.database.reading() as conn:
            drafts = await waiting_drafts(conn, app.workspace)
        first = next(one for one in drafts if one.subject.endswith("Export"))
        ids = {"reply_id": first.reply_id, "thread_id": first.thread_id, "text_sha256": first.text_sha256}
        await ask(app.app, DraftDecided(**ids, approve=True, by="grace"))
        await app.settle()
        await app.write("And the colours?", subject="Colours")
        assert "we: “Look under Exports, then Invoices." in await earlier(app)


@pytest.mark.parametrize("text", ["", "Rejected, or in other words"])
async def test_what_a_person_makes_of_a_draft_costs_no_second_question(
    start: Start, model: Counting, text: str
) -> None:
    """One question a turn, whether the draft is rejected or leaves in other words."""
    async with start(**REVIEW) as app:
        await app.write(PLAN)
        await decide(app, approve=bool(text), text=text)
        assert (model.asked["reflect"], await app.current("plan")) == (1, ["Enterprise"])
        assert await outcomes(app) == ["drafted", "sent" if text else "rejected"]


async def test_eighty_replies_an_hour_stopped_all_learning(start: Start, model: Counting) -> None:
    """Of the reply that is over the hour's number the mail is learned from at once, of each once."""
    inbox = {"name": "support", "address": "support@ourcompany.example", "vouched_by": "t", "replies_per_hour": 1}
    async with start(inboxes=[inbox]) as app:
        for person in ("bob@b.example", "eve@e.example"):
            await app.write(PLAN, sender=person)
        assert await outcomes(app) == ["sent", "drafted"]
        assert await app.current("plan", "eve@e.example") == ["Enterprise"]
        await app.wait(hours=1, minutes=1)
        assert (await outcomes(app), model.asked["reflect"]) == (["sent", "drafted", "sent"], 2)


async def test_a_mail_server_that_was_away_stopped_all_learning(start: Start, model: Counting) -> None:
    """A reply that no server takes is tried for days: its mail is learned from at the first try, and once."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        async with start(smtp={"host": "127.0.0.1", "port": nobody.getsockname()[1], "timeout_s": 2}) as app:
            await app.write(PLAN)
            assert await app.current("plan") == ["Enterprise"]
            await app.wait(hours=6)
            assert (model.asked["reflect"], await outcomes(app)) == (1, ["drafted"])


async def test_a_newer_mail_while_the_draft_waited_counted_the_first_one_twice(start: Start) -> None:
    """The second turn answers both mails; each of them counts once for the mood of their author."""
    async with start(**REVIEW) as app:
        await app.write(CROSS)
        await app.write(CROSS, subject="Re: Export", after="<m1@acme.example>")
        (row,) = await app.rows("SELECT frustrated_in_row FROM participants")
        assert row["frustrated_in_row"] == 2


async def test_rules_for_after_the_turn_wait_for_its_end_and_hold_once(start: Start) -> None:
    """Learned from before, the turn is not over: a note for replies that were sent comes when this one was."""
    rule = {"name": "sent", "moment": "after", "when": {"outcomes": ["sent"]}, "then": {"note": "Did it help?"}}
    any_end = {"name": "any", "moment": "after", "when": {}, "then": {"tag": ["seen"], "note": "It ended."}}
    async with start(**REVIEW, behaviours=[rule, any_end]) as app:
        thread_id = await app.write(PLAN)
        assert (await app.thread(thread_id)).notes == ()
        await decide(app, approve=True)
        notes = sorted(one.text for one in (await app.thread(thread_id)).notes)
        assert notes == ["Did it help?", "It ended."]


async def test_garbage_about_a_waiting_draft_is_asked_about_again_while_it_waits(start: Start, model: Counting) -> None:
    """Nothing usable is no end: the model is asked again on time, and the end of the turn asks no more."""
    async with start(**REVIEW) as app:
        model.garbage = True
        await app.write(PLAN)
        assert (model.asked["reflect"], await app.current("plan")) == (2, [])
        assert (await unlearned(app.app)).words == (
            "1 turn is still to be learned from; about 1 of them the model is asked again, next at 2026-01-05 10:00 UTC"
        )
        waits = {one.name: one.count for one in (await read_backlog(app.app)).waiting}
        assert (waits["unlearned"], waits["held"]) == (1, 1)
        model.garbage = False
        await app.wait(hours=1, minutes=1)
        assert (model.asked["reflect"], await app.current("plan")) == (3, ["Enterprise"])
        assert (await unlearned(app.app)).words == ""
        await decide(app, approve=True)
        await app.wait(days=3)
        assert model.asked["reflect"] == 3


async def test_a_kill_between_answer_and_decision_asks_nobody_twice(start: Start, model: Counting) -> None:
    """The answer is a checkpoint: who takes the event up again decides with it, and a third time nothing happens."""
    async with start(**REVIEW) as app:
        await _received(app, OTHERS)
        (held,) = [one for one in await app.waiting(reflect.PROCESSOR) if one.data.TYPE == "reply.held.v1"]
        work: Work[Any] = Work(held.data, held, "reflect", app.app, {})
        async with work.reading() as conn:
            turn = await waiting(conn, held.data)  # type: ignore[arg-type]
            assert turn is not None
            materials = await gather(work, conn, turn)
        await reflect_on(work, turn, materials)  # and kill -9
        assert (model.asked["reflect"], await outcomes(app)) == (1, [])
        for _ in range(3):
            await Runner(reflect.PROCESSOR, app.app).process(held)
        assert (model.asked["reflect"], await outcomes(app)) == (1, ["drafted"])


async def test_a_draft_that_is_told_of_after_its_turn_has_ended_teaches_nothing(start: Start, model: Counting) -> None:
    """Topics keep no order between them: the end was first, so it was learned from, and the wait comes too late."""
    async with start(**REVIEW) as app:
        await _received(app, OTHERS)
        async with app.app.database.reading() as conn:
            (held,) = await waiting_drafts(conn, app.workspace)
        ids = {"reply_id": held.reply_id, "thread_id": held.thread_id, "text_sha256": held.text_sha256}
        await ask(app.app, DraftDecided(**ids, approve=True, by="grace"))
        await app.settle(OTHERS)
        todo = {one.data.TYPE: one for one in await app.waiting(reflect.PROCESSOR)}
        for name in ("turn.closed.v1", "reply.held.v1"):
            await Runner(reflect.PROCESSOR, app.app).process(todo[name])
        assert (model.asked["reflect"], await outcomes(app)) == (1, ["sent"])


async def _received(app: Tended, processors: Iterable[Processor]) -> None:
    """A mail that everybody but some has handled."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = ADA, "support@ourcompany.example", "Export"
    mail["Message-ID"] = "<k1@acme.example>"
    mail.set_content(PLAN)
    await accept(app.app, app.app.settings.inboxes[0], mail.as_bytes(), source="file", source_key="k", mode="live")
    await app.settle(processors)
