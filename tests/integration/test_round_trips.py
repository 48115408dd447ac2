"""What is sent together is answered in one round trip, and still holds everything that it held one by one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg import AsyncConnection

from deploy.local import Endpoints
from schemas.events.memory import FactRequested
from services.core.bus import event_store
from services.core.bus.work import AlreadyDone, Work
from tests.support.remembering import ADA, Memory, day, remembering

BOB = "bob@brackwater.example"

ASKED = FactRequested(participant_id=UUID(int=2), op="pin", fact_id=UUID(int=1), by="grace")
OWNERS = """
SELECT k.owners FROM events e JOIN subject_keys k ON k.key_id = (e.data ->> '$key')::uuid WHERE e.id = %(id)s"""
MARK = "INSERT INTO journal (consumer, event_id, event_day) VALUES ('tester', gen_random_uuid(), current_date)"
MOVE = "UPDATE mails SET thread_id = %(thread_id)s WHERE mail_id = %(mail_id)s RETURNING 1"
WAITS_FOR_AN_ANSWER = 1  # psycopg's `Wait.R`


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        yield one


@contextmanager
def round_trips(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What connections wait for while the block lasts: one entry for each time that one waits for the server."""
    seen: list[str] = []
    wait = AsyncConnection.wait

    def watched(generator: Any) -> Generator[Any, Any, Any]:
        trip, answer = False, None
        while True:
            try:
                state = generator.send(answer)
            except StopIteration as end:
                return end.value
            if state == WAITS_FOR_AN_ANSWER and not trip:
                trip = True
                seen.append(generator.__name__)
            answer = yield state

    async def counting(self: Any, generator: Any, *args: Any, **given: Any) -> Any:
        return await wait(self, watched(generator), *args, **given)

    with monkeypatch.context() as patch:
        patch.setattr(AsyncConnection, "wait", counting)
        yield seen


def work_on(memory: Memory, envelope: Any = None) -> Work[Any]:
    envelope = envelope or memory.event(ASKED, day(1))
    return Work(envelope.data, envelope, "learn_facts", memory.app, {})


async def test_the_journal_a_lock_and_what_is_read_under_it_were_one_round_trip(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal's answer and the lock come with the first rows that the unit waits for."""
    async with work_on(memory).unit() as unit:
        with round_trips(monkeypatch) as trips:
            await unit.lock("participant", UUID(int=2))
            assert await unit.several(("SELECT 1 AS one", "SELECT 2 AS two")) == [[{"one": 1}], [{"two": 2}]]
            assert await unit.version("participant", UUID(int=2)) == 0
        assert len(trips) == 1


async def decide(work: Work[Any], *, reads: bool) -> None:
    """A unit that writes, and goes on to write when it has read."""
    async with work.unit() as unit:
        await unit.lock("participant", UUID(int=2))
        await unit.conn.execute(MARK)
        if reads:
            await unit.one("SELECT 1 AS one")
            pytest.fail("it went on")


@pytest.mark.parametrize("reads", [True, False])
async def test_what_was_done_already_was_decided_again_and_nothing_of_it_was_stored(
    memory: Memory, reads: bool
) -> None:
    """However late the journal's answer is looked at, it comes before anything that is decided is stored."""
    first = work_on(memory)
    async with first.unit():
        pass
    with pytest.raises(AlreadyDone):
        await decide(work_on(memory, first.envelope), reads=reads)
    assert await memory.rows("SELECT FROM journal WHERE consumer = 'tester'") == []


async def test_a_kept_answer_was_asked_for_again_after_a_failure(memory: Memory) -> None:
    """No answer is looked for where none was kept; one that was kept stands, in this attempt and in the next."""
    asked: list[int] = []

    async def ask() -> dict[str, Any]:
        asked.append(1)
        return {"answer": len(asked)}

    work = work_on(memory)
    assert not await work.done_before()
    assert [await work.checkpoint("step", ask) for _ in range(2)] == [{"answer": 1}] * 2
    again = work_on(memory, work.envelope)
    assert not await again.done_before()
    assert await again.checkpoint("step", ask) == {"answer": 1}
    assert len(asked) == 1


async def owners(memory: Memory, mail: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> tuple[set[UUID], int]:
    """Whose key seals an event of the mail's thread, and how many round trips it took to store it."""
    envelope = memory.reflection(mail)
    async with memory.app.database.transaction(memory.workspace) as conn:
        with round_trips(monkeypatch) as trips:
            await event_store.store(conn, [envelope])
    (row,) = await memory.rows(OWNERS, id=envelope.id)
    return set(row["owners"]), len(trips)


async def test_who_began_to_write_in_a_thread_had_no_part_in_the_key_of_what_came_then(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whom a process saw last in a thread is a guess: what is stored is sealed for those who write there now."""
    ada = await memory.mail("We are on the Team plan.", on=1)
    bob = await memory.mail("So are we.", on=2, sender=BOB)
    assert (await owners(memory, ada, monkeypatch))[0] == {memory.person(ADA)}
    assert await owners(memory, ada, monkeypatch) == ({memory.person(ADA)}, 1)
    assert await memory.rows(MOVE, thread_id=ada["thread_id"], mail_id=bob["mail_id"])
    both = {memory.person(ADA), memory.person(BOB)}
    assert (await owners(memory, ada, monkeypatch))[0] == both
    assert await owners(memory, ada, monkeypatch) == (both, 1)


async def test_a_key_was_made_for_whom_a_process_still_took_for_a_writer(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guess makes no key: whose key was destroyed gets none again because somebody remembers them."""
    ada = await memory.mail("We are on the Team plan.", on=1)
    bob = await memory.mail("So are we.", on=2, sender=BOB)
    await memory.rows(MOVE, thread_id=ada["thread_id"], mail_id=bob["mail_id"])
    await owners(memory, ada, monkeypatch)
    await memory.rows(
        "DELETE FROM subject_keys WHERE owners @> ARRAY[%(bob)s::uuid] RETURNING 1", bob=memory.person(BOB)
    )
    await memory.rows("DELETE FROM mails WHERE mail_id = %(id)s RETURNING 1", id=bob["mail_id"])
    assert (await owners(memory, ada, monkeypatch))[0] == {memory.person(ADA)}
    of_bob = "SELECT FROM subject_keys WHERE owners @> ARRAY[%(bob)s::uuid]"
    assert await memory.rows(of_bob, bob=memory.person(BOB)) == []
