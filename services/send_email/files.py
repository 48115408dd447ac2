"""Files that go out with a reply: of documents that an operator marked as sendable, and what a person attached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schemas.events.replies import ReplyDrafted, SentFile
from services.core.blobs import BlobMissing
from services.core.bus.work import Work
from services.core.db import fetch_all
from services.core.units import MB
from services.mail.compose import ComposeRefused, File
from services.memory.knowledge import chunk_ids
from services.send_email.apply import SQL


async def files_of(work: Work[Any], draft: ReplyDrafted, attached: Sequence[SentFile] = ()) -> tuple[File, ...]:
    """The files, documents first. Raises `ComposeRefused` where one may not go out any more, or all are too large."""
    named = chunk_ids(draft.attach)
    found: list[File] = []
    if named:
        async with work.reading() as conn:
            rows = await fetch_all(conn, SQL.sendable_documents, {"workspace": work.workspace, "ids": named})
        if {one for row in rows for one in row["chunks"]} != set(named):
            raise ComposeRefused("a document that the draft attaches may not be sent any more")
        for row in rows:
            found.append(File(_name(row), row["media_type"], await _content(work, row["blob"])))
    for one in attached:
        found.append(File(one.filename, one.content_type, await _content(work, one.blob)))
    most = work.app.settings.send.max_files_mb
    if sum(len(one.content) for one in found) > most * MB:
        raise ComposeRefused(f"its files are larger than send.max_files_mb = {most:g} MB")
    return tuple(found)


def _name(row: dict[str, Any]) -> str:
    """The last part of the path or address that the document came from, or its title."""
    return str(row["origin"]).rstrip("/").rpartition("/")[2] or str(row["title"])


async def _content(work: Work[Any], blob: str) -> bytes:
    try:
        return await work.app.blobs.get(blob)
    except BlobMissing as error:
        raise ComposeRefused("a file that was attached is gone") from error
