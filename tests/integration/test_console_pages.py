"""The console's pages over a real deployment: each is there, acts through the same operations, and says what happened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from lxml import html

from deploy.local import Endpoints
from tests.support.beginning import after
from tests.support.bus import PATIENCE_S
from tests.support.console import form, signed_in, text_of
from tests.support.remembering import ADA
from tests.support.tending import Tended, tending


async def asked(one: Tended) -> None:
    """Ada asks something."""
    await one.write("The CSV export stops after 500 rows. We are on the Team plan.", sender=f"Ada Miller <{ADA}>")


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment in which every reply waits for a person."""
    async with (
        after(asked, tending, stack, template_database, topic_prefix, tmp_path, send={"approval": "review"}) as one,
        one.at_work(),
    ):
        yield one


@pytest.fixture
async def grace(app: Tended) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who is signed in."""
    async with signed_in(app.app) as client:
        yield client


async def draft_of(app: Tended, besides: Any = None) -> dict[str, Any]:
    """The draft that waits, as soon as one does."""
    query = "SELECT d.reply_id, d.thread_id FROM deliveries d JOIN threads t ON t.open_turn = d.turn_id WHERE d.state = 'draft'"
    async with asyncio.timeout(PATIENCE_S):
        while not (found := [row for row in await app.rows(query) if row["reply_id"] != besides]):
            await asyncio.sleep(0.05)
    return found[0]


async def state_of(app: Tended, reply_id: Any, wanted: str) -> dict[str, Any]:
    query = "SELECT state, detail FROM deliveries WHERE reply_id = %(id)s AND state = %(wanted)s"
    async with asyncio.timeout(PATIENCE_S):
        while not (found := await app.rows(query, id=reply_id, wanted=wanted)):
            await asyncio.sleep(0.05)
    return found[0]


async def test_every_page_answers(app: Tended, grace: httpx.AsyncClient) -> None:
    """Each page is there with its heading, its policy, and nothing inline that could run."""
    draft = await draft_of(app)
    thread, reply, who = draft["thread_id"], draft["reply_id"], app.person()
    (mail,) = await app.rows("SELECT mail_id FROM mails")
    for path in (
        "/console",
        "/console/inbox?view=all",
        "/console/inbox?q=csv",
        f"/console/threads/{thread}",
        f"/console/threads/{thread}/why",
        "/console/drafts",
        "/console/drafts/next",
        f"/console/drafts/{reply}",
        f"/console/replies/{reply}/why",
        f"/console/mails/{mail['mail_id']}",
        "/console/people",
        f"/console/people/{who}",
        "/console/pipeline",
        "/console/deliveries",
        "/console/deliveries?state=suppressed",
    ):
        answer = await grace.get(path)
        assert answer.status_code == 200, (path, text_of(answer))
        assert answer.text.count("<h1") == 1, path
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert " style=" not in answer.text
        assert "<style" not in answer.text
        assert " onclick" not in answer.text
        assert answer.headers["cache-control"] == "no-store"


async def test_the_inbox_is_by_who_has_to_act(app: Tended, grace: httpx.AsyncClient) -> None:
    """A thread whose draft waits needs a person; after the approval nobody has to act, and the agent left it open."""
    draft = await draft_of(app)
    needs_me = await grace.get("/console/inbox")
    assert "Export" in text_of(needs_me)
    assert "draft waits" in text_of(needs_me)
    assert "Export" not in text_of(await grace.get("/console/inbox?view=agent"))
    page = await grace.get(f"/console/drafts/{draft['reply_id']}")
    sent = await form(page, "/approve").send(grace)
    assert "Approved" in text_of(sent)
    await state_of(app, draft["reply_id"], "sent")
    async with asyncio.timeout(PATIENCE_S):
        while await app.rows("SELECT 1 FROM threads WHERE open_turn IS NOT NULL"):
            await asyncio.sleep(0.05)
    assert "Export" in text_of(await grace.get("/console/inbox?view=agent"))
    assert "Nothing needs you" in text_of(await grace.get("/console/inbox"))


async def test_each_empty_layer_was_a_card_that_said_0_tokens(app: Tended, grace: httpx.AsyncClient) -> None:
    """Layers that hold nothing share one line, under names that are no code's."""
    draft = await draft_of(app)
    page = await grace.get(f"/console/replies/{draft['reply_id']}/why")
    (line,) = [one for one in page.text.splitlines() if "Nothing to show in:" in one]
    assert "period summaries" in line
    assert ">0 tokens" not in page.text
    assert "grains" not in page.text


async def test_a_narrow_thread_had_no_way_to_its_acts(app: Tended, grace: httpx.AsyncClient) -> None:
    """A thread's page begins with links to the answer and the acts, each to a heading that takes the focus."""
    draft = await draft_of(app)
    page = await grace.get(f"/console/threads/{draft['thread_id']}")
    for place in ("answer-title", "act-title"):
        assert f'href="#{place}"' in page.text
        assert f'<h2 id="{place}" tabindex="-1">' in page.text


@pytest.mark.parametrize("words", ["export", "EXP", "ada", "miller", "acme", "ada@acme.example", "export miller"])
async def test_threads_are_found_by_subject_and_people(app: Tended, grace: httpx.AsyncClient, words: str) -> None:
    """Each word, or its beginning, is looked for in subjects and in names and addresses of people."""
    found = text_of(await grace.get("/console/inbox", params={"q": words}))
    assert ("CSV" in found or "Export" in found) == (words != "export miller"), found
    assert "No subject" in text_of(await grace.get("/console/inbox", params={"q": "telegram"}))


async def test_a_draft_is_approved_in_other_words(app: Tended, grace: httpx.AsyncClient) -> None:
    """What a person wrote leaves in place of the draft, under their name."""
    draft = await draft_of(app)
    page = await grace.get(f"/console/drafts/{draft['reply_id']}")
    await form(page, "/approve").send(grace, text="We are on it.\r\n\r\nGrace")
    await state_of(app, draft["reply_id"], "sent")
    (event,) = await app.rows("SELECT data FROM events WHERE type = 'draft.decided.v1'")
    assert (event["data"]["text"], event["data"]["by"]) == ("We are on it.\n\nGrace", "Grace")


async def test_a_draft_that_is_not_changed_leaves_as_it_is(app: Tended, grace: httpx.AsyncClient) -> None:
    """An approval with the text as it was says no words of the person's own."""
    draft = await draft_of(app)
    await form(await grace.get(f"/console/drafts/{draft['reply_id']}"), "/approve").send(grace)
    (event,) = await app.rows("SELECT data FROM events WHERE type = 'draft.decided.v1'")
    assert event["data"]["approve"]
    assert event["data"]["text"] == ""


async def test_the_sentences_of_a_draft_are_what_leaves(app: Tended, grace: httpx.AsyncClient) -> None:
    """Marked or not, the text that is shown is that of the mail, byte for byte; a sentence leads to its quote."""
    draft = await draft_of(app)
    page = await grace.get(f"/console/drafts/{draft['reply_id']}")
    root = html.fromstring(page.text)
    (shown,) = root.xpath("//*[contains(@class, 'leaving')]")
    (event,) = await app.rows("SELECT data FROM events WHERE type = 'reply.held.v1'")
    assert shown.text_content() == event["data"]["shown"]
    assert root.xpath("//*[contains(@class, 'unsaid')]")
    for link in root.xpath("//a[@class='part']"):
        assert root.xpath(f"//*[@id='{link.get('href')[1:]}']//blockquote")


async def test_a_draft_is_rejected_with_a_reason(app: Tended, grace: httpx.AsyncClient) -> None:
    """It is discarded, and its turn says why."""
    draft = await draft_of(app)
    page = await grace.get(f"/console/threads/{draft['thread_id']}")
    done = await form(page, "/reject").send(grace, reason="wrong tone")
    assert "rejected" in text_of(done)
    await state_of(app, draft["reply_id"], "discarded")
    gone = await grace.get(f"/console/drafts/{draft['reply_id']}")
    assert gone.status_code == 200
    assert "waits no more" in text_of(gone)


async def test_a_mail_came_while_somebody_edited(app: Tended, grace: httpx.AsyncClient) -> None:
    """Nothing is sent: the page says what came, keeps the words, and offers them for the draft that waits now."""
    draft = await draft_of(app)
    page = await grace.get(f"/console/drafts/{draft['reply_id']}")
    await app.write("It is 400 rows, sorry.", after="<m1@acme.example>", sender=f"Ada Miller <{ADA}>")
    newer = await draft_of(app, besides=draft["reply_id"])
    refused = await form(page, "/approve").send(grace, text="My own careful words.")
    said = text_of(refused)
    assert refused.status_code == 409
    assert "A newer mail came" in said
    assert "My own careful words." in refused.text
    assert "400 rows" in said
    again = form(refused, f"/drafts/{newer['reply_id']}/approve")
    assert again.fields["text"] == "My own careful words."
    await again.send(grace)
    await state_of(app, newer["reply_id"], "sent")
    (outcome,) = await app.rows(
        "SELECT outcome FROM turns t JOIN deliveries d USING (turn_id) WHERE d.reply_id = %(id)s", id=draft["reply_id"]
    )
    assert outcome["outcome"] == "superseded"


async def test_a_step_that_the_state_machine_does_not_have_is_refused(app: Tended, grace: httpx.AsyncClient) -> None:
    """Only legal steps are offered; what comes all the same is refused in words and logged."""
    draft = await draft_of(app)
    path = f"/console/threads/{draft['thread_id']}"
    moved = await form(await grace.get(path), "/move").send(grace, to="escalated", reason="hers")
    assert "state was changed" in text_of(moved)
    assert "Needs a person: Grace: hers" in text_of(moved)
    refused = await form(moved, "/move").send(grace, to="closed")
    assert refused.status_code == 409
    assert "only a human hands" in text_of(refused)
    assert (await form(moved, "/move").send(grace, to="nowhere")).status_code == 422


async def test_a_note_is_left_under_the_name_of_who_is_signed_in(app: Tended, grace: httpx.AsyncClient) -> None:
    """It stands on the page with its author, and an empty one is refused."""
    draft = await draft_of(app)
    page = await grace.get(f"/console/threads/{draft['thread_id']}")
    noted = await form(page, "/notes").send(grace, text="She called.", by="somebody else")
    assert "She called." in text_of(noted)
    assert "Grace" in text_of(noted)
    (note,) = await app.rows("SELECT by FROM thread_notes WHERE text = 'She called.'")
    assert note["by"] == "Grace"
    assert (await form(page, "/notes").send(grace, text=" ")).status_code == 422


async def test_a_fact_is_corrected_pinned_and_forgotten(app: Tended, grace: httpx.AsyncClient) -> None:
    """Each through learn_facts, and the history keeps every value."""
    await app.ask("add", on=0.1, key="plan", value="Team", kind="customer_info")
    path = f"/console/people/{app.person()}"
    page = await grace.get(path)
    assert "plan" in text_of(page)
    assert "Team" in text_of(page)
    corrected = await form(page, "/correct").send(grace, value="Business")
    assert "corrected" in text_of(corrected)
    assert "Business" in text_of(corrected)
    assert await app.current() == ["Business"]
    pinned = await form(corrected, "/pin").send(grace)
    assert "is pinned" in text_of(pinned)
    history = text_of(await grace.get(f"{path}/history?key=plan"))
    assert "Team" in history
    assert "Business" in history
    assert "Grace" in history
    forgotten = await form(pinned, "/forget").send(grace)
    assert "forgotten" in text_of(forgotten)
    assert await app.current() == []


async def test_a_brief_that_was_written_meanwhile_is_not_overwritten(app: Tended, grace: httpx.AsyncClient) -> None:
    """A person's brief is bound to the one that they saw."""
    path = f"/console/people/{app.person()}"
    page = await grace.get(path)
    assert "was written" in text_of(await form(page, "/brief").send(grace, text="Ada runs the export each Monday."))
    first = await grace.get(path)
    await form(first, "/brief").send(grace, text="Ada exports on Mondays.")
    refused = await form(first, "/brief").send(grace, text="Something else.")
    assert refused.status_code == 409
    assert "Ada exports on Mondays." in text_of(await grace.get(path))


@pytest.mark.parametrize(
    "path", ["threads/{id}", "threads/{id}/why", "drafts/{id}", "replies/{id}/why", "mails/{id}", "mails/{id}/html",
             "mails/{id}/files/0", "people/{id}", "people/{id}/history?key=plan", "threads/x", "nowhere", "inbox/x",
             "inbox?view=bogus"],
)  # fmt: skip
async def test_what_there_is_not_is_said_on_a_page(app: Tended, grace: httpx.AsyncClient, path: str) -> None:
    """Unknown ids and addresses give a page that says so, never a JSON error and never a fault of ours."""
    answer = await grace.get(f"/console/{path.format(id=uuid4())}")
    assert answer.status_code == 404, text_of(answer)
    assert "Not found" in text_of(answer)
    assert "To the inbox" in text_of(answer)


async def test_pages_follow_each_other_by_their_sort_key(
    app: Tended, grace: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No thread is shown twice or left out."""
    monkeypatch.setattr("services.web.console.inbox.LINES", 2)
    for number in range(4):
        await app.write("Hello?", subject=f"Matter {number}", sender=f"p{number}@many.example", mode="history")
    page, seen = await grace.get("/console/inbox?view=all"), []
    for _ in range(3):
        seen += html.fromstring(page.text).xpath("//li/@data-key")
        further = html.fromstring(page.text).xpath("//a[@rel='next']/@href")
        page = await grace.get(further[0] if further else "/console/inbox?after=bogus")
    assert len(seen) == len(set(seen)) == 5
    assert page.status_code == 400
