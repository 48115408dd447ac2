"""Of which rows a period is told: what is asked for, what a model is shown of it, and what is told by rows alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from schemas.events.periods import PeriodEnded
from schemas.events.retention import MemoryRetentionDue
from services.condense_memory.handler import TOO_FEW
from services.core.settings import PeriodRetention
from services.memory.condensed import rows_of
from services.operations import periods
from services.operations.erase.run import erase
from services.operations.periods import ask, periods_of
from services.operations.rebuild.shadow_schema import connected
from services.operations.vectors.renewal import give_vectors
from services.receive_email.accept import accept
from tests.support.erasing import found
from tests.support.remembering import ADA, day, fact
from tests.support.telling import DRIVEN, TOLD, Desk, opening, rows_in

pytestmark = pytest.mark.timeout(300)
BOB = "bob@acme.example"
CARD = "4111 1111 1111 1111"
BOXES: list[dict[str, Any]] = [
    {"name": "support", "address": "support@ourcompany.example", "vouched_by": "the test",
     "memory": {"periods": {"daily": "Say what was ordered."}}},
    {"name": "sales", "address": "sales@ourcompany.example", "vouched_by": "the test",
     "memory": {"periods": {"daily": "Say what was sold."}}},
]  # fmt: skip


@pytest.fixture
async def opened(
    request: pytest.FixtureRequest, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> AsyncIterator[Callable[..., Awaitable[Desk]]]:
    async with opening(stack, database, topic_prefix, tmp_path, getattr(request, "param", {})) as open_one:
        yield open_one


def keep(desk: Desk, **counts: int) -> None:
    """From now on told periods are kept for so long."""
    settings = desk.memory.app.settings
    kept = settings.retention.model_copy(update={"periods": PeriodRetention(**counts)})
    object.__setattr__(desk.memory.app, "settings", settings.model_copy(update={"retention": kept}))


async def forgotten(desk: Desk, key: str, on: float) -> None:
    """A person takes a fact back."""
    (row,) = await desk.memory.rows("SELECT fact_id FROM facts WHERE key = %(key)s", key=key)
    await desk.memory.ask("forget", on, fact_id=row["fact_id"])


async def texts(desk: Desk) -> set[str]:
    """The periods of which something is told, shown or not."""
    return {row["period"] for row in await desk.memory.rows("SELECT period FROM memory_periods WHERE text <> ''")}


async def test_the_weightiest_rows_are_shown_oldest_first_masked_and_within_the_bound(
    opened: Callable[..., Awaitable[Desk]],
) -> None:
    """What is left out is counted, the answer is capped, and a secret that an older release kept leaves for no provider."""
    desk = await opened(rows_shown=3, answer_tokens=256)
    for number, importance in enumerate((9, 6, 8, 5, 7)):
        said = f"Our item{number}: oak."
        proposed = fact(f"item{number}", "oak", said, text=said, kind="order_info", importance=importance)
        await desk.memory.tell(said, proposed, on=1 + number / 10)
    await desk.memory.rows("UPDATE facts SET text = text || %(card)s WHERE key = 'item2' RETURNING 1", card=f" {CARD}")
    await desk.round(2)
    [request] = desk.server.requests
    assert [text.split(":")[0] for _, text in rows_in(request)] == ["Our item0", "Our item2", "Our item4"]
    assert CARD not in request.text
    assert request.body["max_tokens"] == 256 + desk.memory.app.settings.model.thinking_tokens
    (period,) = await periods_of(desk.memory.app, desk.memory.person())
    assert (period.rows, period.left_out) == (3, 2)


@pytest.mark.parametrize("left", [2, 0])
async def test_a_period_whose_rows_went_before_it_was_told_took_a_call_of_every_later_day(
    opened: Callable[..., Awaitable[Desk]], left: int
) -> None:
    """No model is asked of what is left, it is noted once, and rows that come later are told by themselves."""
    desk = await opened()
    await desk.learn(1)
    desk.at(2)
    assert (await ask(desk.memory.app, asyncio.Event()))["asked"] == 1
    for key, _ in TOLD[left:]:
        await forgotten(desk, key, 2)
    await desk.memory.settle(DRIVEN)
    assert desk.server.requests == []
    (period,) = await periods_of(desk.memory.app, desk.memory.person())
    assert (period.dropped, period.sentences) == ([TOO_FEW], [])
    late = [fact(f"late{n}", "oak", f"Our late{n}: oak.", kind="order_info") for n in range(4)]
    await desk.memory.tell(" ".join(one.quote for one in late), *late, on=3, sent_on=1.2, history_mode=True)
    assert await desk.round(4) == {"asked": 0, "waiting": 0, "left": 0}


async def test_what_ended_first_is_told_first(opened: Callable[..., Awaitable[Desk]]) -> None:
    """Where the day has a call for one of them."""
    desk = await opened(calls_a_day=1)
    await desk.learn(2, addr=BOB)
    await desk.learn(1)
    assert await desk.round(3) == {"asked": 1, "waiting": 0, "left": 1}
    assert await desk.names() == ["2026-01-06"]


async def test_who_is_erased_while_the_round_looks_is_not_asked_about(
    opened: Callable[..., Awaitable[Desk]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are."""
    desk = await opened()
    await desk.learn(1)
    await desk.learn(1.1, addr=BOB)
    enter = periods._enter

    async def erased_first(*given: Any) -> None:
        await erase(desk.memory.app, await found(desk.memory.app, ADA), by="test")
        await enter(*given)

    monkeypatch.setattr(periods, "_enter", erased_first)
    assert (await desk.round(2))["asked"] == 2
    rows = await desk.memory.rows("SELECT data FROM events WHERE type = %(type)s", type=PeriodEnded.TYPE)
    assert [row["data"]["participant_id"] for row in rows] == [str(desk.memory.person(BOB))]


async def test_what_would_be_shown_nowhere_is_not_asked_for(opened: Callable[..., Awaitable[Desk]]) -> None:
    """A day or week that lies further back than its length is shown, and one that has had its time when it is noticed."""
    desk = await opened()
    await desk.learn(1)
    await desk.learn(60, facts=[(f"late{n}", "oak") for n in range(3)])
    keep(desk, days=5, weeks=20)
    assert (await desk.round(70))["asked"] == len(await desk.names())
    shown = desk.memory.app.settings.recall.grains
    assert shown.days > 10, "the day of the second mail is left out because it is not kept"
    assert await desk.names() == ["2026-01", "2026-W10"]


@pytest.mark.parametrize("opened", [{"inboxes": BOXES}], indirect=True)
async def test_it_is_told_in_the_words_of_the_inbox_where_they_wrote_last_and_proven_before_its_end(
    opened: Callable[..., Awaitable[Desk]],
) -> None:
    """Neither a forger's choice of inbox nor a later mail says how a day is told."""
    desk = await opened()
    await desk.learn(1)
    for at, key in ((1.2, "forged"), (1.7, "late")):  # the second comes after midnight
        raw = f"From: {ADA}\r\nTo: sales@ourcompany.example\r\nMessage-ID: <{key}@acme.example>\r\n\r\nHello.\r\n"
        app = replace(desk.memory.app, now=lambda at=at: day(at))
        await accept(app, app.settings.inboxes[1], raw.encode(), source="file", source_key=key, mode="live")
    await desk.memory.settle(DRIVEN)
    await desk.memory.rows(  # as the rows of mails were before nothing proven and unproven was kept apart
        "UPDATE mails SET trusted = false WHERE message_id = 'forged@acme.example' RETURNING 1"
    )
    await desk.round(2)
    [request] = desk.server.requests
    assert "Say what was ordered." in request.system


async def test_rows_that_are_to_be_confirmed_or_shown_as_another_are_told_of_nothing(
    opened: Callable[..., Awaitable[Desk]],
) -> None:
    """A value in doubt and a member of a merged fact; and a row that says something else by now is another one."""
    desk = await opened()
    await desk.learn(1)
    await desk.round(2)
    assert len((await desk.layer(3)).items) == 1
    await desk.memory.rows("UPDATE facts SET text = 'Our seats: 41.' WHERE key = 'seats' RETURNING 1")
    assert not (await desk.layer(3)).items
    await desk.memory.rows("UPDATE facts SET stale_since = %(at)s WHERE key = 'seats' RETURNING 1", at=day(1))
    await desk.memory.rows(
        "UPDATE facts SET superseded_at = %(at)s, valid_to = %(at)s, merged_into = (SELECT fact_id FROM facts WHERE key = 'plan')"
        " WHERE key = 'region' RETURNING 1",
        at=day(2),
    )
    async with desk.memory.app.database.reading() as conn:
        rows = await rows_of(conn, desk.memory.person(), day(0), day(9), day(9))
    assert {one.text for one in rows} == {"Our plan: Starter.", "Our export: nightly."}


async def test_of_a_day_and_its_week_one_is_shown(opened: Callable[..., Awaitable[Desk]]) -> None:
    """The one that is as fine as that time is told now."""
    desk = await opened()
    await desk.learn(1)
    await desk.round(8)
    assert await desk.names() == ["2026-01-06", "2026-W02"]
    assert [item["period"] for item in (await desk.layer(9)).items] == ["2026-01-06"]
    assert [item["period"] for item in (await desk.layer(30)).items] == ["2026-W02"]


async def test_a_week_over_two_months_stays_until_both_or_their_quarter_are_told(
    opened: Callable[..., Awaitable[Desk]],
) -> None:
    """January tells of its beginning alone; a year goes after its time, though nothing is coarser."""
    desk = await opened()
    await desk.learn(23)
    await desk.round(29)
    keep(desk, weeks=1, years=1)
    await desk.clear(50)
    assert await texts(desk) == {"2026-01-28", "2026-W05", "2026-01"}
    await desk.round(90)
    await desk.clear(90.1)
    assert await texts(desk) == {"2026-01-28", "2026-01", "2026-Q1"}
    await desk.round(370)
    assert "2026" in await texts(desk)
    await desk.clear(730)
    assert "2026" not in await texts(desk)


async def test_what_tells_of_the_end_of_a_fact_goes_with_it(opened: Callable[..., Awaitable[Desk]]) -> None:
    """The day on which a value gave way holds its words: they go when retention takes the value, though the new ones stay."""
    desk = await opened()
    changed = [("plan", "Team"), ("seats", "60"), ("region", "Bern")]
    settings = desk.memory.app.settings
    await desk.learn(1)
    await desk.learn(2, facts=changed)
    await desk.round(3)
    assert "until then: Our plan: Starter." in await desk.kept()
    async with connected(settings.database_url) as conn:
        assert await give_vectors(conn, desk.memory.app.embedder, desk.memory.workspace) == 2
    await desk.learn(30, facts=changed)
    kept = settings.retention.model_copy(update={"facts_days": 60})
    object.__setattr__(desk.memory.app, "settings", settings.model_copy(update={"retention": kept}))
    await desk.ask(MemoryRetentionDue(participant_id=desk.memory.person(), due_at=day(70)), 70)
    assert await desk.memory.current("plan") == ["Team"]
    assert not any("Starter" in text for text in await desk.kept())
    query = "SELECT period FROM memory_periods WHERE text = '' AND embedding IS NOT NULL"
    assert await desk.memory.rows(query) == [], "nor what was made of the words"
