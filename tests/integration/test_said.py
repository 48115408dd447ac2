"""What was said is found: in other threads, by meaning, by whoever may see it, and by nobody else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.local import Endpoints
from schemas.events.retention import BodiesExpired
from schemas.model_output import SearchMemoryInput
from services.cli.memory import view
from services.core.archive.archive import archive_of
from services.core.web import make_app
from services.generate_reply.desk import Desk
from services.generate_reply.tools import search
from services.memory.embeddings import Embedder, Vector
from services.operations.memory.search import find_everywhere, find_said
from services.operations.rebuild import run as rebuild
from services.operations.rebuild.scopes import scope
from services.operations.vectors import keep
from services.track_threads.apply import APPLIERS
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.remembering import ADA, memory_loaded
from tests.support.tending import Tended, tending

BOB = "bob@acme.example"
TOKEN = "a token for tests"
BOXES: list[dict[str, Any]] = [
    {"name": "support", "address": "support@ourcompany.example", "vouched_by": "the test"},
    {"name": "open", "address": "open@ourcompany.example", "unproven": "review"},
]
THREADS = (
    ("Smudges", "Every label smudged. In the end the wax-resin ribbon WR-220 helped, the prints are clean now."),
    ("Invoice", "Please send the invoice of March again to our accounting."),
    ("Seats", "We would like twelve seats instead of ten."),
    ("Export", "The export to Xero stops after a minute."),
    ("Holiday", "Are you open between the years?"),
    ("Login", "Our new colleague cannot log in with her phone."),
    ("Address", "We have moved: the new street is Lindengasse 4 in Graz."),
)
QUESTION = "The labels smudge again. Which one was it that fixed our prints back then?"


@dataclass
class Listening:
    """An embedder that also keeps what it was asked."""

    embedder: Embedder
    heard: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """As the embedder's."""
        return self.embedder.name

    @property
    def dimensions(self) -> int:
        """As the embedder's."""
        return self.embedder.dimensions

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """As the embedder does."""
        self.heard.extend(texts)
        return await self.embedder.embed(texts)


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment of which the first inbox alone vouches for its senders."""
    async with tending(stack, database, topic_prefix, tmp_path, inboxes=BOXES, web={"api_token": TOKEN}) as one:
        yield one


async def lived(app: Tended) -> None:
    """Seven threads of Ada's, days apart, and the vectors that the process that keeps time gives."""
    for subject, text in THREADS:
        await app.write(text, subject=subject)
        await app.wait(days=3)
    await keep.look(app.app, lambda done, of: None)


@pytest.fixture
async def seven(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """The deployment with these seven threads."""
    changes: dict[str, Any] = {"inboxes": BOXES, "web": {"api_token": TOKEN}}
    async with after(lived, tending, stack, template_database, topic_prefix, tmp_path, **changes) as one:
        yield one


async def earlier(app: Tended) -> str:
    """The layer of the newest prompt."""
    query = "SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq DESC LIMIT 1"
    (row,) = await app.rows(query)
    return next(str(one["text"]) for one in row["data"]["layers"] if one["name"] == "earlier")


async def texts(app: Tended, question: str, who: str | None = ADA) -> str:
    """What is found, as lines of a terminal."""
    person = app.person(who) if who else None
    return "\n".join(map(view.said, (await find_said(app.app, person, question, now=app.clock())).said))


async def test_the_ribbon_that_helped_in_thread_one_of_seven_was_out_of_reach_in_thread_eight(seven: Tended) -> None:
    """A new mail has in its prompt what was said in the thread that bears on it, with day and speaker, however old."""
    await seven.write(QUESTION, subject="Labels")
    layer = await earlier(seven)
    assert "WR-220 helped" in layer
    assert "2026-01-05 ada@acme.example: “Every label smudged." in layer
    assert "«Address»" in layer


async def test_what_was_said_is_found_by_word_and_by_meaning_with_who_said_it_and_when(app: Tended) -> None:
    """Before a vector is made a passage is found by its words, then by its meaning; a search of the workspace finds it too."""
    await app.write(THREADS[0][1], subject="Smudges")
    assert "wax-resin ribbon" in await texts(app, "ribbon")
    await lived(app)
    found = await texts(app, "What made the labels print without smears?")
    assert "in «Smudges»" in found.splitlines()[0]
    assert "2026-01-05 ada@acme.example in «Smudges»" in found
    assert "WR-220" in await texts(app, "What made the labels print without smears?", who=None)
    assert "invoice" in (await find_everywhere(app.app, "the invoice of March", now=app.clock()))[0].fact.text


async def test_a_day_that_a_question_named_counted_for_nothing(app: Tended) -> None:
    """Of threads that say the same, the one of the day that is asked is found, by the model's tool and by operators."""
    said = "The export to Xero stopped after a minute, and nothing came."
    for number, (subject, text) in enumerate(THREADS[:4]):
        await app.write(text, subject=subject)
        await app.write(said, subject=f"Export {number}")
        await app.wait(days=30)
    await keep.look(app.app, lambda done, of: None)
    (mail,) = await app.rows("SELECT * FROM mails WHERE subject = 'Export 3'")
    event = memory_loaded(app.person(), thread_id=mail["thread_id"], mail_ids=(mail["mail_id"],))
    for number, day in enumerate(("5 January", "4 February")):
        question, thread = f"What was wrong with the export to Xero on {day}?", f"«Export {number}»"
        assert thread in (await texts(app, question)).splitlines()[0]
        desk = Desk(event=event, app=app.app, workspace=app.workspace, now=app.clock(), mails=(mail,))
        told = await search.memory(SearchMemoryInput(query_text=question, max_results=1), desk)
        assert f"{thread}: “{said}”" in told


@pytest.mark.parametrize(("number", "named", "day"), [
    (0, "5 January", "2026-01-05"),
    (1, "19 January", "2026-01-19"),
])  # fmt: skip
async def test_a_day_that_a_mail_named_counted_for_nothing_in_its_prompt(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, number: int, named: str, day: str
) -> None:
    """Of two threads that say the same, a mail has in its prompt the one of the day that it names, whichever that is.

    They are of one month, as a summary names the month, and would be found by that word.
    """
    said = "The export to Xero stopped after a minute, and nothing came."
    changes: dict[str, Any] = {"context": {"relevant_threads": 1, "earlier_threads": 0}}
    async with tending(stack, database, topic_prefix, tmp_path, inboxes=BOXES, **changes) as app:
        for one, (subject, text) in enumerate(THREADS[1:3]):
            await app.write(text, subject=subject)
            await app.write(said, subject=f"Export {one}")
            await app.wait(days=14)
        await keep.look(app.app, lambda done, of: None)
        await app.write(f"What was wrong with the export to Xero on {named}?", subject="Xero")
        assert f"{day} ada@acme.example: “{said}”" in (layer := await earlier(app))
        assert [one for one in range(2) if f"«Export {one}»" in layer] == [number]


async def test_the_thread_that_is_answered_was_told_as_another(seven: Tended) -> None:
    """What was said in the mail's own thread stands in the thread's layers, and not among other threads."""
    await seven.write(QUESTION, subject="Re: Smudges", after="<m1@acme.example>")
    layer = await earlier(seven)
    assert "«Address»" in layer
    assert "WR-220" not in layer


async def test_every_mail_that_was_signed_with_a_name_lay_near_a_question_about_its_sender(app: Tended) -> None:
    """The question is also asked as they would say it, of their messages; its words and its verdict stay its own."""
    for subject, text in THREADS[:3]:
        await app.write(f"Cordula here. {text}", subject=subject, sender=f"Cordula Lee <{ADA}>")
    await keep.look(app.app, lambda done, of: None)
    listening = Listening(app.app.embedder)
    asked = replace(app.app, embedder=listening)
    found = await find_said(asked, app.person(), "Which ribbon helped Cordula Lee in the end?", now=app.clock())
    assert listening.heard == ["Which ribbon helped Cordula Lee in the end?", "Which ribbon helped I in the end?"]
    assert "WR-220" in found.said[0].text
    await find_said(asked, None, "Which ribbon helped Cordula Lee in the end?", now=app.clock())
    assert len(listening.heard) == 3


async def test_the_api_finds_what_was_said(seven: Tended) -> None:
    """Of a person and of everybody, behind the token."""
    transport = httpx.ASGITransport(make_app([routes(seven.app)]))
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as client:
        for path in (f"/api/participants/{ADA}/said/search", "/api/said/search"):
            (best, *_) = (await client.get(path, params={"q": "which ribbon helped"})).json()
            assert "WR-220" in best["text"]
            assert best["subject"] == "Smudges"
        (fact, *_) = (await client.get("/api/facts/search", params={"q": "the invoice"})).json()
        assert "invoice" in fact["fact"]["text"]


async def test_what_an_unproven_sender_wrote_is_found_by_nobody_but_operators(app: Tended) -> None:
    """It claims to be from Ada: her searches and her prompts never have it."""
    await app.write("The export of report 4471 fails.")
    await app.write("We want walrusopal exports.", subject="Re: Export", after="<m1@acme.example>", inbox=1)
    assert "walrusopal" not in await texts(app, "walrusopal export")
    assert "walrusopal" in await texts(app, "walrusopal export", who=None)


async def test_the_model_finds_with_its_tool_what_was_said_within_the_days_that_it_gives(seven: Tended) -> None:
    """`search_memory` tells the messages of this thread and others, not the mail that is answered, nothing out of the days."""
    (mail,) = await seven.rows("SELECT * FROM mails WHERE subject = 'Seats'")
    event = memory_loaded(seven.person(), thread_id=mail["thread_id"], mail_ids=(mail["mail_id"],))
    desk = Desk(event=event, app=seven.app, workspace=seven.workspace, now=seven.clock(), mails=(mail,))
    found = await search.memory(SearchMemoryInput(query_text="Which ribbon helped against smudges?"), desk)
    assert "2026-01-05 ada@acme.example in «Smudges»: “Every label smudged." in found
    late = await search.memory(SearchMemoryInput(query_text="ribbon smudges", maximum_days_ago=10), desk)
    assert "Every label smudged" not in late
    own = await search.memory(SearchMemoryInput(query_text="twelve seats"), desk)
    assert "ada@acme.example in «Seats»" not in own
    assert found.splitlines()[0] == "memory: no fact below clearly answers this"
    assert "\nmessages, as they were written; " in found


async def test_one_of_the_first_five_answered_and_four_were_shown(seven: Tended) -> None:
    """A search is sure of messages where the five that may answer are shown, in a language that was measured."""
    question, german = (
        "Which ribbon helped against smudged labels?",
        "Welches Farbband half gegen die verschmierten Etiketten?",
    )
    for text, limit, sure in ((question, 10, True), (question, 4, False), (german, 10, False)):
        assert (await find_said(seven.app, seven.person(), text, now=seven.clock(), limit=limit)).sure is sure
    (mail,) = await seven.rows("SELECT * FROM mails WHERE subject = 'Seats'")
    event = memory_loaded(seven.person(), thread_id=mail["thread_id"], mail_ids=(mail["mail_id"],))
    desk = Desk(event=event, app=seven.app, workspace=seven.workspace, now=seven.clock(), mails=(mail,))
    for person, how in (("", "one of the first answers"), ("WR-220", "whether one answers is to be confirmed")):
        told = await search.memory(SearchMemoryInput(query_text=question, person=person), desk)
        assert f"\nmessages, as they were written; {how}:\n" in told


async def test_summaries_are_found_and_a_new_text_gets_its_own_vector(app: Tended) -> None:
    """What a thread was about is found with its messages; a summary that is written again is embedded again."""
    await app.write(THREADS[0][1], subject="Smudges")
    await keep.look(app.app, lambda done, of: None)
    found = (await find_said(app.app, app.person(), "smudges ribbon", now=app.clock(), limit=50)).said
    assert {"customer", "agent", "summary"} == {one.role for one in found}
    before = await app.rows("SELECT text, embedding_model FROM thread_summaries")
    assert before[0]["embedding_model"]
    await app.write("It is about the Zebra now.", subject="Re: Smudges", after="<m1@acme.example>")
    after = await app.rows("SELECT text, embedding_model FROM thread_summaries")
    assert (after[0]["text"] == before[0]["text"]) == bool(after[0]["embedding_model"])
    await keep.look(app.app, lambda done, of: None)
    lacking = "SELECT 1 FROM conversation_passages WHERE embedding IS NULL UNION ALL SELECT 1 FROM thread_summaries WHERE embedding IS NULL"
    assert await app.rows(lacking) == []


async def test_a_rebuild_gives_the_same_passages_and_keeps_their_vectors(app: Tended) -> None:
    """Live rows are those of the events; a rebuild carries the vectors of unchanged texts over."""
    await app.write(THREADS[0][1], subject="Smudges")
    await keep.look(app.app, lambda done, of: None)
    query = "SELECT passage_id, text, embedding_model FROM conversation_passages ORDER BY passage_id"
    before = await app.rows(query)
    settings = app.app.settings
    assert (await rebuild.check(settings, scope("all"), lambda count: None, archive_of(settings))).differences == ()
    await rebuild.swap(settings, scope("all"), lambda count: None, archive_of(settings))
    assert await app.rows(query) == before
    assert all(row["embedding_model"] for row in before)


async def test_a_long_message_is_found_by_its_end(app: Tended) -> None:
    """It is cut into passages that an embedder reads whole, behind paragraphs and sentences; no word is lost."""
    words = " ".join(f"Sentence number {number} is about nothing at all." for number in range(200))
    await app.write(f"{words}\n\nThe spare key lies under the zinnia pot.", subject="Long")
    parts = [row["text"] for row in await app.rows("SELECT text FROM conversation_passages ORDER BY version, part")]
    assert max(map(len, parts)) <= 400
    assert f"{words} The spare key lies under the zinnia pot." in " ".join(" ".join(parts).split())
    assert "zinnia" in (await texts(app, "Where is the spare key?")).splitlines()[0]


async def test_a_text_that_is_kept_no_longer_is_found_no_longer(app: Tended) -> None:
    """When the texts of a thread go by age, their passages go in the same transaction."""
    thread_id = await app.write(THREADS[0][1], subject="Smudges")
    assert "WR-220" in await texts(app, "ribbon")
    event = BodiesExpired(thread_id=thread_id, before=app.clock() + timedelta(days=1))
    async with app.app.database.transaction(app.workspace) as conn:
        await APPLIERS[BodiesExpired](conn, app.event(event, app.clock()))
    assert await app.rows("SELECT 1 FROM conversation WHERE gone_at IS NOT NULL")
    assert not await app.rows("SELECT 1 FROM conversation_passages")
