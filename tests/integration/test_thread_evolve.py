"""The state of a thread that a decision carries on is the one that the tables hold: `evolve` and `apply` are twins."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.local import Endpoints
from schemas.events.mail import EmailRead
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Unit
from services.core.clock import random_id
from services.track_threads.apply import APPLIERS
from services.track_threads.evolve import CHANGES, evolve
from services.track_threads.load import dated, load
from services.track_threads.thread import Thread
from tests.support.remembering import Memory, remembering
from tests.support.stack import fresh_database
from tests.support.thread_histories import SETTINGS, STEPS, History, Step

pytestmark = pytest.mark.timeout(600)  # ten times the examples in make test-deep


@pytest.fixture(scope="module")
async def memory(
    stack: Endpoints, template_database: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Memory]:
    """One database for all histories: each has a thread of its own."""
    home = tmp_path_factory.mktemp("home")
    with fresh_database(stack.database, template=template_database) as url:
        async with remembering(stack, url, "evolve.", home, **SETTINGS) as one:
            yield one


async def stored(memory: Memory, history: History, cause: Envelope) -> Thread:
    """The thread as the tables hold it before a cause, with all that is ever read of it."""
    mail = cause.data if isinstance(cause.data, EmailRead) else None
    async with memory.app.database.transaction(memory.workspace) as conn:
        unit = Unit(conn, cause, "track_threads", "", {})
        return await dated(unit, await load(unit, history.thread_id, mail))


@given(st.sampled_from(["support", "slow"]), st.lists(st.sampled_from(STEPS), min_size=1, max_size=14))
async def test_what_a_decision_knows_after_it_is_what_the_tables_hold(
    memory: Memory, inbox: str, steps: list[Step]
) -> None:
    """Whatever happens in whatever order, `evolve` over the recorded events gives what `load` reads afterwards."""
    history = History(memory, random_id(), inbox)
    for step in [("mail", "ada"), *steps]:
        cause = await history.next(step)
        if cause is None:
            continue
        thread = await stored(memory, history, cause)
        recorded = [one for one in await history.decide(cause) if one.data.AGGREGATE == "thread"]
        for envelope in recorded:
            thread = evolve(thread, envelope.data, envelope.time)
        assert without_arriving(thread) == without_arriving(await stored(memory, history, cause)), step


def without_arriving(thread: Thread) -> Thread:
    """What is about to be attached is read for the mail that comes in, and is gone once it is attached."""
    return replace(thread, arriving=None)


def test_every_event_that_changes_a_thread_is_applied() -> None:
    """No event changes the state alone and leaves the tables as they were."""
    assert CHANGES.keys() <= APPLIERS.keys()
