"""A person's brief: turns at the same time lose nothing of each other, and people see, write and delete it."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from deploy.local import Endpoints
from schemas.events.memory import BriefRequested
from schemas.events.merging import ParticipantMergeRequested
from schemas.events.retention import MemoryRetentionDue
from schemas.events.threads import MailAttached, TurnClosed
from services import learn_facts, reflect, track_threads
from services.core.archive.archive import archive_of
from services.core.bus.runner import enter
from services.core.clock import random_id
from services.core.db import Database
from services.core.web import make_app
from services.load_memory.layers import brief as layer
from services.load_memory.turn import Turn
from services.operations.erase.person import person
from services.operations.erase.run import erase
from services.operations.erase.survey import survey
from services.operations.rebuild.projections import fold, state_hash
from services.web.routes import routes
from tests.support.remembering import ADA, Memory, day, remembering
from tests.support.scripted_model import ScriptedModel
from tests.support.scripted_replies import reply_tool
from tests.support.stack import fresh_database

HOME = "ada@home.example"
TOKEN = "a token for tests"
LEARN = (learn_facts.PROCESSOR,)
SHIPS, MOVES, BOTH = "Ada ships on Mondays.", "Ada moves to Bonn.", "Ada ships on Mondays and moves to Bonn."


def version(text: str) -> str:
    """The name of a brief."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class Desk:
    """A memory, and the scripted model that writes its briefs."""

    memory: Memory
    server: ScriptedModel

    async def mail(self, on: float, sender: str = ADA) -> dict[str, Any]:
        """A mail of a thread of its own."""
        mail = await self.memory.mail("Hello, a word about us.", on=on, sender=sender)
        data = MailAttached(
            thread_id=mail["thread_id"], mail_id=mail["mail_id"], text=mail["text"], tokens=9, trusted=True, waits=True
        )
        async with self.memory.app.database.transaction() as conn:
            envelope = replace(self.memory.event(data, mail["received_at"]), version=1)
            await track_threads.PROCESSOR.appliers[MailAttached](conn, envelope)
        return mail

    async def reflected(self, mail: dict[str, Any], brief: str) -> str:
        """The turn of a mail is closed and reflected on, and nothing of it learned yet; what the model was shown."""
        self.server.script(lambda seen: reply_tool("reflect", {"summary": "They wrote.", "facts": [], "brief": brief}))
        same = ("thread_id", "participant_id", "inbox")
        closed = TurnClosed(
            **{name: mail[name] for name in same},
            turn_id=random_id(),
            mail_ids=(mail["mail_id"],),
            trusted=True,
            outcome="sent",
        )
        await enter(self.memory.app, self.memory.event(closed, mail["received_at"]))
        await self.memory.settle((reflect.PROCESSOR,))
        return self.server.requests[-1].text

    async def turn(self, brief: str, on: float, sender: str = ADA) -> str:
        """One whole turn; what the model was shown."""
        shown = await self.reflected(await self.mail(on, sender), brief)
        await self.memory.settle(LEARN)
        return shown

    async def at_once(self, *briefs: str, on: float, senders: tuple[str, ...] = (ADA, ADA)) -> None:
        """Turns of several threads, each reflected on before anything of another one is learned."""
        mails = [await self.mail(on, sender) for sender in senders]
        for brief, mail in zip(briefs, mails, strict=True):
            await self.reflected(mail, brief)
        await self.memory.settle(LEARN)

    async def briefs(self, addr: str = ADA) -> list[str]:
        """The brief that holds, and what is to be merged into it."""
        rows = await self.memory.rows("SELECT text FROM person_briefs(%(id)s) WHERE shown", id=self.memory.person(addr))
        return [row["text"] for row in rows]

    async def ask(self, op: str, text: str = "", *, on: float, base: str = "") -> None:
        """A person asks for another brief, or for none; decided before what else waits."""
        fields = {"participant_id": self.memory.person(), "op": op, "text": text, "base": base, "by": "grace"}
        asked = self.memory.event(BriefRequested.model_validate(fields), day(on))
        await enter(self.memory.app, asked)
        await self.memory.process(asked)
        await self.memory.settle(LEARN)

    async def merge(self, op: str, on: float) -> None:
        """The two addresses are one person, or are not."""
        ids = {"participant_id": self.memory.person(HOME), "into": self.memory.person()}
        command = ParticipantMergeRequested.model_validate({**ids, "op": op, "by": "grace"})
        await enter(self.memory.app, self.memory.event(command, day(on)))
        await self.memory.settle(LEARN)


@pytest.fixture
async def desk(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Desk]:
    async with ScriptedModel() as server:
        model = {"provider": "anthropic", "api_key": "k", "base_url": server.base_url, "max_retries": 0}
        changes: dict[str, Any] = {"model": model, "web": {"api_token": TOKEN}, "retention": {"facts_days": 200}}
        async with remembering(stack, database, topic_prefix, tmp_path, **changes) as memory:
            yield Desk(memory, server)


async def told(desk: Desk) -> list[str]:
    """What the context of a reply says of the person."""
    app = desk.memory.app
    who = desk.memory.person()
    turn = Turn(app, desk.memory.workspace, day(9), random_id(), who, app.settings.inboxes[0], (), np.zeros(384))
    async with app.database.reading() as conn:
        return [one.text for one in (await layer.load(turn, conn)).entries]


def client(desk: Desk) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(make_app([routes(desk.memory.app)]), raise_app_exceptions=False),
        base_url="http://deployment",
        headers={"authorization": f"Bearer {TOKEN}"},
    )


async def test_of_two_turns_at_once_the_later_brief_took_the_place_of_the_other(desk: Desk) -> None:
    """Both were written from the same brief: both are kept, the next reflection is shown both, and one is left."""
    await desk.turn("Ada.", on=1)
    await desk.at_once(SHIPS, MOVES, on=2)
    shown = await desk.turn(BOTH, on=3)
    assert SHIPS in shown
    assert MOVES in shown
    assert "The brief was written 2 times" in shown
    assert await desk.briefs() == [BOTH]
    (row,) = await desk.memory.rows("SELECT bases FROM briefs")
    assert set(row["bases"]) == {version(SHIPS), version(MOVES)}
    shown = await desk.turn("Ada, again.", on=4)
    assert (BOTH in shown, MOVES in shown, "The brief was written" in shown) == (True, False, False)
    assert await desk.briefs() == ["Ada, again."]


async def test_the_first_two_turns_of_a_person_lost_one_brief(desk: Desk) -> None:
    """Where there was none before, none of the two is lost either."""
    await desk.at_once(SHIPS, MOVES, on=1)
    assert set(await desk.briefs()) == {SHIPS, MOVES}


async def test_turns_at_once_under_two_addresses_of_a_person_lost_one_brief(desk: Desk) -> None:
    """The brief is the person's, whichever address they write from, until they are taken apart."""
    for sender in (ADA, HOME):
        await desk.turn(f"Ada of {sender}.", on=1, sender=sender)
    await desk.merge("merge", on=2)
    assert set(await desk.briefs()) == {f"Ada of {ADA}.", f"Ada of {HOME}."}
    await desk.turn("Ada.", on=3, sender=HOME)
    assert await desk.briefs() == ["Ada."]
    await desk.at_once(SHIPS, MOVES, on=4, senders=(ADA, HOME))
    assert set(await desk.briefs()) == {SHIPS, MOVES}
    await desk.turn(BOTH, on=5)
    await desk.turn("Ada, again.", on=6, sender=HOME)
    assert await desk.briefs() == ["Ada, again."]
    await desk.merge("unmerge", on=7)
    assert [await desk.briefs(one) for one in (ADA, HOME)] == [[f"Ada of {ADA}."], [f"Ada of {HOME}."]]


async def test_what_is_kept_beside_has_a_bound(desk: Desk) -> None:
    """Of many turns at once the latest few wait beside the brief that holds, and the oldest has gone."""
    texts = [f"Ada wrote {number}." for number in range(8)]
    await desk.at_once(*texts, on=1, senders=(ADA,) * 8)
    first, *beside = await desk.briefs()
    assert (first, sorted(beside)) == (texts[0], texts[4:])


async def test_the_agent_is_told_of_both_before_the_next_reply(desk: Desk) -> None:
    """Until they are merged the context of a reply holds both, and a person's edit at once."""
    await desk.at_once(SHIPS, MOVES, on=1)
    assert await told(desk) == [SHIPS, MOVES]
    await desk.ask("edit", BOTH, on=2)
    assert await told(desk) == [BOTH]


async def test_a_persons_brief_is_read_by_the_next_turn_and_a_turn_that_had_not_seen_it_takes_not_its_place(
    desk: Desk,
) -> None:
    """What a person wrote holds, and what a turn wrote meanwhile stands beside it until an author has seen both."""
    await desk.turn("Ada.", on=1)
    await desk.reflected(await desk.mail(2), MOVES)
    await desk.ask("edit", "Ada never calls.", on=2)
    assert await desk.briefs() == ["Ada never calls.", MOVES]
    shown = await desk.turn("Ada never calls, and moves to Bonn.", on=3)
    assert "Ada never calls." in shown
    assert "A colleague wrote a brief that is shown" in shown
    assert await desk.briefs() == ["Ada never calls, and moves to Bonn."]


async def test_a_deleted_brief_came_back_with_a_turn_that_had_been_shown_it(desk: Desk) -> None:
    """What was written from a brief that was deleted meanwhile is refused, and seen; the next turn writes it again."""
    await desk.turn("Ada is unwell.", on=1)
    await desk.reflected(await desk.mail(2), "Ada is unwell and moves.")
    await desk.ask("delete", on=2)
    assert await desk.briefs() == []
    assert await desk.memory.refusals() == ["it was written from a brief that was taken back meanwhile"]
    assert "unwell" not in await desk.turn(MOVES, on=3)
    assert await desk.briefs() == [MOVES]


async def test_what_a_person_asks_of_a_brief_is_refused_in_words(desk: Desk) -> None:
    """Nothing to delete, no words, too many, another one by now."""
    await desk.mail(1)
    await desk.ask("delete", on=1)
    await desk.ask("edit", " ", on=1)
    await desk.ask("edit", "word " * 501, on=1)
    await desk.ask("edit", MOVES, on=1)
    await desk.ask("edit", SHIPS, on=1, base=version("Ada."))
    assert await desk.memory.refusals() == [
        "there is no brief",
        "a brief needs words; delete it instead",
        "a brief has at most 500 words (learning.brief_words)",
        "it was written again since: look at it as it is now",
    ]
    assert await desk.briefs() == [MOVES]


async def test_what_a_model_writes_is_kept_without_control_characters_and_secrets(desk: Desk) -> None:
    """A terminal is not steered, and a card number is masked before it is stored."""
    await desk.turn("Ada \x1b[2Jpays\x85 with 4111 1111 1111 1111.", on=1)
    (text,) = await desk.briefs()
    assert not set(text) & {"\x1b", "\x85"}
    assert "4111 1111" not in text
    assert "1111" in text


async def test_over_http_a_brief_is_shown_written_and_deleted(desk: Desk) -> None:
    """Version, base and who wrote it are told; hostile input is refused, and a secret masked."""
    await desk.turn("Ada.", on=1)
    await desk.at_once(SHIPS, MOVES, on=2)
    path = f"/api/participants/{ADA}/brief"
    async with client(desk) as api, desk.memory.at_work():
        told = (await api.get(path)).json()
        assert (told["brief"]["text"], [one["text"] for one in told["beside"]]) == (SHIPS, [MOVES])
        assert told["brief"]["bases"] == told["beside"][0]["bases"] == [version("Ada.")]
        for bad in ("", "a\x00b", "a\x1bb", "a\x9bb", "a" * 16_001):
            assert (await api.put(path, json={"text": bad})).status_code == 422
        assert (await api.put(path, json={"text": "x", "base": "no hash"})).status_code == 422
        stale = await api.put(path, json={"text": "Ada.", "base": version("Ada.")})
        assert (stale.status_code, stale.json()["error"]) == (409, "refused")
        body = {"text": "Ada pays with\r\n4111 1111 1111 1111.", "base": told["brief"]["version"], "by": "grace"}
        told = (await api.put(path, json=body)).json()
        assert "4111 1111" not in told["brief"]["text"]
        assert (told["brief"]["by"], told["beside"]) == ("grace", [])
        earlier = (await api.get(f"{path}/history")).json()
        assert [one["text"] for one in earlier] == [MOVES, SHIPS, "Ada."]
        assert len((await api.get(f"{path}/history", params={"limit": 2})).json()) == 1
        assert (await api.delete(path)).json() == {"brief": None, "beside": []}
        assert (await api.delete(path)).status_code == 409
    asked = await desk.memory.rows("SELECT data FROM events WHERE type = 'participant.brief_requested.v1'")
    assert "4111 1111" not in str(asked)


async def test_a_brief_that_nothing_renewed_goes_with_the_facts(desk: Desk) -> None:
    """After retention.facts_days the brief and what was beside it are gone, and not before."""
    await desk.turn("Ada.", on=1)
    await desk.at_once(SHIPS, MOVES, on=2)
    due = MemoryRetentionDue(participant_id=desk.memory.person(), due_at=day(400))
    await enter(desk.memory.app, desk.memory.event(due, day(100)))
    await desk.memory.settle(LEARN)
    assert set(await desk.briefs()) == {SHIPS, MOVES}
    await enter(desk.memory.app, desk.memory.event(due, day(99_999)))
    await desk.memory.settle(LEARN)
    assert await desk.briefs() == []
    assert await desk.memory.rows("SELECT text FROM brief_divergences") == []


async def test_an_erase_reaches_the_brief_and_what_is_beside_it(desk: Desk) -> None:
    """No row, and no stored event that can be read, holds a word of them; nor of what a person wrote."""
    await desk.at_once(SHIPS, MOVES, on=1)
    await desk.reflected(await desk.mail(2), BOTH)
    await desk.ask("edit", "Ada never calls.", on=2)
    stored = str(await desk.memory.rows("SELECT data FROM events"))
    assert all(text in stored for text in (SHIPS, MOVES, BOTH, "never calls"))
    app = desk.memory.app
    people, names = await person(app, ADA)
    async with app.database.reading() as conn:
        known = await survey(conn, desk.memory.workspace, people, names, archive_of(app.settings))
    await erase(app, known, by="the test")
    assert await desk.memory.rows("SELECT FROM briefs UNION ALL SELECT FROM brief_divergences") == []
    stored = str(await desk.memory.rows("SELECT data FROM events"))
    assert not any(text in stored for text in (SHIPS, MOVES, BOTH, "never calls"))


async def test_the_tables_are_rebuilt_as_they_were(desk: Desk, stack: Endpoints) -> None:
    """Briefs, what they were written from and what is beside them come again from the stored events alone."""
    await desk.turn("Ada.", on=1)
    await desk.at_once(SHIPS, MOVES, BOTH, on=2, senders=(ADA,) * 3)
    await desk.ask("edit", "Ada never calls.", on=3)
    await desk.at_once("Ada calls.", MOVES, on=4)
    with fresh_database(stack.database) as url:
        async with desk.memory.app.database.reading() as conn:
            await fold(conn, url)
        database = Database(url, size=2)
        await database.open()
        async with database.reading() as conn:
            folded = await state_hash(conn)
        await database.close()
    whole = await desk.memory.state()
    tables = ("briefs", "brief_divergences", "fact_log")
    assert [folded[one] for one in tables] == [whole[one] for one in tables]
    assert await desk.memory.rows("SELECT FROM brief_divergences") != []
