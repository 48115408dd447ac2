"""Service levels in a whole deployment: what is due, what a breach does, and that time and people end it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.operations.threads import requests
from services.operations.threads.listing import due_next
from tests.support.tending import Tended, tending

LEVELS = {
    "normal": {"first_response_hours": 4, "next_response_hours": 8, "resolution_hours": 40},
    "urgent": {"first_response_hours": 1},
}
OFFICE = {"time_zone": "Europe/Berlin", "hours": dict.fromkeys(("mon", "tue", "wed", "thu", "fri"), "09:00-17:00")}


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """Every reply waits for a person; time counts in office hours. The story begins on Monday at 10:00 in Berlin."""
    said = {"service_levels": LEVELS, "office_hours": OFFICE, "send": {"approval": "review"}}
    async with tending(stack, database, topic_prefix, tmp_path, **said) as one:
        yield one


def clocks(whole: object) -> dict[str, str]:
    return {one.kind: one.status for one in whole.deadlines}  # type: ignore[attr-defined]


async def test_a_missed_first_response_escalates_and_keeps_the_draft(app: Tended) -> None:
    """Four office hours pass without a word: an event, two legal steps, the turn ends, the draft stays as a note."""
    thread_id = await app.write("The CSV export stops after 500 rows.")
    async with app.app.database.reading() as conn:
        response, resolution = await due_next(conn, app.workspace, limit=10)
    assert (response.kind, f"{response.due_at:%a %H:%M}") == ("first_response", "Mon 13:00")
    assert (resolution.kind, f"{resolution.due_at:%a %H:%M}") == ("resolution", "Mon 09:00")
    await app.wait(hours=3, minutes=50)
    assert (await app.thread(thread_id)).thread.state == "in_progress"
    await app.wait(minutes=20)
    whole = await app.thread(thread_id)
    assert clocks(whole) == {"first_response": "breached", "resolution": "running"}
    assert [(one.from_state, one.to_state, one.trigger) for one in whole.log][-1] == (
        "in_progress",
        "escalated",
        "system",
    )
    assert whole.open_turn is None
    (turn,) = await app.rows("SELECT outcome, waiting_since, opened_at FROM turns")
    assert turn["outcome"] == "escalated"
    (note,) = whole.notes
    assert note.trigger == "ai"
    assert note.text.startswith("What the agent had drafted")
    assert "due within 4 h" in whole.actions[-1].detail
    assert whole.actions[-1].cause is not None


async def test_a_mail_whose_deadline_was_missed_was_hidden_from_everybody(app: Tended) -> None:
    """A breach is no answer: the mail waits for the person, and once they hand the thread back it gets a turn again."""
    thread_id = await app.write("The CSV export stops after 500 rows.")
    await app.wait(hours=5)
    whole = await app.thread(thread_id)
    assert (whole.thread.state, whole.conversation[0].pending) == ("escalated", True)
    async with app.at_work():
        await requests.move(app.app, thread_id, "in_progress", "please answer it", "grace", timeout_s=120)
    await app.settle()
    turns = await app.rows("SELECT outcome FROM turns ORDER BY opened_at, version")
    assert [one["outcome"] for one in turns] == ["escalated", None]
    drafts = await app.rows("SELECT state FROM deliveries ORDER BY created_at")
    assert drafts[-1]["state"] == "draft", "an answer waits for a person's word again"
    assert clocks(await app.thread(thread_id))["first_response"] == "breached"


async def test_a_newer_mail_keeps_the_clock_and_the_turns_too(app: Tended) -> None:
    """The customer writes again: the draft is superseded, and the deadline is still that of the first mail."""
    thread_id = await app.write("The export stops.")
    await app.wait(hours=1)
    await app.write("It stops after 500 rows.", subject="Re: Export", after="<m1@acme.example>")
    old, new = await app.rows("SELECT outcome, waiting_since FROM turns ORDER BY opened_at")
    assert old["outcome"] == "superseded"
    assert new["waiting_since"] == old["waiting_since"]
    await app.wait(hours=3, minutes=10)
    assert clocks(await app.thread(thread_id))["first_response"] == "breached"


async def test_a_night_does_not_count(app: Tended) -> None:
    """Written an hour before closing, four hours are over in the next day's early afternoon."""
    app.clock.forward(app.clock().replace(hour=15))
    thread_id = await app.write("Late in the day.")
    await app.wait(hours=19, minutes=50)
    assert clocks(await app.thread(thread_id))["first_response"] == "running"
    await app.wait(minutes=20)
    assert clocks(await app.thread(thread_id))["first_response"] == "breached"


async def test_a_persons_priority_moves_the_deadline(app: Tended) -> None:
    """Urgent is due an hour after the mail; the change is on the log with its reason, and its cause is the wish."""
    thread_id = await app.write("We cannot work!")
    async with app.at_work():
        await requests.mark(
            app.app, thread_id, priority="urgent", add_tags=("outage",), reason="all down", by="grace", timeout_s=20
        )
    whole = await app.thread(thread_id)
    assert (whole.thread.priority, whole.thread.tags) == ("urgent", ["outage"])
    assert clocks(whole) == {"first_response": "running", "resolution": "dropped"}
    said = {one.action: (one.trigger, one.detail, one.cause) for one in whole.actions}
    command = await app.rows("SELECT id FROM events WHERE type = 'thread.marks_requested.v1'")
    assert said["priority set"] == ("human", "normal -> urgent: grace: all down", command[0]["id"])
    assert said["tags changed"] == ("human", "+outage: grace: all down", command[0]["id"])
    await app.wait(hours=1, minutes=5)
    assert clocks(await app.thread(thread_id))["first_response"] == "breached"


async def test_a_resolution_promised_to_urgent_threads_alone_was_never_due(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Made urgent later, a thread is due from when it began; one that was closed, from the mail that opened it again."""
    levels = {"urgent": {"resolution_hours": 8}}
    async with tending(stack, database, topic_prefix, tmp_path, service_levels=levels) as app:
        thread_id = await app.write("We cannot work!")
        await app.wait(days=30)
        assert (await app.thread(thread_id)).thread.state == "closed"
        before = app.clock()
        await app.write("Again!", subject="Re: Export", after="<m1@acme.example>")
        after = app.clock()
        await app.wait(hours=2)
        async with app.at_work():
            await requests.mark(app.app, thread_id, priority="urgent", reason="all down", by="grace", timeout_s=120)
        (clock,) = (await app.thread(thread_id)).deadlines
        assert (clock.kind, clock.status) == ("resolution", "paused")
        assert before < clock.since < after


async def test_imported_mail_is_never_late(app: Tended) -> None:
    """A year of history starts no clock, and nothing of it escalates."""
    thread_id = await app.write("An old question.", mode="history")
    await app.wait(days=60)
    whole = await app.thread(thread_id)
    assert (whole.deadlines, whole.thread.state) == ((), "closed")


async def test_a_breach_is_one_however_often_its_timer_comes(app: Tended) -> None:
    """A timer that is published twice, or late, breaches once and escalates once."""
    thread_id = await app.write("Hello?")
    await app.wait(hours=5)
    events = (
        "SELECT count(*) AS n FROM events WHERE type = 'thread.deadline_changed.v1' AND data ->> 'status' = 'breached'"
    )
    assert (await app.rows(events))[0]["n"] == 1
    await app.wait(hours=5)
    assert (await app.rows(events))[0]["n"] == 1
    assert [one.to_state for one in (await app.thread(thread_id)).log].count("escalated") == 1
