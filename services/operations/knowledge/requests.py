"""A person's request goes to the document's topic; learn_documents decides it, and logs what it decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from schemas.events.documents import DocumentRemovalRequested, DocumentSubmitted, ProposalDecided
from schemas.topics import catalogue
from services.core.app import App
from services.core.clock import until
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.errors import Permanent
from services.core.ids import document_id
from services.core.settings.memory import DEFAULT_SPACE
from services.core.units import MB
from services.operations.requests import ask

SQL = queries(__file__)


class DocumentTooLarge(Permanent):
    """The document is larger than the settings allow."""


class DocumentUnknown(Permanent):
    """There is no document or article with this id."""


class SpaceUnknown(Permanent):
    """No inbox remembers in a space of this name."""


@dataclass(frozen=True, slots=True)
class Handed:
    """A document that was handed in; no request where this very content stands already."""

    document_id: UUID
    command: UUID | None


@dataclass(frozen=True, slots=True)
class Became:
    """What was decided because of a request: `indexed`, `removed`, `refused`, `proposed`, `rejected`."""

    cause: UUID
    document_id: UUID
    decision: str
    title: str
    origin: str
    detail: str


async def hand_in(
    app: App,
    content: bytes,
    *,
    origin: str,
    title: str,
    by: str,
    media_type: str,
    public_url: str = "",
    sendable: bool = False,
    space: str = DEFAULT_SPACE,
) -> Handed:
    """Put a document on the log, once for each change of it. Raises `DocumentTooLarge`, `SpaceUnknown`.

    The request's id is made from the content and from how far the document has come: doing it again before it was
    decided is the same request, and a content that comes back after another one is a new one.
    """
    workspace, most = app.settings.workspace, app.settings.knowledge.max_document_mb
    if len(content) > most * MB:
        raise DocumentTooLarge(f"{len(content) / MB:.1f} MB; knowledge.max_document_mb allows {most:g} MB")
    if space not in app.settings.spaces:
        raise SpaceUnknown(f"no inbox has the memory.space {space[:50]!r}, so nothing would ever quote the document")
    id = document_id(workspace, origin, space)
    blob = await app.blobs.put(content)
    async with app.database.transaction(workspace) as conn:
        row = await fetch_one(conn, SQL.document, {"workspace": workspace, "document_id": id})
    same = row and (row["blob"], row["public_url"], row["sendable"]) == (blob, public_url, sendable)
    if row and same and not row["removed_at"]:
        return Handed(id, None)
    command = DocumentSubmitted(
        document_id=id,
        title=title,
        origin=origin,
        media_type=media_type,
        blob=blob,
        by=by,
        public_url=public_url,
        sendable=sendable,
        space=space,
    )
    edition = f"{row['version'] if row else 0}/{blob}/{public_url}"
    request_id = uuid5(id, f"{edition}/sendable" if sendable else edition)
    return Handed(id, (await ask(app, command, request_id)).id)


async def ask_about(app: App, command: DocumentRemovalRequested | ProposalDecided) -> UUID:
    """Put a request about what there is on the log; its id. Raises `DocumentUnknown`, and then nothing is asked.

    An id of another workspace is nobody's here: a refusal would be a row in the place that its own log has already.
    """
    wanted = {"workspace": app.settings.workspace, "document_id": command.document_id}

    async def check(conn: Connection) -> None:
        if await fetch_one(conn, SQL.document, wanted) is None:
            raise DocumentUnknown(str(DocumentUnknown.__doc__))

    return (await ask(app, command, check=check)).id


async def unfinished(app: App, commands: Sequence[UUID]) -> int:
    """How many of the requests, and of the passages that came of them, learn_documents has still to do."""
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.unfinished, {"ids": list(commands), "skipped": catalogue().skipped})
    return int(row["n"]) if row else 0


async def became(app: App, commands: Sequence[UUID]) -> list[Became]:
    """What was decided because of the requests, so far; nothing for one that changed nothing."""
    workspace = app.settings.workspace
    async with app.database.transaction(workspace) as conn:
        rows = await fetch_all(conn, SQL.became, {"workspace": workspace, "ids": list(commands)})
    return [Became(**row) for row in rows]


async def decided(app: App, command: UUID, timeout_s: float) -> list[Became] | None:
    """What became of a request; None where learn_documents has not come to it after so many seconds."""

    async def is_done() -> bool:
        return await unfinished(app, [command]) == 0

    return await became(app, [command]) if await until(is_done, timeout_s) else None
