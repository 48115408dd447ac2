"""A colleague's work moves a thread as the agent's does: its timers begin anew, and handed back it waits for the customer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from uuid import UUID

import pytest

from deploy.local import Endpoints
from services.operations.threads import requests
from services.receive_email.accept import accept
from tests.support.remembering import ADA
from tests.support.tending import Tended, tending


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """Every mail about a contract goes to a person, and a thread is to be resolved within 40 hours."""
    rule = {"name": "contracts", "when": {"subject_contains": ["contract"]}, "then": {"escalate": "Grace has those."}}
    said = {"behaviours": [rule], "service_levels": {"normal": {"first_response_hours": 4, "resolution_hours": 40}}}
    async with tending(stack, database, topic_prefix, tmp_path, **said) as one:
        yield one


async def by_hand(app: Tended, text: str, after: str = "<m1@acme.example>") -> None:
    """A colleague's answer, found in the Sent folder."""
    box = app.app.settings.inboxes[0]
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = box.address, ADA, "Re: Export"
    mail["Message-ID"], mail["In-Reply-To"] = "<c1@ourcompany.example>", after
    mail["Date"] = format_datetime(app.clock())
    mail.set_content(text)
    await accept(app.app, box, mail.as_bytes(), source="imap", source_key="s1", from_sent=True)
    await app.settle()


async def state(app: Tended, thread_id: UUID) -> str:
    return (await app.thread(thread_id)).thread.state


async def test_a_thread_was_resolved_hours_after_a_colleague_had_asked_again(app: Tended) -> None:
    """The seven days begin with the last that we wrote, not with the first."""
    thread_id = await app.write("Just so that you know: we are on the Team plan.")
    assert await state(app, thread_id) == "awaiting_reply"
    await app.wait(days=6, hours=20)
    await by_hand(app, "Dear Ada, could you send me the log file, please?")
    await app.wait(hours=5)
    assert await state(app, thread_id) == "awaiting_reply"
    await app.wait(days=6, hours=20)
    assert await state(app, thread_id) == "resolved"


async def test_a_thread_that_a_colleague_had_answered_was_ours_for_ever_when_handed_back(app: Tended) -> None:
    """Two logged steps lead to where we wait for the customer: the clocks stand, and seven days later it is resolved."""
    thread_id = await app.write("We want to change it.", subject="Our contract")
    await by_hand(app, "Dear Ada, which clause do you mean?")
    async with app.at_work():
        made = await requests.move(app.app, thread_id, "in_progress", "answered", "grace", timeout_s=120)
    assert (made.from_state, made.to_state, made.refused) == ("escalated", "in_progress", "")
    await app.settle()
    whole = await app.thread(thread_id)
    steps = [(one.from_state, one.to_state, one.trigger) for one in whole.log[-2:]]
    assert steps == [("escalated", "in_progress", "human"), ("in_progress", "awaiting_reply", "system")]
    assert {one.kind: one.status for one in whole.deadlines} == {"first_response": "met", "resolution": "paused"}
    await app.wait(days=7, hours=1)
    assert await state(app, thread_id) == "resolved"
