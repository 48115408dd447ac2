"""A model's answer that is broken, cut or partly wrong: nothing wrong is written, nothing is lost, and it is seen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from schemas.events.threads import MailAttached, TimerElapsed, TurnClosed
from services import learn_facts, read_email, reflect, track_threads
from services.core.bus.runner import enter
from services.core.clock import random_id
from services.core.errors import Temporary
from services.core.settings import LearningSettings
from tests.support.remembering import Memory, fact, remembering
from tests.support.scripted_model import ScriptedModel
from tests.support.scripted_replies import (
    Behaviour,
    cut_connection,
    malformed_json,
    malformed_tool_input,
    overloaded,
    refusal,
    reply_text,
    reply_tool,
    truncated,
    truncated_tool,
)

TEXT = "We are on the Team plan."
ALL = (read_email.PROCESSOR, reflect.PROCESSOR, learn_facts.PROCESSOR)


def operation(value: str = "Team", quote: str = "on the Team plan", **given: Any) -> dict[str, Any]:
    fields = {"op": "ADD", "kind": "customer_info", "key": "plan", "text": f"Ada is on {value}.", "importance": 7}
    return {**fields, "value": value, "quote": quote, **given}


def good(**given: Any) -> dict[str, Any]:
    return {"summary": "Ada wrote about her plan.", "facts": [operation()], "brief": "Ada.", **given}


UNUSABLE = {
    "no call": reply_text("Here is my summary: all is well."),
    "cut text": truncated("Here is my summ"),
    "cut call": truncated_tool("reflect", {"facts": [operation("Platinum", "x")]}),
    "no object": malformed_tool_input("reflect"),
    "no summary": reply_tool("reflect", {"facts": [operation()]}),
    "summary of another type": reply_tool("reflect", good(summary=["Ada"])),
    "another tool": reply_tool("remember_fact", operation()),
    "refusal": refusal("I would rather not."),
}

PARTLY = {
    "unknown field": good(mood="fine"),
    "a broken fact beside": good(facts=[operation(), {"op": "ADD"}, "fact", operation(importance=99)]),
    "a broken relation": good(relations=[{"subject": "Ada"}]),
    "broken signals": good(signals={"sentiment": "very"}),
    "a state that is none": good(participant={"state": "emperor", "reason": "x"}),
    "a brief of another type": good(brief=5),
    "too many facts": good(facts=[operation(), *(operation(f"x{n}", "nowhere", key=f"k{n}") for n in range(60))]),
}


@dataclass
class Studio:
    """A memory and the scripted model that it asks."""

    memory: Memory
    server: ScriptedModel

    async def close_turn(self, text: str, on: float) -> dict[str, Any]:
        """A mail arrives and its turn is closed; what the model says of it is learned."""
        mail = await self.memory.mail(text, on=on)
        await self.close_turn_of(mail)
        return mail

    async def close_turn_of(self, mail: dict[str, Any]) -> None:
        """The turn of a mail is closed."""
        await self._converse(mail)
        data = TurnClosed(
            thread_id=mail["thread_id"],
            participant_id=mail["participant_id"],
            turn_id=random_id(),
            inbox=mail["inbox"],
            mail_ids=(mail["mail_id"],),
            trusted=True,
            outcome="sent",
        )
        await enter(self.memory.app, self.memory.event(data, mail["received_at"]))
        await self.memory.settle(ALL)

    async def ask_again(self) -> list[str]:
        """The timers that wait come due, and are done."""
        timers = await self.memory.rows("SELECT event FROM timers WHERE event ->> 'purpose' = 'reflect_again'")
        await self.memory.rows("DELETE FROM timers RETURNING 1 AS one")
        for row in timers:
            timer = TimerElapsed.model_validate(row["event"])
            await enter(self.memory.app, self.memory.event(timer, timer.due_at))
        await self.memory.settle(ALL)
        return [row["event"]["due_at"] for row in timers]

    async def reflected(self) -> list[dict[str, Any]]:
        """What the reflections came to, oldest first."""
        return [row["data"] for row in await self.memory.rows("SELECT data FROM events WHERE type = 'turn.reflected.v1' ORDER BY seq")]  # fmt: skip

    async def _converse(self, mail: dict[str, Any]) -> None:
        data = MailAttached(
            thread_id=mail["thread_id"], mail_id=mail["mail_id"], text=mail["text"], tokens=9, trusted=True, waits=True
        )
        version = 1 + len(await self.memory.rows("SELECT 1 AS one FROM conversation"))
        envelope = replace(self.memory.event(data, mail["received_at"]), version=version)
        async with self.memory.app.database.transaction() as conn:
            await track_threads.PROCESSOR.appliers[MailAttached](conn, envelope)


@pytest.fixture
async def studio(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Studio]:
    async with ScriptedModel() as server:
        model = {"provider": "anthropic", "api_key": "k", "base_url": server.base_url, "max_retries": 0}
        async with remembering(stack, database, topic_prefix, tmp_path, model=model) as memory:
            yield Studio(memory, server)


def always(server: ScriptedModel, behaviour: Behaviour) -> None:
    server.script(lambda seen: behaviour)


async def test_an_unusable_answer_writes_nothing_and_is_seen(studio: Studio) -> None:
    """Whatever is not a reflection changes no fact, no brief and no session, and the event says why."""
    await studio.memory.tell(TEXT, fact("plan", "Starter", "We are on"), on=0.5)
    before = await studio.memory.rows("SELECT * FROM facts ORDER BY fact_id")
    briefs = await studio.memory.rows("SELECT * FROM briefs")
    for number, (name, behaviour) in enumerate(UNUSABLE.items()):
        always(studio.server, behaviour)
        await studio.close_turn(TEXT, on=1 + number)
        event = (await studio.reflected())[-1]
        assert event["refused"], name
        assert (event["summary"], event["facts"], event["covers_to"]) == ("", [], 0), name
    assert await studio.memory.rows("SELECT * FROM facts ORDER BY fact_id") == before
    assert await studio.memory.rows("SELECT * FROM briefs") == briefs
    assert len(await studio.reflected()) == len(UNUSABLE) + 1


async def test_what_holds_of_an_answer_is_kept_and_what_does_not_is_named(studio: Studio) -> None:
    """One broken entry costs itself alone: the good fact beside it is written, the bad one is on the event."""
    for number, (name, given) in enumerate(PARTLY.items()):
        always(studio.server, reply_tool("reflect", given))
        mail = await studio.close_turn(TEXT, on=1 + number)
        event = (await studio.reflected())[-1]
        assert event["refused"], name
        assert event["summary"] == "Ada wrote about her plan.", name
        (source,) = await studio.memory.rows(
            "SELECT 1 AS one FROM fact_sources JOIN facts USING (fact_id) WHERE key = 'plan' AND mail_id = %(id)s",
            id=mail["mail_id"],
        )
        assert source, name
    assert await studio.memory.current() == ["Team"]
    assert await studio.memory.rows("SELECT 1 AS one FROM facts WHERE key <> 'plan'") == []


async def test_facts_of_another_type_cost_the_facts_alone(studio: Studio) -> None:
    """Where `facts` is no list, the summary still stands and nothing is guessed."""
    always(studio.server, reply_tool("reflect", good(facts={"plan": "Platinum"})))
    await studio.close_turn(TEXT, on=1)
    (event,) = await studio.reflected()
    assert (event["facts"], event["refused"]) == ([], ["facts: not a list"])
    assert await studio.memory.current() == []


async def test_what_a_broken_answer_left_out_is_learned_from_the_next_one(studio: Studio) -> None:
    """Nothing is lost: the next reflection of the thread sees the mail again, and may still cite it."""
    always(studio.server, malformed_tool_input("reflect"))
    first = await studio.close_turn(TEXT, on=1)
    assert await studio.memory.current() == []
    always(studio.server, reply_tool("reflect", good()))
    second = await studio.memory.mail("Any news?", on=2)
    await studio.memory.rows(
        "UPDATE mails SET thread_id = %(thread)s WHERE mail_id = %(mail)s RETURNING 1 AS one",
        thread=first["thread_id"],
        mail=second["mail_id"],
    )
    await studio.close_turn_of({**second, "thread_id": first["thread_id"]})
    assert await studio.memory.current() == ["Team"]
    (row,) = await studio.memory.rows("SELECT mail_id FROM fact_sources")
    assert row["mail_id"] == first["mail_id"]
    assert TEXT in studio.server.requests[-1].text


async def test_a_bad_answer_is_said_to_the_model_once_and_a_good_second_one_counts(studio: Studio) -> None:
    """The model hears what was wrong, and its second answer is taken."""
    studio.server.queue(malformed_tool_input("reflect"), reply_tool("reflect", good()))
    await studio.close_turn(TEXT, on=1)
    (event,) = await studio.reflected()
    assert event["refused"]
    assert await studio.memory.current() == ["Team"]


@pytest.mark.parametrize("trouble", [overloaded(), malformed_json(), cut_connection()], ids=["529", "json", "cut"])
async def test_a_model_that_does_not_answer_leaves_the_turn_to_be_done_again(
    studio: Studio, trouble: Behaviour
) -> None:
    """No answer is a temporary error: nothing is stored, and the same event learns once the model answers."""
    always(studio.server, trouble)
    with pytest.raises(Temporary):
        await studio.close_turn(TEXT, on=1)
    assert await studio.reflected() == []
    always(studio.server, reply_tool("reflect", good()))
    await studio.memory.settle(ALL)
    assert await studio.memory.current() == ["Team"]
    assert len(await studio.reflected()) == 1


async def test_a_lost_reflection_is_asked_for_again(studio: Studio) -> None:
    """A turn that nothing was learned from is asked about later, and what holds then is learned as if at once."""
    always(studio.server, truncated_tool("reflect", {"facts": [operation("Platinum", "x")]}))
    await studio.close_turn(TEXT, on=1)
    (lost,) = await studio.reflected()
    assert lost["retry_at"]
    always(studio.server, reply_tool("reflect", good()))
    assert await studio.ask_again() == [lost["retry_at"]]
    assert await studio.memory.current() == ["Team"]
    held = (await studio.reflected())[-1]
    assert (held["covers_to"], held["retry_at"]) == (1, None)
    assert await studio.ask_again() == []


async def test_a_model_that_never_holds_is_not_asked_for_ever(studio: Studio) -> None:
    """After the last of `learning.retry_hours` the event says that nothing was learned, and no timer is left."""
    always(studio.server, reply_text("No."))
    await studio.close_turn(TEXT, on=1)
    while await studio.ask_again():
        pass
    told = await studio.reflected()
    assert [bool(one["retry_at"]) for one in told] == [True, True, True, False]
    assert all(one["refused"] for one in told)


async def test_what_a_later_turn_covers_is_not_asked_again(studio: Studio) -> None:
    """Where the thread's next reflection held, the model is spared the question, and the event says so."""
    always(studio.server, reply_text("No."))
    first = await studio.close_turn(TEXT, on=1)
    await studio.memory.rows(
        "INSERT INTO thread_summaries (thread_id, participant_id, workspace, text, words, covers_to, updated_at)"
        " VALUES (%(thread)s, %(who)s, %(workspace)s, 'Ada wrote.', 2, 9, now()) RETURNING 1 AS one",
        thread=first["thread_id"],
        who=studio.memory.person(),
        workspace=studio.memory.workspace,
    )
    asked = len(studio.server.requests)
    await studio.ask_again()
    assert len(studio.server.requests) == asked
    assert (await studio.reflected())[-1]["refused"] == ["a later turn of the thread covers it"]


async def test_a_second_attempt_has_twice_the_room(studio: Studio) -> None:
    """What was cut at the limit is not asked for within the same limit."""
    studio.server.queue(truncated_tool("reflect", {"facts": []}), reply_tool("reflect", good()))
    await studio.close_turn(TEXT, on=1)
    first, second = (one.body["max_tokens"] for one in studio.server.requests)
    assert second - first == LearningSettings().answer_tokens
    assert await studio.memory.current() == ["Team"]
