"""Questions that no document answered: in groups, counted by people, led to an article, and gone with who asked them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from deploy.local import Endpoints
from schemas.events.documents import ProposalDecided
from services.core.archive.archive import archive_of
from services.core.ids import text_sha256
from services.core.web import make_app
from services.operations.erase.person import person
from services.operations.erase.run import erase
from services.operations.erase.survey import survey
from services.operations.knowledge import unanswered
from services.operations.knowledge.listing import list_proposals
from services.operations.knowledge.unanswered import Unanswered, UnansweredList, UnansweredQuestions
from services.operations.requests import ask
from services.operations.threads import answers
from services.operations.threads.answers import NewReply
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.console import form, signed_in, text_of
from tests.support.smtp_server import SmtpServer
from tests.support.tending import Tended, tending

TOKEN = "a token for tests"
OKTA = (
    "Do you support single sign-on with Okta?",
    "Does single sign-on work with Okta?",
    "Is Okta single sign-on supported?",
)
ANSWER = "Single sign-on with Okta is part of the Enterprise plan: an owner switches it on under Settings, Security, and names the domain."


@pytest.fixture
def said(server: SmtpServer) -> dict[str, Any]:
    """No document: the offline model hands every question to a person. Two inboxes, two spaces."""
    inboxes = [
        {"name": "support", "address": "support@ourcompany.example", "vouched_by": "t"},
        {"name": "sales", "address": "sales@ourcompany.example", "vouched_by": "t", "memory": {"space": "sales"}},
        {"name": "open", "address": "open@ourcompany.example", "unproven": "human"},
    ]
    smtp = {"host": "127.0.0.1", "port": server.port, "timeout_s": 10}
    return {"inboxes": inboxes, "smtp": smtp, "web": {"api_token": TOKEN}}


@pytest.fixture
async def server() -> AsyncIterator[SmtpServer]:
    async with SmtpServer() as one:
        yield one


@pytest.fixture
async def app(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, said: dict[str, Any]
) -> AsyncIterator[Tended]:
    """A deployment that nobody has asked anything."""
    async with tending(stack, database, topic_prefix, tmp_path, **said) as one:
        yield one


@pytest.fixture
async def asked(
    stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path, said: dict[str, Any]
) -> AsyncIterator[Tended]:
    """One that was asked by three people, and by another one."""
    async with after(three_ask, tending, stack, template_database, topic_prefix, tmp_path, **said) as one:
        yield one


async def three_ask(app: Tended) -> list[UUID]:
    """Three people ask the same in their own words, and one asks something else."""
    threads = [
        await app.write(f"Hello,\n\n{text}\n\nThank you", subject="Question", sender=f"{name}@{name}.example")
        for name, text in zip(("ann", "bo", "cy"), OKTA, strict=True)
    ]
    await app.write("How long do you keep deleted invoices in the archive?", subject="Invoices", sender="di@di.example")
    return threads


async def read(app: Tended) -> UnansweredList:
    """The list as a new process reads it."""
    return await UnansweredQuestions(app.app).read()


async def first(app: Tended) -> Unanswered:
    """The group of most people."""
    return (await read(app)).groups[0]


async def answered(app: Tended, thread_id: UUID, text: str = ANSWER) -> None:
    """A person answers."""
    version = (await app.thread(thread_id)).version
    async with app.at_work():
        await answers.reply(app.app, thread_id, "r1", NewReply(text, thread_version=version, by="grace"), timeout_s=20)
    await app.wait(minutes=1)


async def test_questions_of_several_people_are_one_group_the_largest_first(asked: Tended) -> None:
    """It says how many people asked in how many threads, when last, why it counts, and where; one who asks twice is one."""
    threads = [row["thread_id"] for row in await asked.rows("SELECT thread_id FROM mails ORDER BY received_at")][:3]
    await asked.wait(days=1)
    threads.append(await asked.write(OKTA[0], subject="Again", sender="ann@ann.example"))
    found = await read(asked)
    okta, invoices = found.groups
    assert okta.question in OKTA
    assert (okta.people, okta.threads, invoices.people) == (3, 4, 1)
    assert {one.thread_id for one in okta.asked_in} == set(threads)
    assert okta.reasons == {"nothing_cited": 4}
    assert okta.last_asked == max(one.at for one in okta.asked_in) == okta.asked_in[0].at
    assert okta.answer is None
    assert not found.cut


async def test_a_mailbox_that_had_been_quiet_for_months_showed_no_question(asked: Tended) -> None:
    """The days count back from the newest mail, not from today; mails of more days before it do not count."""
    await asked.wait(days=200)
    assert [one.people for one in (await read(asked)).groups] == [3, 1]
    await asked.write("How do we set up a webhook for new orders?", subject="Webhooks", sender="ed@ed.example")
    found = await read(asked)
    assert [one.people for one in found.groups] == [1]
    assert (found.groups[0].last_asked - found.since).days == unanswered.DAYS


async def proposed(app: Tended) -> httpx.Response:
    """What the button of the page does, for the first group that has an answer."""
    async with app.at_work(), signed_in(app.app) as grace:
        page = await grace.get("/console/knowledge/unanswered")
        return await form(page, "/unanswered/propose").send(grace)


async def decide(app: Tended, *, accept: bool) -> None:
    """A person's word on the article that is proposed."""
    (article,) = await list_proposals(app.app)
    saw = text_sha256(article.text)
    await ask(app.app, ProposalDecided(document_id=article.document_id, text_sha256=saw, accept=accept, by="grace"))
    await app.settle()


async def test_an_answer_of_a_person_becomes_an_article_and_the_group_goes(asked: Tended) -> None:
    """The button proposes it from their words; once it is accepted, what was asked before is answered."""
    threads = [row["thread_id"] for row in await asked.rows("SELECT thread_id FROM mails ORDER BY received_at")][:3]
    await answered(asked, threads[1])
    okta = await first(asked)
    assert okta.answer is not None
    assert (okta.answer.thread_id, okta.answer.article, okta.reasons["answered_by_hand"]) == (threads[1], "", 1)
    assert "The article is proposed" in text_of(await proposed(asked))
    okta = await first(asked)
    assert okta.answer is not None
    assert okta.answer.article == "proposed"
    await asked.wait(minutes=1)
    await decide(asked, accept=True)
    found = await read(asked)
    assert [one.question for one in found.groups] == ["How long do you keep deleted invoices in the archive?"]
    assert found.settled == 1


async def test_a_rejected_article_is_not_proposed_from_the_same_answer_again(asked: Tended) -> None:
    """The group stays and says so; the answer in another thread may be proposed. Forged forms are refused in words."""
    threads = [row["thread_id"] for row in await asked.rows("SELECT thread_id FROM mails ORDER BY received_at")][:3]
    await answered(asked, threads[0])
    await proposed(asked)
    await decide(asked, accept=False)
    okta = await first(asked)
    assert okta.answer is not None
    assert okta.answer.article == "rejected"
    await answered(asked, threads[2], f"{ANSWER} This is the second answer.")
    okta = await first(asked)
    assert okta.answer is not None
    assert (okta.answer.thread_id, okta.answer.article) == (threads[2], "")
    async with asked.at_work(), signed_in(asked.app) as grace:
        token = form(await grace.get("/console/knowledge/unanswered"), "/sign-out").fields["form_token"]
        given = {"form_token": token, "thread_id": str(threads[2])}
        for reply, status in (("", 422), ("x", 422), ("00000000-0000-4000-8000-000000000000", 409)):
            sent = await grace.post("/console/knowledge/unanswered/propose", data={**given, "reply_id": reply})
            assert sent.status_code == status, text_of(sent)


async def test_only_what_proven_people_ask_live_counts(app: Tended) -> None:
    """Nobody can fill the list in a stranger's name, and imported mail was answered long ago."""
    await app.write(OKTA[0], sender="ann@ann.example", inbox=2)
    await app.write(OKTA[1], sender="bo@bo.example", mode="history")
    assert (await read(app)).groups == ()


async def test_spaces_are_kept_apart(app: Tended) -> None:
    """The same question in two memory spaces is two groups: an article of one is none of the other's."""
    await app.write(OKTA[0], sender="ann@ann.example")
    await app.write(OKTA[1], sender="bo@bo.example", inbox=1)
    found = await read(app)
    assert sorted((one.space, one.people) for one in found.groups) == [("", 1), ("sales", 1)]


async def test_who_was_erased_asks_nothing(asked: Tended) -> None:
    """Their question is gone with them; those of others stay."""
    process = UnansweredQuestions(asked.app)
    assert (await process.read()).groups[0].people == 3
    people, names = await person(asked.app, "ann@ann.example")
    async with asked.app.database.reading() as conn:
        found = await survey(conn, asked.workspace, people, names, archive_of(asked.app.settings))
    await erase(asked.app, found, by="the test")
    okta = await first(asked)
    assert okta.people == 2
    assert OKTA[0] not in {one.question for one in okta.asked_in}
    assert await process.read() == await read(asked)
    assert OKTA[0] not in repr(vars(process)), "what was worked out before is forgotten, too"


async def test_the_cost_has_a_bound_that_is_said(asked: Tended, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest mails alone are looked at, the newest questions compared."""
    monkeypatch.setattr(unanswered, "MAILS", 2)
    found = await read(asked)
    assert (found.mails, sum(one.threads for one in found.groups), found.cut) == (2, 2, True)
    monkeypatch.undo()
    monkeypatch.setattr(unanswered, "QUESTIONS", 1)
    found = await read(asked)
    assert (found.questions, found.cut) == (1, True)
    assert not (await read_all(asked, monkeypatch)).cut


async def read_all(app: Tended, monkeypatch: pytest.MonkeyPatch) -> UnansweredList:
    """Without the bounds of the test."""
    monkeypatch.undo()
    return await read(app)


async def test_nothing_of_a_question_is_kept_anywhere_else(asked: Tended) -> None:
    """Neither text nor vector is stored by looking."""
    before = await asked.rows("SELECT count(*) AS n FROM embeddings")
    await read(asked)
    assert await asked.rows("SELECT count(*) AS n FROM embeddings") == before


async def test_a_draft_that_people_reject_or_a_hostile_question_is_shown_as_text(app: Tended) -> None:
    """Nothing that a customer wrote runs on the page; a viewer reads it and finds no button."""
    await app.write("Is <img src=x onerror=alert(1)> a \u202epicture of single sign-on?", sender="ann@ann.example")
    async with signed_in(app.app, "Vic", role="viewer") as vic:
        page = await vic.get("/console/knowledge/unanswered")
        assert page.status_code == 200
        assert "<img src=x" not in page.text
        assert "\u202e" not in page.text
        assert "1 person" in text_of(page)
        assert "/propose" not in page.text
        forged = await vic.post("/console/knowledge/unanswered/propose", data={"thread_id": "x"})
        assert forged.status_code == 403
        assert "Unanswered questions" in text_of(await vic.get("/console/knowledge"))


async def test_the_api_gives_the_same_list_to_whom_knowledge_is_open(asked: Tended) -> None:
    """With a token for knowledge; limits are limits."""
    transport = httpx.ASGITransport(make_app([routes(asked.app)]))
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as client:
        assert (await client.get("/api/documents/unanswered")).status_code == 401
        client.headers["authorization"] = f"Bearer {TOKEN}"
        whole = (await client.get("/api/documents/unanswered")).json()
        assert [one["people"] for one in whole["groups"]] == [3, 1]
        (one,) = (await client.get("/api/documents/unanswered", params={"limit": 1})).json()["groups"]
        assert one["people"] == 3
        for wrong in ("0", "201", "x"):
            assert (await client.get("/api/documents/unanswered", params={"limit": wrong})).status_code == 422
