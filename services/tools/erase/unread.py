"""Which mails of others name a person where nothing was read of it: the envelope's sender, a header, a quote, a file.

Invariants
- Every raw mail that can be read is read once, attachments unpacked. A mail that is still under way is none of them:
  what it says of the person comes after the erase, as it would tomorrow.
- Nothing is changed: the key of what was read of such a mail counts as touched, and an erase then drops its raw bytes.
"""

from __future__ import annotations

import json
from uuid import UUID

from schemas.events.mail import EmailRead, MailReceived
from services.core.archive.archive import archive_of
from services.core.blobs import BlobMissing
from services.core.house import House
from services.core.keys import Erased, is_sealed
from services.tools.erase.inside import unpacked
from services.tools.erase.resealing import names_in
from services.tools.erase.survey import Row, Survey, everything, key_of
from services.tools.erase.words import Marks, texts


async def touch_unread(house: House, found: Survey) -> None:
    """Add to `found.touched` the keys of others' mails that name the person where nobody has read it."""
    marks, named, read = found.marks, set[UUID](), dict[UUID, Row]()
    async with house.database.reading() as conn:
        async for row in everything(conn, found.workspace, archive_of(house.settings)):
            if row["type"] in (MailReceived.TYPE, EmailRead.TYPE) and not is_sealed(row["data"]):
                mail = UUID(row["data"]["mail_id"])
                if any(marks.found_in(text) for text in texts(row["data"])):
                    named.add(mail)
                if row["type"] == EmailRead.TYPE:
                    read[mail] = row
    for mail, row in read.items():
        key = key_of(row)
        if key is None or key in found.keys or key in found.touched:
            continue
        if mail in named or await _names(house, marks, row):
            found.touched.add(key)


async def _names(house: House, marks: Marks, row: Row) -> bool:
    """Whether the mail's raw bytes name the person, or, where those are gone, one of its attachments."""
    raw = await _blob(house, row["data"]["blob"])
    if raw is not None:
        return _found(marks, await unpacked(raw, mail=True))
    for name in sorted(names_in(json.dumps(row["data"]["attachments"]))):
        content = await _blob(house, name)
        if content is not None and _found(marks, await unpacked(content)):
            return True
    return False


async def _blob(house: House, name: str) -> bytes | None:
    try:
        return await house.blobs.get(name) if name else None
    except (BlobMissing, Erased):
        return None


def _found(marks: Marks, said: list[str | None]) -> bool:
    return any(marks.found_in(text) for text in said if text is not None)
