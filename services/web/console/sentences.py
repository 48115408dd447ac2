"""The sentences of a draft, each with what it rests on, for the pages that show one."""

from __future__ import annotations

from services.core.archive.archive import archive_of
from services.core.archive.file import ArchiveDamaged
from services.core.archive.places import ArchiveMissing
from services.core.db import Connection
from services.operations.drafts.grounds import Part, grounds_of, parts_of
from services.operations.drafts.listing import HeldDraft
from services.operations.threads.explanations import NothingToExplain, explain_reply
from services.web.console.site import Site


async def sentences_of(site: Site, conn: Connection, held: HeldDraft) -> list[Part]:
    """The draft in sentences with their sources; none where what the agent was given cannot be read any more."""
    try:
        why = await explain_reply(
            conn, site.app.settings.workspace, held.reply_id, archive=archive_of(site.app.settings)
        )
    except (NothingToExplain, ArchiveMissing, ArchiveDamaged):
        return []
    citations = [id for one in why.decisions if one.reply_id == held.reply_id for id in one.citations]
    return parts_of(held.shown, grounds_of(why.layers, citations))
