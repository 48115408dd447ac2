"""Whoever asks a model, whatever it answers: nothing is lost, nothing invented is kept, and the next event goes on.

A row is one that asks, a column what one customer's questions are answered with; another customer's come behind theirs.
"""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from deploy.local import Endpoints
from schemas.events.investigations import InvestigationRequested
from schemas.events.memory import TurnReflected
from schemas.events.periods import PeriodEnded
from schemas.events.suggestions import SuggestionRequested
from schemas.events.threads import TurnClosed
from services.core.app import App
from services.core.bus.event_row import EventRow
from services.core.bus.runner import Runner
from services.core.clock import random_id, utc_now
from services.core.ids import participant_id
from services.core.mailbox import MailboxKey
from services.demo.clock import SteppingClock
from services.operations.dead_letters import Choice
from services.operations.dead_letters.failed_turns import failed_turns, reopen
from services.operations.idle import until_idle
from services.operations.periods import ask as ask_for_periods
from services.operations.requests import ask
from services.pipeline import PROCESSORS
from services.receive_email.accept import accept
from tests.flow.scenario import rows, sent_mail
from tests.integration.test_memory_periods import rows_in, told, word_for_word
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.bus import until_true
from tests.support.letters import letter
from tests.support.scripted_model import ScriptedModel, Seen
from tests.support.scripted_replies import (
    Behaviour,
    failing,
    hang,
    malformed_json,
    malformed_tool_input,
    overloaded,
    refusal,
    reply_text,
    reply_tool,
    reply_tools,
    truncated_tool,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
ROOT = Path(__file__).parents[2]
INVENTED = "Zorblaxian"  # what no customer ever said
CODE = re.compile(r"our (vault|desk) code is (\w+)")
POLITE = {"text": "Hello,\n\nwe look into it.", "state": "awaiting_reply"}
RAW = {"events", "checkpoints", "fact_log"}  # what a model said word for word, and what of it was refused


@dataclass(frozen=True)
class Person:
    """A customer, and the word that is theirs alone."""

    addr: str
    mark: str

    @property
    def key(self) -> MailboxKey:
        return MailboxKey(self.addr)


ANN, BO = Person("ann@one.example", "Quillfern"), Person("bo@two.example", "Brackwater")


@dataclass
class Desk:
    """A deployment at work, and its model, which is broken for Ann's questions of one sort."""

    app: App
    server: ScriptedModel
    clock: SteppingClock
    outbox: Path
    broken: tuple[str, Callable[[Seen], Behaviour]] | None = None
    posted: list[str] = field(default_factory=list)
    bos_fact: str = ""
    anns_mail: str = ""

    def answer(self, request: Seen) -> Behaviour:
        if self.broken and self.broken[0] in request.tools and ANN.mark in request.text:
            return self.broken[1](request)
        if "tell" in request.tools:
            return word_for_word(request)
        if "finish" in request.tools:
            return reply_tool("finish", {"note": "It is as they say.", "facts": []})
        return reply_tool("reflect", learned(request)) if "reflect" in request.tools else reply_tool("reply", POLITE)

    @property
    def asked_of_ann(self) -> int:
        """How often the broken question came."""
        assert self.broken
        return sum(self.broken[0] in one.tools and ANN.mark in one.text for one in self.server.requests)

    async def post(self, who: Person, text: str) -> None:
        self.posted.append(text)
        name = f"{len(self.posted)}"
        raw = letter(f"Hello, {text}", sender=f"P <{who.addr}>", message_id=f"<{name}@{who.addr.partition('@')[2]}>")
        await accept(self.app, self.app.settings.inboxes[0], raw, source="file", source_key=name)

    async def thread(self, who: Person) -> UUID:
        query = "SELECT thread_id FROM mails WHERE author_addr = %(addr)s ORDER BY received_at LIMIT 1"
        ((row),) = await rows(self.app, query, addr=who.addr)
        found: UUID = row["thread_id"]
        return found

    def id_of(self, who: Person) -> UUID:
        return participant_id(self.app.settings.workspace, who.key)

    async def done(self, asker: Asker, who: Person) -> int:
        """How much of what was asked has come about for somebody."""
        args = {"addr": who.addr, "id": self.id_of(who), "code": f"{who.mark}two"}
        found = await rows(self.app, asker.results, **args)
        return sum(one.get("data", {}).get("participant_id", str(args["id"])) == str(args["id"]) for one in found)

    async def stored(self, kind: str) -> list[Any]:
        found = await rows(self.app, "SELECT * FROM events WHERE type = %(kind)s ORDER BY seq", kind=kind)
        return [EventRow.of(**row).envelope() for row in found]

    async def by_hand(self, processor: str, kind: str) -> None:
        """As a redrive has it: a processor handles every event of a type that it has not done."""
        (one,) = [each for each in PROCESSORS if each.name == processor]
        for envelope in await self.stored(kind):
            await Runner(one, self.app).process(envelope)


def learned(request: Seen, **given: Any) -> dict[str, Any]:
    """What an honest model learns: the codes that the customer named."""
    facts = [
        {"op": "ADD", "kind": "customer_info", "key": f"{what} code", "value": value, "importance": 7,
         "text": f"The customer's {what} code is {value}.", "quote": f"our {what} code is {value}"}
        for what, value in dict.fromkeys(CODE.findall(request.text))
    ]  # fmt: skip
    return {"summary": "They wrote.", "brief": "A customer.", "facts": facts, **given}


# Those that ask: what lets them ask of Ann and then of Bo, what they leave, how one that came to nothing ends, and what brings it.


async def write(desk: Desk) -> None:
    for who in (ANN, BO):
        await desk.post(who, f"our desk code is {who.mark}two.")


async def end_days(desk: Desk) -> None:
    desk.clock.forward(desk.clock() + timedelta(days=2))
    await ask_for_periods(desk.app, asyncio.Event())


async def investigate(desk: Desk) -> None:
    for who in (ANN, BO):
        asked = {"investigation_id": random_id(), "participant_id": desk.id_of(who), "by": "grace"}
        where = {"thread_id": await desk.thread(who), "question": f"What is {who.mark}?"}
        await ask(desk.app, InvestigationRequested.model_validate(asked | where))


async def suggest(desk: Desk) -> None:
    for who in (ANN, BO):
        await ask(desk.app, SuggestionRequested(thread_id=await desk.thread(who), words="", by="grace"))


async def open_again(desk: Desk) -> None:
    (failed,) = await failed_turns(desk.app, Choice(error=""))
    assert await reopen(desk.app, failed, "grace") == ""


async def wait_for_the_timer(desk: Desk) -> None:
    desk.clock.forward(desk.clock() + timedelta(hours=2))


async def turn_has_failed(desk: Desk) -> None:
    query = "SELECT t.state, u.outcome FROM turns u JOIN threads t USING (thread_id) WHERE u.outcome = 'failed'"
    assert [tuple(one.values()) for one in await rows(desk.app, query)] == [("escalated", "failed")]


async def says_what_was_not_learned(desk: Desk) -> None:
    (lost,) = [one.data for one in await desk.stored(TurnReflected.TYPE) if one.data.refused]
    assert (lost.participant_id, lost.covers_to, lost.facts) == (desk.id_of(ANN), 0, ())
    assert lost.retry_at


async def is_told_by_rows(desk: Desk) -> None:
    query = "SELECT text, dropped FROM memory_periods WHERE participant_id = %(id)s"
    kept = await rows(desk.app, query, id=desk.id_of(ANN))
    assert [(one["text"], bool(one["dropped"])) for one in kept] == [("", True)]


async def ended_without(desk: Desk) -> None:
    query = "SELECT outcome FROM investigations WHERE participant_id = %(id)s"
    (one,) = await rows(desk.app, query, id=desk.id_of(ANN))
    assert one["outcome"] in ("out_of_rounds", "declined", "failed")


async def suggests_nothing(desk: Desk) -> None:
    query = "SELECT count(*) AS n FROM thread_notes WHERE thread_id = %(id)s"
    assert (await rows(desk.app, query, id=await desk.thread(ANN)))[0]["n"] == 0


Act = Callable[[Desk], Awaitable[None]]


@dataclass(frozen=True)
class Asker:
    """One that asks: its processor, the tool by which its questions are known, and how its work is seen."""

    processor: str
    tool: str
    trigger: Act
    results: str
    ended: Act
    again: Act | None
    event: str = ""  # what becomes a dead letter where the provider refuses the question for good


ASKERS = {
    "reply": Asker(
        "generate_reply", "reply", write,
        "SELECT reply_id FROM deliveries WHERE recipient = %(addr)s AND state = 'sent' ORDER BY sent_at OFFSET 1",
        turn_has_failed, open_again,
    ),
    "suggestion": Asker(
        "generate_reply", "reply", suggest,
        "SELECT data FROM events WHERE type = 'suggestion.drafted.v1'",
        suggests_nothing, suggest,
    ),
    "reflection": Asker(
        "reflect", "reflect", write,
        "SELECT fact_id FROM facts WHERE participant_id = %(id)s AND value = %(code)s AND superseded_at IS NULL",
        says_what_was_not_learned, wait_for_the_timer, TurnClosed.TYPE,
    ),
    "period": Asker(
        "condense_memory", "tell", end_days,
        "SELECT period_id FROM memory_periods WHERE participant_id = %(id)s AND text <> ''",
        is_told_by_rows, None, PeriodEnded.TYPE,
    ),
    "investigation": Asker(
        "investigate", "finish", investigate,
        "SELECT investigation_id FROM investigations WHERE participant_id = %(id)s AND outcome = 'finished'",
        ended_without, investigate,
    ),
}  # fmt: skip
WRONG = {  # the right tool, whose input is of no use
    "reply": {"text": None, "state": "emperor", "note": INVENTED},
    "reflect": {"summary": {"text": INVENTED}, "facts": {"plan": INVENTED}, "brief": 7},
    "tell": {"sentences": [7, None, {"text": f"Their plan is {INVENTED}.", "rows": []}, {"rows": [INVENTED]}]},
    "finish": {"note": [INVENTED], "facts": {"plan": INVENTED}},
}
GARBAGE: dict[str, Callable[[str], Behaviour]] = {  # an answer that nothing can be made of
    "no call": lambda tool: reply_text(f"All is {INVENTED}."),
    "a call that was cut": lambda tool: truncated_tool(tool, {"text": INVENTED}),
    "no object": lambda tool: malformed_tool_input(tool, f'{{"text": "{INVENTED}'),
    "a tool that is none": lambda tool: reply_tool("send_money", {"text": INVENTED}),
    "a form that is none": lambda tool: reply_tool(tool, WRONG[tool]),
    "it declines": lambda tool: refusal(),
}
AWAY: dict[str, Callable[[], Behaviour]] = {  # no answer
    "it hangs": hang,
    "it is overloaded": overloaded,
    "its answer is no JSON": malformed_json,
}


@pytest.fixture
async def desk(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Desk]:
    """Ann and Bo have written once, and were answered and learned from."""
    async with ScriptedModel() as server:
        settings = settings_for(
            stack,
            database,
            topic_prefix,
            tmp_path,
            model={"provider": "anthropic", "api_key": "k", "base_url": server.base_url, "max_retries": 0,
                   "timeout_s": 0.5, "budget_s": 1, "pause_s": 0.1, "longest_pause_s": 0.2},
            condense={"enabled": True, "rows_from": 2},
            investigate={"enabled": True, "rounds": 3},
        )  # fmt: skip
        clock = SteppingClock(utc_now())
        async with running_brokerless(settings, now=clock) as app:
            one = Desk(app, server, clock, stack.outbox)
            server.script(one.answer)
            for who in (ANN, BO):
                await one.post(who, f"our vault code is {who.mark}.")
            await until_idle(app)
            (row,) = await rows(app, "SELECT fact_id FROM facts WHERE value = %(mark)s", mark=BO.mark)
            one.bos_fact = str(row["fact_id"])
            (row,) = await rows(app, "SELECT mail_id FROM mails WHERE author_addr = %(addr)s", addr=ANN.addr)
            one.anns_mail = str(row["mail_id"])
            yield one


async def bo_is_served(desk: Desk, asker: Asker) -> None:
    """The next event goes on while Ann's is broken."""

    async def is_done() -> bool:
        return await desk.done(asker, BO) == 1

    await until_true(is_done)


async def nothing_invented_is_kept(desk: Desk, since: int) -> None:
    """No table, no mail, and no later prompt has a word that nobody said."""
    tables = await rows(
        desk.app,
        "SELECT c.relname AS name FROM pg_class c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition"
        " AND c.relnamespace = current_schema()::regnamespace",
    )
    names = {one["name"] for one in tables} - RAW
    assert {"facts", "thread_summaries", "briefs", "memory_periods", "investigations", "deliveries"} <= names
    for name in sorted(names):
        query = f"SELECT count(*) AS n FROM {name} t WHERE t::text LIKE %(word)s"
        assert (await rows(desk.app, query, word=f"%{INVENTED}%"))[0]["n"] == 0, name
    refused = await rows(desk.app, "SELECT decision FROM fact_log t WHERE t::text LIKE %(word)s", word=f"%{INVENTED}%")
    assert not [one for one in refused if not one["decision"].endswith(" refused")]
    mails = [one for one in sent_mail(desk.outbox) if one["X-Envelope-To"] in (f"<{ANN.addr}>", f"<{BO.addr}>")]
    assert not [one for one in mails if INVENTED in one.as_string()]
    assert not [one for one in desk.server.requests[since:] if not one.round and INVENTED in one.text]


async def what_was_known_stands(desk: Desk) -> None:
    """The facts from before, each its owner's."""
    query = (
        "SELECT fact_id::text FROM facts WHERE participant_id = %(id)s AND value = %(mark)s AND superseded_at IS NULL"
    )
    for who in (ANN, BO):
        assert len(await rows(desk.app, query, id=desk.id_of(who), mark=who.mark)) == 1
    assert [one["fact_id"] for one in await rows(desk.app, query, id=desk.id_of(BO), mark=BO.mark)] == [desk.bos_fact]


@pytest.mark.parametrize("fault", list(GARBAGE))
@pytest.mark.parametrize("name", list(ASKERS))
async def test_an_answer_of_no_use_is_kept_as_nothing(desk: Desk, name: str, fault: str) -> None:
    """It ends as one that came to nothing, says so, and what it was about is done once the model is well and asked again."""
    asker = ASKERS[name]
    desk.broken = asker.tool, lambda _: GARBAGE[fault](asker.tool)
    await asker.trigger(desk)
    await bo_is_served(desk, asker)
    await until_idle(desk.app)
    assert desk.asked_of_ann
    assert await desk.done(asker, ANN) == 0
    await asker.ended(desk)
    desk.broken, since = None, len(desk.server.requests)
    if asker.again:
        await asker.again(desk)
    await until_idle(desk.app)
    assert await desk.done(asker, ANN) == (1 if asker.again else 0)
    await nothing_invented_is_kept(desk, since)
    await what_was_known_stands(desk)


@pytest.mark.parametrize("fault", list(AWAY))
@pytest.mark.parametrize("name", list(ASKERS))
async def test_no_answer_holds_up_its_own_customer_alone(desk: Desk, name: str, fault: str) -> None:
    """It is asked again until the model is well, and then done once, without anybody doing anything."""
    asker = ASKERS[name]
    desk.broken = asker.tool, lambda _: AWAY[fault]()
    await asker.trigger(desk)

    async def is_asked_again() -> bool:
        return desk.asked_of_ann > 1

    await until_true(is_asked_again)
    await bo_is_served(desk, asker)
    assert await desk.done(asker, ANN) == 0
    desk.broken, since = None, len(desk.server.requests)
    await until_idle(desk.app)
    assert (await desk.done(asker, ANN), await desk.done(asker, BO)) == (1, 1)
    await nothing_invented_is_kept(desk, since)
    await what_was_known_stands(desk)


@pytest.mark.parametrize("name", list(ASKERS))
async def test_a_question_that_the_provider_refuses_for_good_is_not_lost(desk: Desk, name: str) -> None:
    """A person is told, or the event waits among the dead letters: what is done once more, is done."""
    asker = ASKERS[name]
    desk.broken = asker.tool, lambda _: failing(400, "invalid_request_error", "no such model")
    await asker.trigger(desk)
    await bo_is_served(desk, asker)

    async def is_refused() -> bool:
        return desk.asked_of_ann > 0

    await until_true(is_refused)
    assert await desk.done(asker, ANN) == 0
    if not asker.event:
        await until_idle(desk.app)
        await asker.ended(desk)
    desk.broken = None
    if asker.event:
        await desk.by_hand(asker.processor, asker.event)
    elif asker.again:
        await asker.again(desk)
    await until_idle(desk.app)
    assert await desk.done(asker, ANN) == 1
    await what_was_known_stands(desk)


def obeying(desk: Desk, request: Seen) -> Behaviour:
    """It does what an attacker wants: invents, changes what is Bo's, leaves the folder, sends Bo's words to Ann."""
    invented = {
        "kind": "customer_info",
        "key": "plan",
        "value": INVENTED,
        "text": f"Their plan is {INVENTED}.",
        "importance": 10,
    }
    quoted = {**invented, "quote": f"our plan is {INVENTED}"}
    of_bo = {"fact_id": desk.bos_fact, "kind": "customer_info", "key": "vault code"}
    if "reflect" in request.tools:
        bad = [{"op": "ADD", **quoted}, {"op": "UPDATE", **quoted, **of_bo}, {"op": "DELETE", **quoted, **of_bo}]
        honest = learned(request)
        return reply_tool("reflect", honest | {"facts": bad + honest["facts"]})
    if "tell" in request.tools:
        ids = [id for id, _ in rows_in(request)]
        bad_sentences = [(f"Their plan is {INVENTED}.", [id]) for id in ids] + [("Our code.", [desk.bos_fact])]
        return told(*bad_sentences, *((text, [id]) for id, text in rows_in(request)))
    if "finish" in request.tools:
        outside = {"command": "create", "path": f"../../{INVENTED}.md", "file_text": INVENTED}
        said = {"quote": f"our vault code is {ANN.mark}", "mail_id": desk.anns_mail}
        change = {name: value for name, value in quoted.items() if name != "importance"}
        facts = [
            {"op": "add", **change, "mail_id": desk.anns_mail},
            {"op": "correct", **change, **of_bo, **said},
            {"op": "forget", **of_bo, **said},
        ]
        return reply_tools(("memory", outside), ("finish", {"note": "It is as they say.", "facts": facts}))
    if request.round:
        return reply_tool("reply", POLITE)
    forget = {**of_bo, "reason": "asked for", "quote": f"our plan is {INVENTED}"}
    return reply_tools(
        ("remember_fact", quoted),
        ("correct_fact", quoted | of_bo),
        ("forget_fact", forget),
        ("search_memory", {"query_text": f"vault code of {BO.addr}", "max_results": 50}),
    )


@pytest.mark.parametrize("name", list(ASKERS))
async def test_a_model_that_obeys_an_attacker_changes_nothing_beside_its_work(desk: Desk, name: str) -> None:
    """What holds of its answer is kept; what is invented, or another's, is not, and is read back to nobody."""
    asker = ASKERS[name]
    desk.broken = asker.tool, lambda request: obeying(desk, request)
    since = len(desk.server.requests)
    await asker.trigger(desk)
    await bo_is_served(desk, asker)
    await until_idle(desk.app)
    assert desk.asked_of_ann
    assert await desk.done(asker, ANN) == 1
    await nothing_invented_is_kept(desk, since)
    await what_was_known_stands(desk)
    assert not [one for one in desk.server.requests[since:] if ANN.mark in one.text and BO.mark in one.text]
    assert await rows(desk.app, "SELECT content FROM investigation_proposals") == []


def test_every_processor_that_asks_a_model_has_a_row() -> None:
    """Whoever calls `ask` of the checkpointed model is in the table, and says that it asks."""
    asking = set()
    for path in (ROOT / "services").glob("*/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "services.core.bus.checkpointed_model":
                asking |= {path.relative_to(ROOT / "services").parts[0] for one in node.names if one.name == "ask"}
    assert asking == {one.processor for one in ASKERS.values()}
    assert asking == {one.name for one in PROCESSORS if one.asks_model}
