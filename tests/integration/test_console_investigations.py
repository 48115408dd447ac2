"""Investigations in the console: asked for, read, stopped, decided; by whom; with texts that mean harm."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from lxml import html

from deploy.local import Endpoints
from schemas.events.investigations import InvestigationOpened, InvestigationRequested
from schemas.events.memory import BriefRequested, FactRequested
from services.core.clock import random_id
from services.operations.erase.run import erase
from services.operations.requests import ask
from tests.support.console import form, signed_in, text_of
from tests.support.erasing import found
from tests.support.investigating import (
    ADA,
    HOT,
    PAD,
    QUESTION,
    Desk,
    finish,
    investigating,
    mail_of,
    memory,
    otherwise,
    write,
)
from tests.support.scripted_model import Behaviour, Seen, reply_text, reply_tools

pytestmark = pytest.mark.timeout(300)
RUNS = "<script>alert(1)</script>"
HOSTILE = [
    RUNS,
    '"><img src=x onerror=alert(1)>',
    "</pre></textarea><script>alert(1)</script>",
    "{{ 7 * 7 }}\u202efdp.exe",
]


@pytest.fixture
async def desk(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Desk]:
    async with investigating(stack, database, topic_prefix, tmp_path) as one:
        yield one


async def ended(desk: Desk, *facts: dict[str, Any], note: str = "It fails at night.") -> tuple[UUID, UUID]:
    """A thread, and an investigation of it that looked, wrote and ended, with what it proposes."""
    thread = await desk.app.write("Our export runs nightly and fails. We have 40 seats.", subject="Export", sender=ADA)
    mail = await mail_of(desk, thread)
    add = {"op": "add", "kind": "customer_info", "key": "export schedule", "value": "nightly", "text": "It runs nightly.",
           "quote": "Our export runs nightly", "mail_id": str(mail)}  # fmt: skip
    desk.rounds(
        lambda _: reply_tools(("list_files", {}), ("grep", {"words": "export", "folder": "threads"})),
        lambda _: reply_tools(
            memory(command="create", path=PAD, file_text="- the export runs nightly\n"),
            memory(command="create", path=HOT, file_text="Ada's export runs nightly, and fails.\n"),
            memory(command="create", path="outputs/report.md", file_text="Nightly runs meet the backup.\n"),
            memory(command="create", path="AGENTS.md", file_text="no"),
        ),
        finish(
            note, add, *({**add, "mail_id": str(mail), **one} for one in facts), {**add, "quote": "We have 50 seats"}
        ),
    )
    whole = await desk.investigate(thread)
    return thread, whole.investigation.investigation_id


def proposals(page: httpx.Response) -> dict[str, str]:
    """The text of each proposal, by its heading."""
    root: Any = html.fromstring(page.text)
    return {
        " ".join(one.xpath("string(h3)").split()): " ".join(one.text_content().split())
        for one in root.xpath("//section[@id='proposals']/article")
    }


async def test_a_thread_leads_to_an_investigation_and_back(desk: Desk) -> None:
    """Asked for on the thread's page with the question; the list, the thread and the case lead to each other."""
    thread = await desk.app.write("Our export fails.", sender=ADA)
    desk.rounds(finish("It is the backup."))
    async with signed_in(desk.app.app, role="agent") as grace:
        assert "Nothing was investigated so far" in text_of(await grace.get("/console/investigations"))
        async with desk.app.at_work():
            asked = form(await grace.get(f"/console/threads/{thread}"), "/investigate")
            page = await asked.send(grace, question=QUESTION)
        assert page.status_code == 200
        place = page.url.path
        page = await grace.get(place)
        assert "finished" in text_of(page)
        assert "It is the backup." in text_of(page)
        assert f"/console/threads/{thread}" in page.text
        assert place in (await grace.get(f"/console/threads/{thread}")).text
        listed = await grace.get("/console/investigations")
        assert place in listed.text
        assert QUESTION in text_of(listed)
        assert "ada@acme.example" in text_of(listed)
    (row,) = await desk.app.rows("SELECT by, question FROM investigations")
    assert row == {"by": "Grace", "question": QUESTION}


async def test_rounds_files_and_cost_are_shown(desk: Desk) -> None:
    """What each round called and was answered, each file with its text, what changed, and what it cost by the prices."""
    _, id = await ended(desk)
    model = desk.app.app.settings.model
    prices = model.prices.model_copy(
        update={"input": 1_000.0, "output": 1_000.0, "cache_read": 1_000.0, "cache_write": 1_000.0}
    )
    priced = desk.app.app.settings.model_copy(update={"model": model.model_copy(update={"prices": prices})})
    place = f"/console/investigations/{id}"
    async with signed_in(desk.app.app, role="viewer") as ann:
        page = await ann.get(place)
        said = text_of(page)
        for part in ("Round 1", "lists every file", "searches for “ export ” in threads", "Round 2", "writes memory/scratchpad.md",
                     "writes AGENTS.md refused", "Round 3", "ends it with a note and proposals",
                     "3 of at most 16", "No prices are set", "+- the export runs nightly"):  # fmt: skip
            assert part in said, (part, said)
        first = text_of(await ann.get(f"{place}/rounds/1"))
        assert "threads/2026-01-05" in first
        assert "Our export runs nightly" in first
        assert "read-only" in text_of(await ann.get(f"{place}/rounds/2"))
        root: Any = html.fromstring(page.text)
        links = [one.get("href") for one in root.xpath("//section[@id='files']//a")]
        assert len(links) >= 5
        texts = {link: text_of(await ann.get(link)) for link in links}
        assert any("Our export runs nightly" in text for link, text in texts.items() if "threads" in link)
        assert any("Nightly runs meet the backup" in text for text in texts.values())
        assert "+Nightly runs meet the backup" in text_of(await ann.get(f"{place}/diff"))
        for path, status in ((f"{place}/rounds/4", 404), (f"{place}/rounds/0", 404), (f"{place}/rounds/x", 404),
                             (f"{place}/file?path=../etc/passwd", 404), (f"{place}/file", 404),
                             (f"/console/investigations/{random_id()}", 404)):  # fmt: skip
            assert (await ann.get(path)).status_code == status, path
    async with signed_in(replace(desk.app.app, settings=priced), role="viewer") as ann:
        (row,) = await desk.app.rows("SELECT tokens_in + tokens_out AS tokens FROM investigations")
        assert f"{row['tokens'] / 1000:.2f} US dollars" in text_of(await ann.get(place))


async def test_each_proposal_is_decided_beside_its_source(desk: Desk) -> None:
    """The customer's words with a link to their mail, what it would replace, why others do not stand; accepted, it is known."""
    await desk.app.write("We are on the Starter plan.", sender=ADA, subject="Plan")
    known = {"participant_id": desk.who(), "op": "add", "by": "grace", "key": "plan", "value": "Starter"}
    await ask(desk.app.app, FactRequested.model_validate(known))
    await desk.app.settle()
    (fact,) = await desk.app.rows("SELECT fact_id FROM facts WHERE key = 'plan'")
    change = {
        "op": "correct",
        "fact_id": str(fact["fact_id"]),
        "key": "plan",
        "value": "Team",
        "quote": "We have 40 seats",
    }
    thread, id = await ended(desk, change)
    place = f"/console/investigations/{id}"
    async with signed_in(desk.app.app, role="agent") as grace, desk.app.at_work():
        page = await grace.get(place)
        stand = proposals(page)
        assert list(stand) == ["The brief, as replies are written with", "New: export schedule", "Correct: plan"]
        assert "Our export runs nightly" in stand["New: export schedule"]
        assert "Starter Team" in stand["Correct: plan"]
        assert "+Ada's export runs nightly, and fails." in stand["The brief, as replies are written with"]
        assert f"/console/threads/{thread}#mail-" in page.text
        assert "1 left out, since it does not stand" in text_of(page)
        for answer, state in (("reject", "rejected"), ("accept", "accepted"), ("accept", "accepted")):
            waiting = form(await grace.get(place), forms_of(page)[0])
            page = await grace.post(waiting.action, data={"form_token": waiting.fields["form_token"], "op": answer})
            assert page.status_code == 200, text_of(page)
            assert state in text_of(page)
        assert forms_of(page) == []
        again = await grace.post(waiting.action, data={"form_token": waiting.fields["form_token"], "op": "reject"})
        assert (again.status_code, "accepted already" in text_of(again)) == (409, True)
        unknown = f"{place}/proposals/{random_id()}"
        assert (await grace.post(unknown, data={"form_token": waiting.fields["form_token"]})).status_code == 404
    facts = "SELECT key, value FROM facts WHERE superseded_at IS NULL AND retracted_at IS NULL AND key <> 'seats' ORDER BY key"
    assert await desk.app.rows(facts) == [
        {"key": "export schedule", "value": "nightly"},
        {"key": "plan", "value": "Team"},
    ]
    assert not await desk.app.rows("SELECT 1 FROM briefs WHERE text LIKE '%%and fails%%'")


def forms_of(page: httpx.Response) -> list[str]:
    """Where the forms of proposals go."""
    root: Any = html.fromstring(page.text)
    return [one.action for one in root.forms if "/proposals/" in (one.action or "")]


async def test_what_memory_refused_after_all_is_said(desk: Desk) -> None:
    """A brief that was written again since is accepted and not remembered: the page says so, then and later."""
    await desk.app.write("Hello", sender=ADA)
    await ask(desk.app.app, BriefRequested(participant_id=desk.who(), op="edit", text="Ada is new.", by="bo"))
    await desk.app.settle()
    _, id = await ended(desk)
    place = f"/console/investigations/{id}"
    await ask(desk.app.app, BriefRequested(participant_id=desk.who(), op="edit", text="Ada is kind.", by="bo"))
    await desk.app.settle()
    async with signed_in(desk.app.app, role="agent") as grace, desk.app.at_work():
        waiting = form(page := await grace.get(place), forms_of(page)[0])
        page = await grace.post(waiting.action, data={"form_token": waiting.fields["form_token"], "op": "accept"})
        assert page.status_code == 409
        assert "Accepted, and not remembered: it was written again since" in text_of(page)
        assert "Not remembered: it was written again since" in text_of(await grace.get(place))


async def test_a_person_stops_it_from_the_page(desk: Desk) -> None:
    """While it is open its page has the rounds so far and a button; stopped, it says who did, and takes no further round."""
    thread = await desk.app.write("Our export fails.", sender=ADA)
    desk.rounds(write(PAD, "- so far\n"))
    id = await desk.request(thread)
    for kind in (InvestigationRequested.TYPE, InvestigationOpened.TYPE):
        await desk.step(kind)
    async with signed_in(desk.app.app, role="agent") as grace:
        page = await grace.get(f"/console/investigations/{id}")
        assert "running" in text_of(page)
        assert "Round 1" in text_of(page)
        assert "Round 2" not in text_of(page)
        before = len(desk.asked)
        desk.rounds(finish("It went on."))
        asked = form(page, "/stop")
        from services.operations.investigations import requests

        whole = await requests.found(desk.app.app, id)
        stop = requests.InvestigationStopRequested(
            investigation_id=id, participant_id=whole.investigation.participant_id, by="Grace"
        )
        await ask(desk.app.app, stop)
        await desk.step(stop.TYPE)
        async with desk.app.at_work():
            stopped = await asked.send(grace)
        assert "Grace stopped it" in text_of(stopped)
        assert "+- so far" in text_of(stopped)
    assert len(desk.asked) == before


async def test_conflicts_are_shown_side_by_side(desk: Desk) -> None:
    """What this one wrote and what was written meanwhile stand beside each other until somebody settles them."""
    thread = await desk.app.write("Our export fails.", sender=ADA)
    texts = {"first": f"- Monday {RUNS}\n", "second": "- Tuesday\n"}

    def script(request: Seen) -> Behaviour:
        if "finish" not in request.tools:
            return otherwise(request)
        text = next(text for name, text in texts.items() if f"{name} question" in request.opening)
        return write(PAD, text)(request) if request.round == 0 else finish()(request)

    desk.server.script(script)
    ids = [await desk.request(thread, f"The {name} question") for name in texts]
    await desk.app.settle()
    (later,) = [one for one in ids if (await desk.whole(one)).conflicts]
    async with signed_in(desk.app.app, role="viewer") as ann:
        page = await ann.get(f"/console/investigations/{later}")
        assert "Conflict in memory/scratchpad.md" in text_of(page)
        root: Any = html.fromstring(page.text)
        shown = {one.text for one in root.xpath("//section[contains(@class, 'warn')]//pre")}
        assert shown == {text.strip() for text in texts.values()}
        desk.rounds(write(PAD, "- Tuesday, not Monday\n"), finish())
        await desk.investigate(thread)
        assert "They were settled since" in text_of(await ann.get(f"/console/investigations/{later}"))


async def test_who_may_do_what(desk: Desk) -> None:
    """A viewer reads all of it and is offered no act, nor granted one; without a session there is nothing."""
    thread, id = await ended(desk)
    place = f"/console/investigations/{id}"
    async with signed_in(desk.app.app, "Ann", role="viewer") as ann:
        page = await ann.get(place)
        assert page.status_code == 200
        assert forms_of(page) == []
        assert "/investigate" not in (await ann.get(f"/console/threads/{thread}")).text
        token = form(page, "/sign-out").fields["form_token"]
        for path in (f"/console/threads/{thread}/investigate", f"{place}/stop", f"{place}/proposals/{random_id()}"):
            assert (await ann.post(path, data={"form_token": token, "question": "x"})).status_code == 403
    assert len(await desk.app.rows("SELECT 1 FROM investigations")) == 1


async def test_what_cannot_be_investigated_is_refused_in_words(desk: Desk) -> None:
    """No question, too many at once, nobody proven, an unknown thread; and where it is off the pages say how to set it."""
    thread = await desk.app.write("Our export fails.", sender=ADA)
    async with signed_in(desk.app.app, role="agent") as grace:
        asked = form(await grace.get(f"/console/threads/{thread}"), "/investigate")
        for question in ("", " ", "x" * 2_001):
            assert (await asked.send(grace, question=question)).status_code == 422
        elsewhere = replace(asked, action=f"/console/threads/{random_id()}/investigate")
        assert (await elsewhere.send(grace, question=QUESTION)).status_code == 404
        for _ in range(2):
            await desk.request(thread)
            await desk.step(InvestigationRequested.TYPE)
        third = await desk.request(thread)
        await desk.step(InvestigationRequested.TYPE)
        page = await grace.get(f"/console/investigations/{third}")
        assert "2 investigations of this person are open" in text_of(page)
        assert "Rounds and files cannot be shown" not in text_of(page)
    off = desk.app.app.settings.model_copy(
        update={"investigate": desk.app.app.settings.investigate.model_copy(update={"enabled": False})}
    )
    async with signed_in(replace(desk.app.app, settings=off), role="agent") as grace:
        assert "/investigate" not in (await grace.get(f"/console/threads/{thread}")).text
        assert (await asked.send(grace, question=QUESTION)).status_code in (403, 409)
        await desk.app.rows("DELETE FROM investigations RETURNING 1")
        assert "enabled = true" in text_of(await grace.get("/console/investigations"))


async def test_events_in_the_archive_leave_what_came_of_it(desk: Desk) -> None:
    """Without its events the page has note, diff and proposals, and says where the rest lies."""
    _, id = await ended(desk, note="It is the okapi.")
    place = f"/console/investigations/{id}"
    await desk.app.rows("DELETE FROM events WHERE type LIKE 'investigation.round%%' RETURNING 1")
    async with signed_in(desk.app.app, role="viewer") as ann:
        said = text_of(await ann.get(place))
        assert "It is the okapi." in said
        assert "New: export schedule" in said
        assert "they lie in the archive" in said
        assert (await ann.get(f"{place}/rounds/1")).status_code == 404


async def test_who_was_erased_was_never_investigated(desk: Desk) -> None:
    """No page of theirs is left, and the list does not name it."""
    _, id = await ended(desk, note="It is the okapi.")
    place = f"/console/investigations/{id}"
    async with signed_in(desk.app.app, role="viewer") as ann:
        assert "okapi" in (await ann.get(place)).text
        await erase(desk.app.app, await found(desk.app.app, "ada@acme.example"), by="grace")
        assert (await ann.get(place)).status_code == 404
        assert "okapi" not in (await ann.get("/console/investigations")).text


@pytest.mark.parametrize("said", HOSTILE)
async def test_what_it_read_and_wrote_is_text(desk: Desk, said: str) -> None:
    """Question, note, files, paths, words of searches, quotes and reasons are shown as they are, and run nothing."""
    thread = await desk.app.write(f"Our export {said} fails.", sender=ADA, subject=f"Export {said}")
    mail = await mail_of(desk, thread)
    fact = {"op": "add", "kind": "customer_info", "key": "export", "value": said[:60], "text": said, "mail_id": str(mail),
            "quote": f"Our export {said} fails"}  # fmt: skip
    desk.rounds(
        lambda _: reply_tools(
            ("grep", {"words": said, "folder": said}),
            memory(command="view", path=said),
            (said[:20].replace(" ", "_"), {said: said}),
            memory(command="create", path=PAD, file_text=f"- {said}\n" * 3),
            memory(command="create", path=HOT, file_text=f"Brief {said}"),
        ),
        lambda _: reply_text(said),
        finish(f"Note {said}", fact, {**fact, "key": said[:60], "quote": "nowhere"}),
    )
    whole = await desk.investigate(thread, f"Question {said}")
    place = f"investigations/{whole.investigation.investigation_id}"
    paths = ("investigations", place, f"{place}/diff", *(f"{place}/rounds/{number}" for number in (1, 2, 3)),
             f"{place}/file?path={PAD}", f"threads/{thread}")  # fmt: skip
    async with signed_in(desk.app.app, role="agent") as grace:
        for path in paths:
            page = await grace.get(f"/console/{path}")
            assert page.status_code == 200, (path, text_of(page))
            root: Any = html.fromstring(page.text)
            assert [one for one in root.iter("script") if not one.get("src", "").startswith("/console/static/")] == []
            assert not [one for one in root.iter() if any(str(name).startswith("on") for name in one.attrib)], path
            assert not root.xpath("//img")
            assert "\u202e" not in page.text
            assert "49" not in text_of(page).split("Question")[-1][:12]


async def test_pages_of_the_largest_investigation_are_no_more_than_300_kilobytes(desk: Desk) -> None:
    """A diff as long as it may be, many lines of one character, quotes that escape to five: each page stays within it."""
    thread = await desk.app.write("Our export fails.", sender=ADA)
    lines = "\n".join('"' if number % 2 else "&" for number in range(9_000))
    files = [memory(command="create", path=f"outputs/{number}.md", file_text=lines) for number in range(3)]
    desk.rounds(lambda _: reply_tools(*files), finish("x" * 3_000))
    whole = await desk.investigate(thread)
    assert len(whole.diff) > 40_000
    place = f"/console/investigations/{whole.investigation.investigation_id}"
    async with signed_in(desk.app.app, role="viewer") as ann:
        for path in ("", "/diff", "/rounds/1", "/file?path=outputs/0.md"):
            page = await ann.get(f"{place}{path}")
            assert page.status_code == 200, path
            assert len(page.content) < 300_000, (path, len(page.content))
