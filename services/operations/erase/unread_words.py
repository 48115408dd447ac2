"""Which of a person's words others say where nobody has read it: in a raw mail, in an attachment, in the settings.

Only a proof needs it: such a word is not the person's own, and to find it proves nothing. Nothing is changed.
"""

from __future__ import annotations

import json

from schemas.events.mail import EmailRead
from services.core.app import App
from services.core.archive.archive import archive_of
from services.core.blobs import BlobMissing
from services.core.keys import Erased
from services.operations.erase.inside import unpacked
from services.operations.erase.reseal import names_in
from services.operations.erase.survey import Survey, everything, kept, key_of, listener


async def hear_unread(app: App, found: Survey) -> None:
    """Read every raw mail of others once, attachments unpacked, and the settings."""
    ears = listener(found)
    ears.hear(json.loads(app.settings.model_dump_json()))
    for name, is_mail in await _files_of_others(app, found):
        for text in await _texts(app, name, is_mail):
            ears.hear(text)


async def _files_of_others(app: App, found: Survey) -> list[tuple[str, bool]]:
    """The files of mails that others wrote, and whether each is a whole mail: one to the person loses its raw bytes."""
    names = []
    async with app.database.reading() as conn:
        async for row in everything(conn, archive_of(app.settings)):
            if row.type != EmailRead.TYPE or row.is_sealed:
                continue
            own = found.is_own(row)
            if own and not kept([row], found.people):
                continue
            attached = names_in(json.dumps(row.data["attachments"]))
            raw = [] if own or key_of(row) is None else [row.data["blob"]]
            names += [(one, True) for one in raw if one] + [(one, False) for one in sorted(attached)]
    return names


async def _texts(app: App, name: str, is_mail: bool) -> list[str]:
    try:
        content = await app.blobs.get(name)
    except (BlobMissing, Erased):
        return []
    return [one for one in await unpacked(content, mail=is_mail) if one is not None]
