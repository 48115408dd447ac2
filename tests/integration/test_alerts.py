"""People outside of the deployment are told that one of them is needed: once, in time, grouped, and without loops."""

from __future__ import annotations

import email
from collections.abc import AsyncIterator
from email import policy
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from services.core.archive.archive import archive_of
from services.operations.erase.person import person
from services.operations.erase.run import erase
from services.operations.erase.survey import survey
from tests.support.alert_receiver import SECRET, Receiver, receiving
from tests.support.smtp_server import DROP, Session, SmtpServer, Step
from tests.support.tending import Tended, tending

OPS = "ops@ourcompany.example"
CONTRACTS = {"name": "contracts", "when": {"subject_contains": ["contract"]}, "then": {"escalate": "Grace has those."}}


@pytest.fixture
async def hook() -> AsyncIterator[Receiver]:
    async with receiving() as one:
        yield one


@pytest.fixture
async def app(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, server: SmtpServer, hook: Receiver
) -> AsyncIterator[Tended]:
    """A deployment that tells one address and one webhook; mail about a contract goes to a person."""
    alerts = {
        "to": [{"mail": OPS}, {"webhook": hook.url, "secret": SECRET}],
        "link": "https://desk.ourcompany.example/t/{thread_id}",
        "private_hosts": True,
        "timeout_s": 20,
    }
    smtp = {"host": "127.0.0.1", "port": server.port, "timeout_s": 20}
    said: dict[str, Any] = {"alerts": alerts, "smtp": smtp, "behaviours": [CONTRACTS]}
    async with tending(stack, database, topic_prefix, tmp_path, **said) as one:
        yield one


def told(server: SmtpServer) -> list[Any]:
    """The alert mails, parsed."""
    return [email.message_from_bytes(one.raw, policy=policy.default) for one in server.accepted if one.recipient == OPS]


def text(mail: Any) -> str:
    return str(mail.get_body(("plain",)).get_content())


async def test_an_escalation_is_told_once_by_mail_and_by_a_signed_webhook(
    app: Tended, server: SmtpServer, hook: Receiver
) -> None:
    """Who, why and where; of the customer's mail the subject alone; and however much time passes, once."""
    thread_id = await app.write("We want out of it, SECRETWORD.", subject="Our contract")
    await app.wait(seconds=30)
    (mail,) = told(server)
    assert mail["Subject"] == "A person is needed: Our contract"
    assert (mail["Auto-Submitted"], mail["X-Auto-Response-Suppress"]) == ("auto-generated", "All")
    assert mail["From"] == "Correspondent <support@ourcompany.example>"
    said = text(mail)
    assert "behaviour contracts: Grace has those." in said
    assert f"https://desk.ourcompany.example/t/{thread_id}" in said
    (post,) = hook.posts
    assert post.is_signed
    (thread,) = post.said["data"]["threads"]
    assert (thread["thread_id"], thread["subject"]) == (str(thread_id), "Our contract")
    assert [one["kind"] for one in thread["calls"]] == ["escalated"]
    assert "SECRETWORD" not in said + post.body.decode()
    await app.wait(days=5)
    assert (len(told(server)), len(hook.posts)) == (1, 1)


async def test_a_flood_is_one_mail_an_interval(app: Tended, server: SmtpServer, hook: Receiver) -> None:
    """The first waits a moment for others; what comes then waits for the interval's end, and goes together."""
    for number in range(4):
        await app.write("Hello", subject=f"contract {number}")
    await app.wait(seconds=25)
    assert [one["Subject"] for one in told(server)] == ["4 threads need a person"]
    for number in range(4, 10):
        await app.write("Hello", subject=f"contract {number}")
        await app.wait(minutes=2)
    assert len(told(server)) == 1
    await app.wait(minutes=15)
    assert [one["Subject"] for one in told(server)] == ["4 threads need a person", "6 threads need a person"]
    assert len(hook.posts) == 2


async def test_a_mail_while_a_person_has_the_thread_and_a_waiting_draft_are_told(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, server: SmtpServer
) -> None:
    """Each of the two is told, with the mail's and the draft's id on the event; what a target leaves out is not."""
    about = ["mail_waits", "draft_waits"]
    alerts = {"to": [{"mail": OPS, "about": about}, {"mail": "other@ourcompany.example", "inboxes": ["sales"]}]}
    smtp = {"host": "127.0.0.1", "port": server.port}
    said: dict[str, Any] = {"alerts": alerts, "smtp": smtp, "behaviours": [CONTRACTS], "send": {"approval": "review"}}
    async with tending(stack, database, topic_prefix, tmp_path, **said) as app:
        await app.write("We want out.", subject="Our contract")
        await app.wait(minutes=20)
        assert server.accepted == []
        await app.write("Any news?", subject="Re: Our contract", after="<m1@acme.example>")
        await app.write("How do I export as CSV?", sender="Bob <bob@b.example>")
        await app.wait(minutes=20)
        (mail,) = told(server)
        assert "a new mail waits: Re: Our contract" in text(mail)
        assert "a draft waits for a word: a person approves each reply" in text(mail)
        calls = await app.rows("SELECT data FROM events WHERE type = 'person.called.v1' ORDER BY seq")
        found = [(one["data"]["kind"], bool(one["data"]["mail_id"]), bool(one["data"]["reply_id"])) for one in calls]
        assert found == [("escalated", False, False), ("mail_waits", True, False), ("draft_waits", False, True)]
    assert {one.recipient for one in server.accepted} == {OPS}


async def test_a_deadline_is_told_before_and_when_it_is_missed(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, server: SmtpServer
) -> None:
    """Half an hour before it a warning, then the breach with its escalation; one that was kept in time is not told."""
    said: dict[str, Any] = {
        "alerts": {"to": [{"mail": OPS}]},
        "smtp": {"host": "127.0.0.1", "port": server.port},
        "send": {"approval": "review"},
        "service_levels": {"normal": {"first_response_hours": 4}},
    }
    async with tending(stack, database, topic_prefix, tmp_path, **said) as app:
        await app.write("The export stops.")
        await app.wait(hours=3)
        assert len(told(server)) == 1, "the draft waits"
        await app.wait(minutes=45)
        assert "a deadline is near: the first response was due within 4 h" in text(told(server)[1])
        await app.wait(minutes=45)
        missed = text(told(server)[2])
        assert "a deadline was missed: the first response was due within 4 h" in missed
        assert "escalated: missed a deadline" in missed
        await app.wait(days=1)
        assert len(told(server)) == 3


async def test_what_is_not_taken_now_is_tried_again_under_the_same_id(
    app: Tended, server: SmtpServer, hook: Receiver
) -> None:
    """A server that says "not now", one that hangs up after the mail, a hook that fails: the same bytes, until taken."""

    def not_now(session: Session, step: Step) -> str | None:
        return "451 not now" if step == "rcpt" else None

    def lost(session: Session, step: Step) -> str | None:
        return DROP if step == "accepted" else None

    server.script, hook.answer = not_now, "500 Internal Server Error"
    await app.write("We want out.", subject="Our contract")
    await app.wait(seconds=25)
    server.script = lost
    await app.wait(minutes=2)
    server.script, hook.answer = (lambda session, step: None), "200 OK"
    await app.wait(minutes=10)
    await app.wait(days=2)
    mails = [one for one in server.accepted if one.recipient == OPS]
    assert [one.message_id for one in mails] == [mails[0].message_id] * 2, "lost after DATA, and told once more"
    assert mails[0].raw == mails[1].raw
    assert len({one.headers["webhook-id"] for one in hook.posts}) == 1
    assert len({one.body for one in hook.posts}) == 1
    assert all(one.is_signed for one in hook.posts)
    rows = await app.rows("SELECT state FROM alert_digests")
    assert [one["state"] for one in rows] == ["sent", "sent"]


async def test_a_hook_that_does_not_take_it_is_given_up_after_days(app: Tended, hook: Receiver) -> None:
    """The reason is kept in words while it is tried; after the days are over it has failed, and mail was not harmed."""
    hook.answer = "401 Unauthorized"
    await app.write("We want out.", subject="Our contract")
    await app.wait(seconds=25)
    (row,) = await app.rows("SELECT * FROM alert_digests WHERE state = 'grouped'")
    assert row["detail"] == "answers 401 Unauthorized"
    assert row["retry_at"] > app.clock()
    await app.wait(days=4)
    rows = await app.rows("SELECT state, detail FROM alert_digests ORDER BY state")
    assert [one["state"] for one in rows] == ["failed", "sent"]
    assert rows[0]["detail"] == "given up after 3 days: answers 401 Unauthorized"


async def test_an_answer_to_an_alert_is_parked(app: Tended, server: SmtpServer) -> None:
    """A colleague who answers the alert opens no thread, and gets no answer."""
    await app.write("We want out.", subject="Our contract")
    await app.wait(seconds=25)
    (mail,) = told(server)
    await app.write("I take it.", subject=f"Re: {mail['Subject']}", sender=OPS, after=mail["Message-ID"])
    rows = await app.rows("SELECT verdict, filter FROM mails WHERE author_addr = %(ops)s", ops=OPS)
    assert [(one["verdict"], one["filter"]) for one in rows] == [("park", "answers_alert")]
    await app.wait(days=1)
    assert len(told(server)) == 1
    assert len(await app.rows("SELECT 1 FROM threads")) == 1


async def test_an_alert_that_comes_back_is_a_loop(app: Tended, server: SmtpServer) -> None:
    """Forwarded into our own inbox, an alert is nobody's mail: it makes no thread and no further alert."""
    await app.write("We want out.", subject="Our contract")
    await app.wait(seconds=25)
    (kept,) = [one for one in server.accepted if one.recipient == OPS]
    await app.receive(kept.raw)
    await app.wait(days=1)
    rows = await app.rows("SELECT verdict FROM mails ORDER BY received_at")
    assert [one["verdict"] for one in rows] == ["answer", "loop"]
    assert len(told(server)) == 1


async def test_an_erased_person_is_not_told_of(app: Tended, server: SmtpServer) -> None:
    """A call that can no longer be read is left out; the channel goes on with those of others."""
    await app.write("We want out.", subject="Our contract")
    await app.write("We too.", subject="Another contract", sender="Bob <bob@b.example>")
    people, names = await person(app.app, "ada@acme.example")
    async with app.app.database.reading() as conn:
        found = await survey(conn, app.workspace, people, names, archive_of(app.app.settings))
    await erase(app.app, found, by="the test")
    await app.wait(seconds=25)
    (mail,) = told(server)
    assert mail["Subject"] == "A person is needed: Another contract"
    assert "Our contract" not in text(mail)
