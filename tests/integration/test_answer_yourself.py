"""A person answers a thread themselves: through the same ledger, once, and never next to a reply of the agent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from deploy.local import Endpoints
from schemas.events.answers import AssignmentRequested
from services.operations.drafts.decisions import NewFile
from services.operations.threads import answers, requests
from services.operations.threads.answers import NewReply, OwnReply
from services.operations.threads.listing import WholeThread
from tests.support.beginning import after
from tests.support.smtp_server import DROP, Session, SmtpServer, Step
from tests.support.tending import Tended, tending

WAIT_S = 20.0
LAYOUT = {"signature": "Our Company", "footer": "1 Harbour Street", "most_copies": 2}
RULE = {"name": "contracts", "when": {"subject_contains": ["contract"]}, "then": {"escalate": "Grace has those."}}


@dataclass
class Desk:
    """A deployment, the SMTP server that its replies go to, and what a person does at it."""

    one: Tended
    server: SmtpServer

    async def reply(self, thread_id: UUID, text: str, client_id: str = "r1", **given: Any) -> OwnReply:
        """A person's reply to the thread as it is now, unless `thread_version` is given."""
        fields = {"thread_version": (await self.one.thread(thread_id)).version, "by": "grace", **given}
        async with self.one.at_work():
            return await answers.reply(self.one.app, thread_id, client_id, NewReply(text, **fields), timeout_s=WAIT_S)

    async def cancel(self, thread_id: UUID, reply_id: UUID) -> OwnReply:
        """They take it back."""
        async with self.one.at_work():
            return await answers.cancel(self.one.app, thread_id, reply_id, "grace", timeout_s=WAIT_S)

    async def assign(self, thread_id: UUID, name: str, *, take_over: bool = False) -> WholeThread:
        """Somebody has the thread."""
        asked = AssignmentRequested(thread_id=thread_id, assignee=name, take_over=take_over, by=name or "ops")
        async with self.one.at_work():
            await answers.assign(self.one.app, asked, timeout_s=WAIT_S)
        return await self.one.thread(thread_id)

    @property
    def sent(self) -> list[str]:
        """What left, as text."""
        return [_text(one.raw) for one in self.server.accepted]

    async def alerts(self) -> list[dict[str, Any]]:
        """Whom a person was called for, and why."""
        rows = await self.one.rows("SELECT id, type, data FROM events WHERE type = 'person.called.v1' ORDER BY seq")
        return [row["data"] for row in rows]

    async def states(self) -> list[str]:
        """Of the ledger, oldest first."""
        return [row["state"] for row in await self.one.rows("SELECT state FROM deliveries ORDER BY created_at, state")]


def _text(raw: bytes) -> str:
    from email import message_from_bytes, policy

    part = message_from_bytes(raw, policy=policy.default).get_body(("plain",))  # type: ignore[attr-defined]
    return str(part.get_content())


def said(server: SmtpServer) -> dict[str, Any]:
    """Mail about a contract is a person's; every reply of the agent waits for approval."""
    inbox = {"name": "support", "address": "support@ourcompany.example", "vouched_by": "t", "layout": LAYOUT}
    return {
        "inboxes": [inbox],
        "behaviours": [RULE],
        "smtp": {"host": "127.0.0.1", "port": server.port, "timeout_s": 10},
        "send": {"approval": "review"},
        "service_levels": {"normal": {"first_response_hours": 4}},
    }


@pytest.fixture
async def desk(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Desk]:
    """A desk without mail."""
    async with SmtpServer() as server, tending(stack, database, topic_prefix, tmp_path, **said(server)) as one:
        yield Desk(one, server)


async def about_the_contract(one: Tended) -> None:
    """A mail that is a person's."""
    await one.write("We want to change it.", subject="Our contract")


@pytest.fixture
async def case(
    stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path
) -> AsyncIterator[tuple[Desk, UUID]]:
    """A desk, and the thread of a mail that is a person's."""
    where = stack, template_database, topic_prefix, tmp_path
    async with SmtpServer() as server, after(about_the_contract, tending, *where, **said(server)) as one:
        [row] = await one.rows("SELECT thread_id FROM threads")
        yield Desk(one, server), row["thread_id"]


async def test_an_escalated_thread_could_not_be_answered(case: tuple[Desk, UUID]) -> None:
    """The reply leaves once, in the customer's thread, is ours by a person, and the thread stays with them."""
    desk, thread_id = case
    became = await desk.reply(thread_id, "Dear Ada, which clause?")
    await desk.one.settle()
    assert became.state in ("approved", "sending", "sent")
    assert await desk.states() == ["sent"]
    (mail,) = desk.server.accepted
    assert mail.header("In-Reply-To") == "<m1@acme.example>"
    assert mail.header("Auto-Submitted") == ""
    assert desk.sent[0].splitlines()[0] == "Dear Ada, which clause?"
    assert "Our Company" in desk.sent[0]
    assert "1 Harbour Street" in desk.sent[0]
    whole = await desk.one.thread(thread_id)
    assert whole.thread.state == "escalated"
    said = whole.conversation[-1]
    assert (said.role, said.by, said.text) == ("human", "grace", "Dear Ada, which clause?")
    assert not any(one.pending for one in whole.conversation)
    assert {one.kind: one.status for one in whole.deadlines} == {"first_response": "met"}
    (turn,) = await desk.one.rows("SELECT outcome, by FROM turns WHERE by <> ''")
    assert turn == {"outcome": "human_took_over", "by": "grace"}


@pytest.mark.parametrize(
    ("then", "state"),
    [("resolve", "resolved"), ("hand_back", "awaiting_reply"), ("keep", "escalated"), ("", "escalated")],
)
async def test_what_becomes_of_an_escalated_thread(case: tuple[Desk, UUID], then: Any, state: str) -> None:
    """Every step is legal and logged; nobody has a thread that was handed back."""
    desk, thread_id = case
    await desk.assign(thread_id, "grace", take_over=True)
    await desk.reply(thread_id, "Done.", then=then)
    await desk.one.settle()
    whole = await desk.one.thread(thread_id)
    assert whole.thread.state == state
    assert whole.thread.assignee == ("grace" if state == "escalated" else "")
    assert not [one.refused for one in whole.log if one.refused]


async def test_the_draft_of_the_agent_is_given_up_where_a_person_answers(desk: Desk) -> None:
    """It is discarded with that reason, and the thread waits for the customer."""
    thread_id = await desk.one.write("The CSV export stops after 500 rows.")
    assert await desk.states() == ["draft"]
    await desk.reply(thread_id, "It is fixed.")
    await desk.one.settle()
    rows = await desk.one.rows("SELECT state, detail FROM deliveries ORDER BY created_at")
    assert next((one["state"], one["detail"]) for one in rows) == ("discarded", "human_answered")
    assert rows[1]["state"] == "sent"
    assert len(desk.sent) == 1
    assert (await desk.one.thread(thread_id)).thread.state == "awaiting_reply"


async def test_a_mail_came_while_the_person_wrote(case: tuple[Desk, UUID]) -> None:
    """The reply is refused and what came is said; with `anyway` it leaves, and the newer mail goes on waiting."""
    desk, thread_id = case
    seen = (await desk.one.thread(thread_id)).version
    await desk.one.write("Forget it, we stay.", subject="Re: Our contract", after="<m1@acme.example>")
    with pytest.raises(answers.ReplyDoesNotFit) as refused:
        await desk.reply(thread_id, "Which clause?", thread_version=seen)
    assert (refused.value.code, [one.text.strip() for one in refused.value.came]) == ("newer", ["Forget it, we stay."])
    assert desk.sent == []
    assert await desk.states() == []
    await desk.reply(thread_id, "Which clause?", thread_version=seen, anyway=True)
    await desk.one.settle()
    assert len(desk.sent) == 1


async def test_the_same_id_again_is_the_same_reply(case: tuple[Desk, UUID]) -> None:
    """Whatever the text says by then."""
    desk, thread_id = case
    first = await desk.reply(thread_id, "One.")
    again = await desk.reply(thread_id, "Two.")
    await desk.one.settle()
    assert first.reply_id == again.reply_id
    assert [one.splitlines()[0] for one in desk.sent] == ["One."]


async def test_a_held_reply_is_taken_back(desk: Desk) -> None:
    """It waits for its timer, nothing leaves, the mail waits again, and the person has the thread: no agent jumps in."""
    thread_id = await desk.one.write("The CSV export stops after 500 rows.")
    held = await desk.reply(thread_id, "It is fixd.", hold_s=10.0)
    assert held.state == "approved"
    assert held.leaves_at is not None
    back = await desk.cancel(thread_id, held.reply_id)
    assert (back.state, back.detail) == ("discarded", "grace took it back")
    await desk.one.wait(seconds=60)
    assert desk.sent == []
    whole = await desk.one.thread(thread_id)
    assert (whole.thread.state, whole.thread.assignee, whole.open_turn) == ("escalated", "grace", None)
    assert [one.pending for one in whole.conversation] == [True]
    again = await desk.reply(thread_id, "It is fixed.", client_id="r2", then="hand_back")
    await desk.one.settle()
    assert again.reply_id != held.reply_id
    assert len(desk.sent) == 1
    with pytest.raises(answers.TooLate):
        await desk.cancel(thread_id, again.reply_id)


async def test_a_held_reply_leaves_when_its_time_is_over(desk: Desk) -> None:
    """Once, although a customer wrote while it waited: that mail waits for the next reply."""
    thread_id = await desk.one.write("The CSV export stops after 500 rows.")
    await desk.reply(thread_id, "It is fixed.", hold_s=10.0)
    await desk.one.write("And the PDF one?", subject="Re: Export", after="<m1@acme.example>")
    assert desk.sent == []
    await desk.one.wait(seconds=11)
    assert len(desk.sent) == 1
    whole = await desk.one.thread(thread_id)
    assert [one.pending for one in whole.conversation if one.role == "customer"] == [False, True]
    assert whole.thread.state == "in_progress"
    assert whole.open_turn is not None


async def test_taken_over_handed_back_and_assigned(desk: Desk) -> None:
    """While a person has the thread the agent writes nothing, and nobody is alerted about what they took."""
    thread_id = await desk.one.write("The CSV export stops after 500 rows.")
    whole = await desk.assign(thread_id, "grace", take_over=True)
    assert (whole.thread.state, whole.thread.assignee, whole.open_turn) == ("escalated", "grace", None)
    assert [one["kind"] for one in await desk.alerts()] == ["draft_waits"]
    assert (await desk.assign(thread_id, "bo")).thread.assignee == "bo"
    async with desk.one.at_work():
        await requests.move(desk.one.app, thread_id, "in_progress", "yours", "bo", timeout_s=WAIT_S)
    await desk.one.settle()
    whole = await desk.one.thread(thread_id)
    assert (whole.thread.state, whole.thread.assignee) == ("in_progress", "")
    assert whole.open_turn is not None


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": " \n"},
        {"text": "x" * 40_000},
        {"text": "a\0b"},
        {"cc": ("support@ourcompany.example",)},
        {"cc": ("mailer-daemon@acme.example",)},
        {"cc": ("a@b.example\nBcc: eve@evil.example",)},
        {"cc": ("a@x.example, b@x.example",)},
        {"cc": ("a@x.example", "b@x.example", "c@x.example")},
        {"hold_s": 1e9},
        {"hold_s": float("nan")},
        {"files": (NewFile("../../etc/passwd", b"x"),)},
        {"files": (NewFile("a\nb.txt", b"x"),)},
        {"files": tuple(NewFile(f"{number}.txt", b"x") for number in range(21))},
    ],
)
async def test_a_reply_that_may_not_be_written_is_refused_before_it_is_asked_for(
    case: tuple[Desk, UUID], wrong: Any
) -> None:
    """Nothing is stored of it, and no turn is opened."""
    desk, thread_id = case
    before = (await desk.one.thread(thread_id)).version
    with pytest.raises(answers.ReplyImpossible):
        await desk.reply(thread_id, **{"text": "Hi.", **wrong})
    assert (await desk.one.thread(thread_id)).version == before


async def test_who_gets_a_copy_what_goes_along_and_what_is_said_of_a_link(case: tuple[Desk, UUID]) -> None:
    """The person's words stay as they are; that the agent could not have written the link is said."""
    desk, thread_id = case
    became = await desk.reply(
        thread_id,
        "See https://partner.example/x",
        cc=("bo@acme.example", "BO@acme.example"),
        files=(NewFile("offer\u202efdp.exe", b"%PDF"),),
        with_quote=True,
    )
    await desk.one.settle()
    (mail,) = desk.server.accepted
    assert mail.header("Cc") == "bo@acme.example"
    assert "https://partner.example/x" in desk.sent[0]
    assert "> We want to change it." in desk.sent[0]
    assert became.remarks == ("the agent may not write https://partner.example/x; you do",)
    assert b"\xe2\x80\xae" not in mail.raw
    assert b'filename="offerfdp.exe"' in mail.raw


async def test_a_reply_of_which_nobody_knows_is_shown_and_not_repeated(case: tuple[Desk, UUID]) -> None:
    """The line is cut after DATA: unknown in the ledger, people are alerted, and another reply is refused until then."""
    desk, thread_id = case

    def cut(session: Session, step: Step) -> str | None:
        return DROP if step == "accepted" else None

    desk.server.script = cut
    await desk.reply(thread_id, "Dear Ada.")
    await desk.one.settle()
    assert await desk.states() == ["unknown"]
    assert len(desk.sent) == 1
    assert len([one for one in await desk.alerts() if "may or may not" in one["reason"]]) == 1
    with pytest.raises(answers.ReplyDoesNotFit) as refused:
        await desk.reply(thread_id, "Dear Ada.", client_id="r2")
    assert refused.value.code == "unsettled"
    assert len(desk.sent) == 1
