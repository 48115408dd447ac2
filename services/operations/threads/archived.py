"""What the log said of a thread, also where its older days lie in archived files.

Files are read to their end, so that they are opened only where the table `events` does not have what is looked for.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import structlog

from services.core.archive.archive import Archive
from services.core.archive.file import ArchiveDamaged
from services.core.archive.history import archived_of
from services.core.archive.places import ArchiveMissing
from services.core.bus.event_store import EventRow
from services.core.db import Connection

log = structlog.get_logger(__name__)


async def archived_in_thread(
    conn: Connection, archive: Archive | None, workspace: str, thread_id: UUID, types: frozenset[str]
) -> list[dict[str, Any]]:
    """The archived events of some types in a thread, oldest first; none where no archive is given.

    Raises `ArchiveMissing` or `ArchiveDamaged`.
    """
    if archive is None:
        return []

    def mine(row: EventRow) -> bool:
        return row["key"] == str(thread_id) and row["workspace"] == workspace and row["type"] in types

    return await archived_of(conn, archive, mine)


async def archived_if_there(
    conn: Connection, archive: Archive | None, workspace: str, thread_id: UUID, types: frozenset[str]
) -> list[dict[str, Any]]:
    """The same, and nothing where a file is missing or damaged: what is shown next to them is worth showing alone."""
    try:
        return await archived_in_thread(conn, archive, workspace, thread_id, types)
    except (ArchiveMissing, ArchiveDamaged) as error:
        log.warning("archived days are not shown", reason=str(error))
        return []
