"""The moments of a unit of work: what was done outside the tables happens by the wall clock, the rest with its cause."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

from schemas.events.alerts import PersonCalled
from schemas.events.threads import TurnFailed
from services.core.bus.envelope import first
from services.core.bus.unit import Unit
from services.core.bus.work import Work

ID = UUID(int=1)
MAIL = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
LATER = MAIL + timedelta(seconds=110)
FAILED = TurnFailed(thread_id=ID, turn_id=ID, processor="generate_reply", error="away")
CALLED = PersonCalled(thread_id=ID, inbox="support", kind="draft_waits", reason="review")
CAUSE = first(FAILED, id=ID, source="test", time=MAIL, workspace="main")


def unit(clock: datetime | None = LATER) -> Unit:
    return Unit(cast(Any, None), CAUSE, "tester", "", {}, clock=(lambda: clock) if clock else None)


async def test_what_was_done_110_s_after_the_mail_was_stamped_with_the_mails_moment() -> None:
    """An effect says when it happened, and its envelope is never earlier."""
    envelope = await unit().record(FAILED)
    assert (envelope.time, envelope.data.happened_at) == (LATER, LATER)  # type: ignore[attr-defined]


async def test_a_decision_has_the_time_of_its_cause_and_of_the_effect_that_it_follows() -> None:
    """What is decided has no moment of its own; after an effect in the same unit it is no earlier than that."""
    one = unit()
    assert (await one.record(CALLED)).time == MAIL
    await one.record(FAILED)
    assert (await one.record(CALLED)).time == LATER


async def test_a_wall_clock_that_is_behind_takes_no_effect_before_its_cause() -> None:
    """The later of both clocks counts; without a wall clock, as in a fold, the cause's time does."""
    assert (await unit(MAIL - timedelta(hours=1)).record(FAILED)).time == MAIL
    assert (await unit(None).record(FAILED)).time == MAIL


async def test_an_effect_that_is_known_to_be_older_keeps_its_moment() -> None:
    """What is heard of later happened when it happened; that it was heard of has its own time."""
    earlier = FAILED.model_copy(update={"happened_at": MAIL - timedelta(minutes=5)})
    envelope = await unit().record(earlier)
    assert (envelope.time, envelope.data) == (MAIL, earlier)


def test_an_event_of_an_earlier_release_has_no_moment_and_keeps_its_time() -> None:
    """`happened_at` is optional: without it an event is read as it was stored."""
    stored = FAILED.model_dump(mode="json", exclude={"happened_at"})
    assert TurnFailed.model_validate(stored).happened_at is None


def test_a_retry_counts_from_the_later_of_both_clocks() -> None:
    """A timer that comes hours late has hours behind it; a wall clock that is behind takes none of the event's time."""
    for wall, expected in ((LATER, LATER), (MAIL - timedelta(hours=1), MAIL)):
        work = Work(FAILED, CAUSE, "tester", cast(Any, SimpleNamespace(now=lambda wall=wall: wall)), {})
        assert work.moment() == expected
