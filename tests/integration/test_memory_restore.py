"""Facts are brought back to what was believed at a moment, one person's or everybody's, and stay so until told otherwise."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from services.cli.memory import view as showing
from services.operations.memory.past import as_of as facts_as_of
from services.operations.memory.restoring import (
    NotPastYet,
    difference,
    restore,
    restore_all,
    restore_within,
)
from services.operations.memory.restoring import differences as differences_of
from tests.support.beginning import after
from tests.support.erasing import differences
from tests.support.remembering import ADA, Memory, day, fact, remembering

pytestmark = pytest.mark.timeout(300)
TEAM, GROWTH = "We are on the Team plan now.", "We are on the Growth plan now."
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "memory.md"
UUID_SHOWN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
BO = "bo@granite.example"
TRIP = "I am on vacation until 20 January."


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        yield one


async def told(memory: Memory, sender: str = ADA) -> None:
    """A plan and a contact; then another plan, a dog, and the contact taken back by mistake."""
    bea, rex = fact("contact", "Bea", "Our contact is Bea."), fact("dog", "Rex", "Our dog is Rex.")
    await memory.tell(f"{TEAM}\nOur contact is Bea.", fact("plan", "Team", TEAM), bea, on=1, sender=sender)
    await memory.tell(f"{GROWTH}\nOur dog is Rex.", fact("plan", "Growth", GROWTH), rex, on=5, sender=sender)
    (row,) = await memory.rows(
        "SELECT fact_id FROM facts WHERE key = 'contact' AND participant_id = %(who)s", who=memory.person(sender)
    )
    await memory.ask("forget", 6, sender, fact_id=row["fact_id"])
    memory.clock.forward(day(7))


@pytest.fixture
async def altered(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    """A memory of what Ada told."""
    async with after(told, remembering, stack, template_database, topic_prefix, tmp_path) as one:
        yield one


async def values(memory: Memory) -> dict[str, list[str]]:
    """What is believed, by key."""
    return {key: found for key in ("plan", "contact", "dog") if (found := await memory.current(key))}


async def changes(memory: Memory, on: float) -> tuple[list[str], list[str]]:
    """The values that came and went since a day."""
    found = await difference(memory.app, memory.person(), day(on))
    return sorted(one.value for one in found.came), sorted(one.value for one in found.gone)


async def brought_back(memory: Memory, on: float) -> list[str]:
    """What becomes of each request of a restore."""
    async with memory.at_work():
        done = [one async for one in restore(memory.app, memory.person(), day(on), by="grace")]
    shown = [UUID_SHOWN.sub("5f0e1c2a-...", showing.decided(one)) for one in done]
    assert [line for line in shown if f"    {line}\n" not in PAGE.read_text(encoding="utf-8")] == []
    return [one.decision for one in done]


async def test_what_came_is_taken_back_and_what_went_holds_again(altered: Memory, stack: Endpoints) -> None:
    """Looking changes nothing; the plan of before holds by itself; older mails bring nothing back; newer ones do."""
    assert await values(altered) == {"plan": ["Growth"], "dog": ["Rex"]}
    assert await changes(altered, 3) == (["Growth", "Rex"], ["Bea", "Team"])
    assert await values(altered) == {"plan": ["Growth"], "dog": ["Rex"]}
    assert await brought_back(altered, 3) == ["retracted", "retracted", "recorded"]
    assert await values(altered) == {"plan": ["Team"], "contact": ["Bea"]}
    assert await changes(altered, 3) == ([], [])
    assert await brought_back(altered, 3) == []
    await altered.tell(GROWTH, fact("plan", "Growth", GROWTH), on=8, sent_on=4)
    assert (await values(altered))["plan"] == ["Team"]
    await altered.tell(GROWTH, fact("plan", "Growth", GROWTH), on=9)
    assert (await values(altered))["plan"] == ["Growth"]
    assert await differences(altered.app, stack) == set()


async def test_a_corrected_value_takes_its_place_and_what_was_past_stays_so(altered: Memory, stack: Endpoints) -> None:
    """Taken back alone, a correction let the plan before it hold again; that one was taken back too, with its time."""
    (row,) = await altered.rows("SELECT fact_id FROM facts WHERE value = 'Growth'")
    await altered.ask("correct", 7, fact_id=row["fact_id"], value="Gold")
    altered.clock.forward(day(8))
    assert await changes(altered, 5.5) == (["Gold"], ["Bea", "Growth"])
    assert await brought_back(altered, 5.5) == ["recorded", "recorded"]
    assert await values(altered) == {"plan": ["Growth"], "dog": ["Rex"], "contact": ["Bea"]}
    async with altered.app.database.reading() as conn:
        on = {"valid_at": day(3), "known_at": day(8)}
        then = await facts_as_of(conn, altered.app.settings.workspace, altered.person(), **on)
    assert "Team" in [one.value for one in then]
    assert await brought_back(altered, 5.5) == []
    assert await differences(altered.app, stack) == set()


async def test_a_restore_that_was_cut_short_is_finished_by_the_next(altered: Memory) -> None:
    """After the first request the rest is still to be done, and nothing is done twice."""
    async with altered.at_work():
        async for one in restore(altered.app, altered.person(), day(3), by="grace"):
            assert one.decision == "retracted"
            break
    assert len(await brought_back(altered, 3)) == 2
    assert await values(altered) == {"plan": ["Team"], "contact": ["Bea"]}


async def test_what_is_over_by_itself_is_not_brought_back(memory: Memory) -> None:
    """A vacation that has ended since is no loss, also where a person took it back before its end."""
    trip = fact("vacation", "until 20 January", TRIP, valid_to="2026-01-20")
    await memory.tell(TRIP, trip, on=1)
    memory.clock.forward(day(3))
    assert await changes(memory, 2) == ([], [])
    (row,) = await memory.rows("SELECT fact_id FROM facts")
    await memory.ask("forget", 4, fact_id=row["fact_id"])
    memory.clock.forward(day(5))
    assert await changes(memory, 2) == ([], ["until 20 January"])
    memory.clock.forward(day(40))
    assert await changes(memory, 2) == ([], [])


async def requests(memory: Memory) -> int:
    """How many requests about facts are on the log."""
    (row,) = await memory.rows("SELECT count(*) AS many FROM events WHERE type = 'fact.requested.v1'")
    return int(row["many"])


async def test_a_second_run_asked_again_what_was_not_decided_yet(altered: Memory) -> None:
    """Nobody is at work: the first request stays the only one, however often the restore begins, and then it goes on."""
    before = await requests(altered)
    for _ in range(3):
        made = await restore_within(altered.app, altered.person(), day(3), by="grace", seconds=0.3)
        assert (made.decisions, made.done) == ((), False)
    assert await requests(altered) == before + 1
    async with altered.at_work():
        made = await restore_within(altered.app, altered.person(), day(3), by="grace", seconds=60)
    assert made.done
    assert await requests(altered) == before + 3
    assert await values(altered) == {"plan": ["Team"], "contact": ["Bea"]}


async def test_what_was_changed_after_a_restore_is_brought_back_once_more(altered: Memory) -> None:
    """The same moment again is another restore where something was decided since."""
    await brought_back(altered, 3)
    for key in ("plan", "contact"):
        (row,) = await altered.rows("SELECT fact_id FROM facts WHERE superseded_at IS NULL AND key = %(key)s", key=key)
        await altered.ask("forget", 8, fact_id=row["fact_id"])
    assert await values(altered) == {}
    await brought_back(altered, 3)
    assert await values(altered) == {"plan": ["Team"], "contact": ["Bea"]}


async def test_everybody_is_brought_back_and_a_second_run_adds_nothing(altered: Memory, stack: Endpoints) -> None:
    """Cut short after the first person, the next run does the second; the run after that asks nothing."""
    await told(altered, BO)
    at = day(3)
    changed = {
        one.addr: len(found.came) + len(found.gone) async for one, found in differences_of(altered.app, at, None)
    }
    assert changed == {ADA: 4, BO: 4}
    before = await requests(altered)
    async with altered.at_work():
        async for _, decided in restore_all(altered.app, at, None, by="grace"):
            assert len(decided) == 3
            break
        rest = [len(decided) async for _, decided in restore_all(altered.app, at, None, by="grace")]
        assert sorted(rest) == [0, 3]
        again = [len(decided) async for _, decided in restore_all(altered.app, at, None, by="grace")]
    assert again == [0, 0]
    assert await requests(altered) == before + 6
    for addr in (ADA, BO):
        assert await altered.current("plan", addr) == ["Team"]
    assert [one async for one in differences_of(altered.app, at, "sales")] == []
    assert await differences(altered.app, stack) == set()


async def test_a_moment_to_come_is_refused(altered: Memory) -> None:
    """What will be believed then is not known: nothing is taken back for it."""
    with pytest.raises(NotPastYet, match="still to come"):
        await changes(altered, 9)
    assert await values(altered) == {"plan": ["Growth"], "dog": ["Rex"]}


async def test_the_page_shows_what_as_of_prints(altered: Memory) -> None:
    """docs/how-to/memory.md has what held on 8 January, as is known now and as was known then, ids apart."""
    printed = [
        UUID_SHOWN.sub("5f0e1c2a-...", showing.line(one, day(3)))
        for known_at in (day(7), day(3))
        for one in await as_of(altered, valid_at=day(3), known_at=known_at)
    ]
    page = PAGE.read_text(encoding="utf-8").splitlines()
    assert [line for line in printed if f"    {line}" not in page] == [], "\n".join(printed)
    assert len(printed) == 3, "what was taken back since was known then"


async def as_of(memory: Memory, *, valid_at: datetime, known_at: datetime) -> list[Any]:
    """What `memory as-of` prints, before it is in words."""
    async with memory.app.database.reading() as conn:
        rules = memory.app.settings.learning.confidence
        who = (conn, memory.workspace, memory.person())
        return list(await facts_as_of(*who, valid_at=valid_at, known_at=known_at, rules=rules))
