"""Addresses of erased people that must not be written to: known by a keyed hash, so that the list names nobody."""

from __future__ import annotations

from uuid import NAMESPACE_OID, uuid5

from services.core.bus.sealing import key_of
from services.core.db import Connection, fetch_one, queries
from services.core.keys.aead import name_of
from services.core.mailbox import MailboxKey

SQL = queries(__file__, "suppressed.sql")


async def mark_of(conn: Connection, workspace: str, mailbox: MailboxKey) -> str:
    """What an address is known by, to whoever holds the workspace's own key; "" on a connection without keys."""
    key = await key_of(conn, workspace, frozenset({uuid5(NAMESPACE_OID, f"suppressions:{workspace}")}))
    return name_of(key, MailboxKey(mailbox).encode()) if key else ""


async def suppressed_still(conn: Connection, workspace: str, mailbox: MailboxKey) -> str:
    """Why the address of somebody who was erased gets no mail, or ""."""
    args = {"workspace": workspace, "mark": await mark_of(conn, workspace, mailbox)}
    row = await fetch_one(conn, SQL.reason, args)
    return str(row["reason"]) if row else ""
