"""The state of an intent that a decision carries on is the one that the tables hold: `evolve` and `apply` are twins."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, get_args
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.local import Endpoints
from schemas.events.approvals import ApprovalCounted, ApprovalRequested, Outcome
from schemas.events.replies import ReplyApproved
from services import send_email
from services.core.bus.unit import Unit
from services.core.clock import random_id
from services.core.settings import ApprovalSettings
from services.earn_approval.apply import APPLIERS
from services.earn_approval.decide import decide
from services.earn_approval.pattern import evolve, load
from tests.support.remembering import START, Memory, remembering
from tests.support.stack import fresh_database

pytestmark = pytest.mark.timeout(600)  # ten times the examples in make test-deep
EARNS = ApprovalSettings(earn=True, bound=0.2, over=5, senders=2)
COUNTS = EARNS.model_copy(update={"earn": False})  # nothing opens, so more is counted than the window holds
SENDERS = ("ann@one.example", "bob@two.example", "eve@mail.two.example", "")
COUNTED = st.tuples(st.integers(0, 5), st.sampled_from(get_args(Outcome)), st.integers(0, 4))
ASKED = st.tuples(st.none(), st.booleans(), st.integers(0, 4))


@pytest.fixture(scope="module")
async def memory(
    stack: Endpoints, template_database: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Memory]:
    """One database for all histories: each has an intent of its own."""
    home = tmp_path_factory.mktemp("home")
    with fresh_database(stack.database, template=template_database) as url:
        async with remembering(stack, url, "approvals.", home) as one:
            yield one


@given(st.sampled_from([EARNS, COUNTS]), st.lists(st.one_of(COUNTED, COUNTED, COUNTED, ASKED), min_size=1, max_size=14))
async def test_what_a_decision_knows_after_it_is_what_the_tables_hold(
    memory: Memory, settings: ApprovalSettings, steps: list[Any]
) -> None:
    """Whatever is counted or asked for, late or twice, `evolve` over the events gives what `load` reads afterwards."""
    id = random_id()
    await drafts(memory, id)
    for number, (draft, what, late) in enumerate(steps):
        await holds_after(memory, settings, command(id, draft, what), number * 60 - late * 45)


async def holds_after(
    memory: Memory, settings: ApprovalSettings, command: ApprovalCounted | ApprovalRequested, minutes: int
) -> None:
    """One decision, its events evolved into what was read before it, and what is read after it."""
    cause = memory.event(command, START + timedelta(minutes=minutes))
    counted = command if isinstance(command, ApprovalCounted) else None
    async with memory.app.database.transaction(memory.workspace) as conn:
        unit = Unit(conn, cause, "earn_approval", "", APPLIERS)
        before = pattern = await load(unit, command.approval_id, settings.over, counted)
        for event in decide(before, command, unit.now, settings):
            stored = await unit.record(event)
            pattern = evolve(pattern, event, stored.time)
        assert pattern == await load(unit, command.approval_id, settings.over, counted)


def command(id: UUID, draft: int | None, what: Any) -> ApprovalCounted | ApprovalRequested:
    named = {"approval_id": id, "inbox": str(id), "intent": "how_to"}
    if draft is None:
        return ApprovalRequested.model_validate({**named, "open": what, "by": "grace"})
    return ApprovalCounted.model_validate({**named, "reply_id": uuid5(id, str(draft)), "outcome": what})


async def drafts(memory: Memory, id: UUID) -> None:
    """The replies that are counted, in the sender's ledger; of the last there is none."""
    approve = send_email.PROCESSOR.appliers[ReplyApproved]
    for draft, recipient in enumerate([*SENDERS, SENDERS[0]]):
        ids = {"reply_id": uuid5(id, str(draft)), "thread_id": id, "turn_id": id, "participant_id": None}
        mime = {
            "message_id": f"{draft}@{id}.example",
            "blob": "0" * 64,
            "envelope_from": "s@x.example",
            "text": "Hello.",
        }
        reply = ReplyApproved.model_validate({**ids, **mime, "recipient": recipient, "inbox": "support"})
        async with memory.app.database.transaction(memory.workspace) as conn:
            await approve(conn, replace(memory.event(reply, START), version=1))
