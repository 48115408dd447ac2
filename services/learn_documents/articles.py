"""Proposes articles from what people answered, and does what a person decides about them. Nobody else accepts one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from schemas.events import documents as ev
from schemas.events.replies import ReplyDrafted
from schemas.events.threads import ReplyAttached
from services.core.bus.event_row import EventRow
from services.core.bus.work import Work
from services.core.db import Connection, fetch_all, fetch_one, row_as, rows_as
from services.core.ids import article_id
from services.core.mailbox import MailboxKey
from services.core.settings import Settings
from services.learn_documents import decide
from services.learn_documents.apply import SQL
from services.learn_documents.proposals import Answered, Article, article
from services.mail.masking import Known


async def on_reply_attached(work: Work[ReplyAttached]) -> None:
    """A colleague's mail, or a draft that was sent in a person's own words, becomes a proposed article."""
    reply = work.event
    async with work.reading() as conn:
        source = await _source(conn, reply)
        case = await _case(conn, reply.thread_id, reply.reply_id, work.app.settings) if source else None
    made = article(case, work.app.settings.knowledge.article_words) if case else None
    if made:
        await _propose(work, reply.thread_id, reply.reply_id, source, made)


async def on_requested(work: Work[ev.ArticleRequested]) -> None:
    """A person asks for an article from an answer, whoever wrote it; one that cannot be made is refused in words."""
    command = work.event
    async with work.reading() as conn:
        case = await _case(conn, command.thread_id, command.reply_id, work.app.settings) if command.reply_id else None
    made = article(case, work.app.settings.knowledge.article_words) if case else None
    if command.reply_id and made:
        await _propose(work, command.thread_id, command.reply_id, f"asked for by {command.by}", made)
        return
    why = "the answer is too short to teach anybody" if case else "there is no such answer"
    async with work.unit() as unit:
        await unit.record(decide.refused(command.document_id, "", "", why))


async def on_decided(work: Work[ev.ProposalDecided]) -> None:
    """Accepted, it becomes a document like any other; rejected, it is not proposed again."""
    event = work.event
    async with work.reading() as conn:
        seen = await _proposal(conn, event.document_id)
    text = event.text or (seen.text if seen else "")
    blob = await work.app.blobs.put(text.encode())
    async with work.unit() as unit:
        await unit.lock("document", event.document_id)
        known = await _proposal(unit.conn, event.document_id)
        version = await unit.version("document", event.document_id)
        for one in decide.proposal(event, known, text, blob, version):
            await unit.record(one)


async def _proposal(conn: Connection, document_id: UUID) -> decide.Proposal | None:
    return await row_as(conn, decide.Proposal, SQL.proposal, {"document_id": document_id})


async def _propose(work: Work[Any], thread_id: UUID, reply_id: UUID, source: str, made: Article) -> None:
    proposed = ev.ArticleProposed(
        document_id=article_id(work.workspace, thread_id, reply_id),
        title=made.title,
        text=made.text,
        thread_id=thread_id,
        reply_id=reply_id,
        source=source,
        masked=made.masked,
    )
    async with work.unit() as unit:
        await unit.lock("document", proposed.document_id)
        if await _proposal(unit.conn, proposed.document_id) is None:
            await unit.record(proposed)


async def _source(conn: Connection, reply: ReplyAttached) -> str:
    """Why the reply teaches something; "" for the agent's own words, and for history, which is learned on request."""
    if reply.role == "human":
        mail = await fetch_one(conn, SQL.mail, {"mail_id": reply.reply_id})
        return "colleague" if mail and mail["mode"] == "live" else ""
    for row in await rows_as(conn, EventRow.of, SQL.drafts_of_thread, {"thread_id": reply.thread_id}):
        draft = row.envelope().data
        if isinstance(draft, ReplyDrafted) and draft.reply_id == reply.reply_id:
            return "own wording" if draft.decision == "reply" and draft.text != reply.text else ""
    return ""


async def _case(conn: Connection, thread_id: UUID, reply_id: UUID, settings: Settings) -> Answered | None:
    args = {"thread_id": thread_id, "reply_id": reply_id}
    thread = await fetch_one(conn, SQL.thread_of_article, args)
    said = await fetch_all(conn, SQL.conversation, args)
    if thread is None or not said:
        return None
    asked = tuple(one["text"] for one in said if one["role"] == "customer")
    writers = await fetch_all(conn, SQL.writers, args)
    facts = await fetch_all(conn, SQL.known_of, {"participant_id": thread["participant_id"]})
    ours = settings.own_addresses
    known = Known(
        names=tuple(one["author_name"] for one in writers),
        addresses=tuple(one["author_addr"] for one in writers if MailboxKey(one["author_addr"]) not in ours),
        details=tuple(one["value"] for one in facts),
        said=asked,
    )
    return Answered(thread["subject"], asked, said[-1]["text"], known)
