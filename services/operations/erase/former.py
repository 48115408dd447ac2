"""The id under which somebody was kept before addresses were compared by `MailboxKey`: their old mails have its key."""

from __future__ import annotations

from uuid import UUID

from services.core.db import Connection, fetch_one, queries
from services.core.errors import Permanent
from services.core.ids import former_participant_id
from services.core.keys.keyring import People

SQL = queries(__file__, "former.sql")


class SharesKey(Permanent):
    """Their old mails are sealed with somebody else's key, which would have to be destroyed with it."""


async def former_ids(conn: Connection, workspace: str, address: str, own: UUID) -> People:
    """The former id, where old mails are sealed under it and nobody else's are. Raises `SharesKey` where they are."""
    former = former_participant_id(workspace, address.strip())
    if former == own:
        return frozenset()
    row = await fetch_one(conn, SQL.kept_under, {"workspace": workspace, "own": own, "former": former})
    if not (row and row["stored"]):
        return frozenset()
    if row["shared"]:
        raise SharesKey(
            f"old mails of {address[:100]} are sealed with the key of participant {former}, whose address full case "
            f"folding makes of theirs: forget {former} as well, and first, or nothing is destroyed"
        )
    return frozenset({former})
