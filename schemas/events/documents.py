"""The knowledge base: documents in their editions, what cites them, and articles that are proposed for it."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from pydantic import Field

from schemas.events.base import EventData, Value


class DocumentAsked(EventData):
    """What a person asks of a document; learn_documents decides."""

    TYPE: ClassVar[str] = ""
    TOPIC: ClassVar[str] = "document-events"

    document_id: UUID
    by: str


class DocumentSubmitted(DocumentAsked):
    """A document was handed in; learn_documents will read it."""

    TYPE: ClassVar[str] = "document.submitted.v1"

    title: str
    origin: str = Field(description="a path or an address, which names the document across editions")
    media_type: str = "text/markdown"
    blob: str
    public_url: str = Field("", description="where everybody may read it; mails to customers link to nothing else")
    sendable: bool = Field(False, description="its file may go out, attached to a reply")
    space: str = Field("", description="whose replies quote it; empty: those of inboxes without a space of their own")


class DocumentRemovalRequested(DocumentAsked):
    """A person wants a document to be found no more."""

    TYPE: ClassVar[str] = "document.removal_requested.v1"

    reason: str = ""


class ArticleRequested(DocumentAsked):
    """A person wants an article to be proposed from an answer in a thread."""

    TYPE: ClassVar[str] = "document.article_requested.v1"

    thread_id: UUID
    reply_id: UUID | None = Field(None, description="the answer; one of ours or a colleague's mail")


class ProposalDecided(DocumentAsked):
    """A person accepts or rejects a proposed article; bound to the text that they saw."""

    TYPE: ClassVar[str] = "document.proposal_decided.v1"

    accept: bool
    text_sha256: str = Field(description="hash of the proposed text that the person saw")
    text: str = Field("", description="the person's own wording (Markdown), where they changed the article")
    public_url: str = ""
    reason: str = ""


class DocumentEvent(EventData):
    """An event of the aggregate `document`."""

    TYPE: ClassVar[str] = ""
    TOPIC: ClassVar[str] = "document-events"
    AGGREGATE: ClassVar[str] = "document"

    document_id: UUID

    def aggregate_id(self) -> UUID:
        """The document."""
        return self.document_id


class DocumentChunk(Value):
    """One passage of a document, as it is searched and cited."""

    chunk_id: UUID
    heading: str
    text: str


class DocumentIndexed(DocumentEvent):
    """An edition of a document is cut into passages and can be found; older editions answer for their time only."""

    TYPE: ClassVar[str] = "document.indexed.v1"

    title: str
    origin: str
    blob: str
    chunks: tuple[DocumentChunk, ...]
    media_type: str = "text/markdown"
    public_url: str = ""
    sendable: bool = False
    space: str = ""
    by: str = ""
    note: str = Field("", description="what was not read of it, and why; empty where all was")


class DocumentContinued(DocumentEvent):
    """More passages of the edition that was indexed just before: an event stays small, a document need not."""

    TYPE: ClassVar[str] = "document.continued.v1"

    first_position: int = Field(description="how many passages of this edition came before")
    chunks: tuple[DocumentChunk, ...]


class DocumentRemoved(DocumentEvent):
    """A document can be found no more; its editions stay, and answer for their time."""

    TYPE: ClassVar[str] = "document.removed.v1"

    reason: str = ""
    by: str


class DocumentRefused(DocumentEvent):
    """A document could not be read, or what a person asked of it could not be done."""

    TYPE: ClassVar[str] = "document.refused.v1"

    title: str
    origin: str
    reason: str
    details: dict[str, Any] = Field(default_factory=dict)


class DocumentCited(DocumentEvent):
    """A drafted reply rests on passages of this document."""

    TYPE: ClassVar[str] = "document.cited.v1"

    chunk_ids: tuple[UUID, ...]
    reply_id: UUID
    thread_id: UUID


class ArticleProposed(DocumentEvent):
    """An article was made by rule from a person's answer, personal data masked; a person accepts it, or nobody does."""

    TYPE: ClassVar[str] = "document.proposed.v1"

    title: str
    text: str = Field(description="Markdown")
    thread_id: UUID
    reply_id: UUID = Field(description="the answer that it was made from: a reply of ours, or a colleague's mail")
    source: str = Field(description="why it was made: colleague, own wording, or asked for")
    masked: int = Field(0, description="how many names, addresses and numbers were taken out")


class ArticleRejected(DocumentEvent):
    """A person does not want the proposed article."""

    TYPE: ClassVar[str] = "document.rejected.v1"

    reason: str = ""
    by: str
