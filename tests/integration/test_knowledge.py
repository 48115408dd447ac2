"""The knowledge base over its life: editions, removal, refusals, citations, and the same state from a fold."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection
from psycopg.rows import dict_row

from deploy.local import Endpoints
from schemas.events.documents import DocumentRemovalRequested
from schemas.events.replies import ReplyDrafted, ReplySent
from services import learn_documents
from services.core.bus.runner import enter
from services.core.clock import random_id
from services.memory.knowledge import passages_by_id
from services.operations.knowledge.listing import find_passages, list_documents, list_unread, show_document, sources_of
from services.operations.knowledge.requests import DocumentTooLarge, became, hand_in, unfinished
from services.operations.rebuild.projections import fold, state_hash
from services.operations.requests import ask
from tests.support.documents import shelve
from tests.support.remembering import Memory, day, remembering
from tests.support.stack import fresh_database

OLD = "# Refunds\n\nYou get your money back within 14 days.\n\n## How\n\nWrite to us."
NEW = "# Refunds\n\nYou get your money back within 30 days.\n\n## How\n\nUse the form."
QUESTION = "How long can I get my money back?"


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path, knowledge={"max_document_mb": 0.01}) as one:
        yield one


async def settle(memory: Memory) -> None:
    await memory.settle((learn_documents.PROCESSOR,))


async def texts(memory: Memory, **given: Any) -> list[str]:
    return [one.text for one in await find_passages(memory.app, QUESTION, limit=5, **given)]


async def sent(memory: Memory, *citations: str) -> ReplyDrafted:
    """A reply that names what it rests on, and has left."""
    ids = {name: random_id() for name in ("reply_id", "turn_id", "thread_id")}
    draft = ReplyDrafted(
        **ids, participant_id=None, inbox="support", mail_ids=(), trusted=True, decision="reply", citations=citations
    )
    gone = ReplySent(**ids, attempt=1, text=draft.text, citations=citations)
    for event in (draft, gone):
        await enter(memory.app, memory.event(event, memory.clock()))
    return draft


async def test_a_changed_document_is_a_new_edition_and_the_old_one_answers_for_its_time(memory: Memory) -> None:
    """The passages of the old edition are found no more, and are found as of then."""
    memory.clock.forward(day(1))
    id = await shelve(memory.app, "refunds.md", OLD)
    await settle(memory)
    memory.clock.forward(day(5))
    await shelve(memory.app, "refunds.md", NEW)
    await settle(memory)
    assert [one for one in await texts(memory) if "days" in one] == ["You get your money back within 30 days."]
    then = await texts(memory, as_of=day(2))
    assert [one for one in then if "days" in one] == ["You get your money back within 14 days."]
    assert await texts(memory, as_of=day(0)) == []
    shown = await show_document(memory.app, id, past=True)
    assert shown is not None
    assert (shown.document.edition, shown.document.chunks) == (2, 2)
    assert [(one.edition, one.retired_at is None) for one in shown.chunks] == [
        (2, True),
        (2, True),
        (1, False),
        (1, False),
    ]


async def test_the_same_content_again_is_no_edition_and_a_former_content_is(memory: Memory) -> None:
    """Handing in twice, before or after it was read, changes nothing; going back to an old text does."""
    commands = [(await _hand(memory, OLD)) for _ in range(2)]
    assert commands[0] == commands[1]
    await settle(memory)
    assert await _hand(memory, OLD) is None
    for text in (NEW, OLD):
        await _hand(memory, text)
        await settle(memory)
    (document,) = await list_documents(memory.app)
    assert document.edition == 3
    assert "You get your money back within 14 days." in await texts(memory)


async def _hand(memory: Memory, text: str) -> Any:
    handed = await hand_in(
        memory.app, text.encode(), origin="refunds.md", title="r", by="t", media_type="text/markdown"
    )
    return handed.command


async def test_a_removed_document_is_found_no_more_and_may_come_back(memory: Memory) -> None:
    """Removal is an event with its reason; a second one is refused in words; handing in again brings it back."""
    id = await shelve(memory.app, "refunds.md", NEW)
    await settle(memory)
    for decision in ("removed", "refused"):
        memory.clock.forward(memory.clock() + (day(1) - day(0)))
        command = (await ask(memory.app, DocumentRemovalRequested(document_id=id, reason="old", by="grace"))).id
        assert await unfinished(memory.app, [command]) == 1
        await settle(memory)
        assert await unfinished(memory.app, [command]) == 0
        assert [one.decision for one in await became(memory.app, [command])] == [decision]
    assert await texts(memory) == []
    assert await list_documents(memory.app) == []
    (gone,) = await list_documents(memory.app, removed=True)
    assert gone.removed_at is not None
    await shelve(memory.app, "refunds.md", NEW)
    await settle(memory)
    assert [one.edition for one in await list_documents(memory.app)] == [2]


async def test_what_cannot_be_read_is_listed_with_its_reason(memory: Memory) -> None:
    """An edition that stands stays when the next one cannot be read; what never could be is listed apart."""
    await shelve(memory.app, "refunds.md", NEW)
    await settle(memory)
    for origin in ("refunds.md", "other.pdf"):
        content = b"%PDF-1.7 and nothing"
        await hand_in(memory.app, content, origin=origin, title=origin, by="t", media_type="application/pdf")
    await settle(memory)
    assert "You get your money back within 30 days." in await texts(memory)
    (bad,) = await list_unread(memory.app)
    assert (bad.origin, bad.reason.startswith("cannot be read")) == ("other.pdf", True)
    with pytest.raises(DocumentTooLarge, match=r"max_document_mb allows 0\.01 MB"):
        await shelve(memory.app, "huge.md", "word " * 10_000)


async def test_a_citation_is_noted_with_the_edition_that_was_read(memory: Memory) -> None:
    """Where a document was cited stays true when it changes; what is no passage of ours is not noted."""
    id = await shelve(memory.app, "refunds.md", OLD, public_url="https://docs.example/refunds")
    await settle(memory)
    (best, *_) = await find_passages(memory.app, QUESTION, limit=1)
    reply = await sent(memory, str(best.chunk_id), str(random_id()), "hours#0")
    await settle(memory)
    await shelve(memory.app, "refunds.md", NEW)
    await settle(memory)
    shown = await show_document(memory.app, id)
    assert shown is not None
    assert [(one.reply_id, one.edition) for one in shown.cited_in] == [(reply.reply_id, 1)]
    assert shown.document.cited == 1
    async with memory.app.database.transaction(memory.workspace) as conn:
        (source,) = (await sources_of(conn, memory.workspace, [reply.reply_id]))[reply.reply_id]
    assert (source.title, source.edition) == ("Refunds", 1)


async def test_another_workspace_reads_no_passage_by_any_path(memory: Memory) -> None:
    """By search, by id, by a query without any condition: each sees the passages of its own workspace alone."""
    await shelve(memory.app, "refunds.md", OLD)
    await settle(memory)
    (row, *_) = await memory.rows("SELECT chunk_id FROM chunks")
    async with memory.app.database.reading() as conn:
        assert await passages_by_id(conn, "elsewhere", [row["chunk_id"]]) == {}
        assert list(await passages_by_id(conn, memory.workspace, [row["chunk_id"]])) == [row["chunk_id"]]
    async with memory.app.database.transaction("elsewhere") as conn:
        assert await passages_by_id(conn, memory.workspace, [row["chunk_id"]]) == {}
        for table in ("documents", "chunks", "document_log", "citations", "proposals"):
            assert await (await conn.execute(f"SELECT 1 FROM {table}")).fetchall() == []


async def test_a_fold_of_the_events_gives_the_same_tables(memory: Memory, stack: Endpoints, database: str) -> None:
    """Editions, removals, refusals and citations come out of the log alone as they stand."""
    id = await shelve(memory.app, "refunds.md", OLD)
    await settle(memory)
    (best, *_) = await find_passages(memory.app, QUESTION, limit=1)
    await sent(memory, str(best.chunk_id))
    await shelve(memory.app, "refunds.md", NEW)
    await settle(memory)
    await ask(memory.app, DocumentRemovalRequested(document_id=id, by="grace"))
    await hand_in(memory.app, b"\x00", origin="x.md", title="x", by="t", media_type="text/markdown")
    await settle(memory)
    live = await memory.state()
    tables = ("documents", "chunks", "document_log", "citations", "proposals")
    with fresh_database(stack.database) as url:
        async with memory.app.database.reading() as source:
            await fold(source, url)
        async with await AsyncConnection.connect(url, autocommit=True, row_factory=dict_row) as folded:
            assert await state_hash(folded, tables) == {name: live[name] for name in tables}
    assert len(await memory.rows("SELECT 1 FROM document_log")) == 4
