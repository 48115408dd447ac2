"""What becomes of what is asked of a document. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from schemas.events import documents as ev
from services.core.ids import article_origin, text_sha256
from services.learn_documents.chunks import Chunk
from services.learn_documents.conversion import Reading, read_markdown

CHUNKS_AN_EVENT = 100

Decided = Iterator[ev.DocumentEvent]


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it is: its current edition, or, with `removed_at`, the last one that it had."""

    title: str
    origin: str
    blob: str
    public_url: str
    sendable: bool
    removed_at: datetime | None

    def is_as(self, event: ev.DocumentSubmitted) -> bool:
        """Whether what was handed in stands already, with all that is said of it."""
        stands = (self.blob, self.public_url, self.sendable)
        return self.removed_at is None and stands == (event.blob, event.public_url, event.sendable)


@dataclass(frozen=True, slots=True)
class Proposal:
    """An article that is, or was, proposed; `state` is proposed, accepted or rejected; `space` is its thread's."""

    title: str
    text: str
    thread_id: UUID
    reply_id: UUID
    state: str
    space: str = ""


def submitted(event: ev.DocumentSubmitted, known: Document | None, reading: Reading, version: int) -> Decided:
    """A new edition, a refusal, or nothing where the very same stands already. `version` is the document's."""
    if known and known.is_as(event):
        return
    if reading.refused:
        yield refused(event.document_id, event.title, event.origin, reading.refused)
    else:
        yield from _edition(event, reading, version)


def removal(event: ev.DocumentRemovalRequested, known: Document | None) -> Decided:
    """A document that stands is removed."""
    if known is None or known.removed_at:
        title, origin = (known.title, known.origin) if known else ("", "")
        yield refused(event.document_id, title, origin, "there is no such document, or it was removed before")
    else:
        yield ev.DocumentRemoved(document_id=event.document_id, reason=event.reason, by=event.by)


def proposal(event: ev.ProposalDecided, known: Proposal | None, text: str, blob: str, version: int) -> Decided:
    """A person's word on a proposed article; about another text, or one decided before, it is refused."""
    if known is None or known.state != "proposed":
        why = "no such article is proposed" if known is None else f"it was {known.state} before"
        yield refused(event.document_id, known.title if known else "", "", why)
    elif event.text_sha256 != text_sha256(known.text):
        yield refused(event.document_id, known.title, "", "the text is another than the one that was seen")
    elif not event.accept:
        yield ev.ArticleRejected(document_id=event.document_id, reason=event.reason, by=event.by)
    else:
        accepted = ev.DocumentSubmitted(
            document_id=event.document_id,
            title=known.title,
            origin=article_origin(known.thread_id, known.reply_id),
            blob=blob,
            by=event.by,
            public_url=event.public_url,
            space=known.space,
        )
        yield from submitted(accepted, None, read_markdown(text), version)


def refused(document_id: UUID, title: str, origin: str, reason: str) -> ev.DocumentRefused:
    """No, and why."""
    return ev.DocumentRefused(document_id=document_id, title=title, origin=origin, reason=reason)


def _edition(event: ev.DocumentSubmitted, reading: Reading, version: int) -> Decided:
    whole = tuple(_with_ids(event.document_id, reading.chunks, version))
    yield ev.DocumentIndexed(
        document_id=event.document_id,
        title=reading.title or event.title,
        origin=event.origin,
        blob=event.blob,
        chunks=whole[:CHUNKS_AN_EVENT],
        media_type=reading.media_type,
        public_url=event.public_url,
        sendable=event.sendable,
        space=event.space,
        by=event.by,
        note=reading.note,
    )
    for at in range(CHUNKS_AN_EVENT, len(whole), CHUNKS_AN_EVENT):
        some = whole[at : at + CHUNKS_AN_EVENT]
        yield ev.DocumentContinued(document_id=event.document_id, first_position=at, chunks=some)


def _with_ids(document_id: UUID, chunks: Iterable[Chunk], version: int) -> Iterator[ev.DocumentChunk]:
    """Passages of this edition and no other: what cites them names what it has read."""
    for position, one in enumerate(chunks):
        id = uuid5(document_id, f"{version}/{position}")
        yield ev.DocumentChunk(chunk_id=id, heading=one.heading, text=one.text)
