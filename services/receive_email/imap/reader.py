"""Reads one folder over one connection, oldest first; the position moves only behind what is on the log.

One mail that the server will not show, or that we cannot take, is noted and passed; it never stops the folder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import psycopg
import structlog

from services.mail.tokens import token_of_message_id
from services.receive_email.accept import accept
from services.receive_email.fingerprint import message_id_of
from services.receive_email.imap import positions
from services.receive_email.imap.folder import Folder, FolderPlace, Listed, Position
from services.receive_email.imap.plan import Suspicion, batches, mode_of, since_begun
from services.receive_email.imap.session import Connection, Lost

log = structlog.get_logger(__name__)

BREAKS = "the connection breaks whenever this mail is fetched"

NotThisMail = (ValueError, psycopg.DataError)


class Reader:
    """One folder, read up to `position`. `suspicion` outlives the connection."""

    def __init__(self, place: FolderPlace, connection: Connection, suspicion: Suspicion) -> None:
        self._place = place
        self._connection = connection
        self._session = connection.session
        self._suspicion = suspicion
        self._resyncing = False
        self._position: Position

    async def open(self) -> None:
        """Open the folder; begin at its newest mail, or go on, or read it again where its UIDs have changed."""
        folder = await self._connection.do(self._session.open)
        self._position = await positions.load(self._place) or await positions.begin(self._place, folder)
        if self._position.uidvalidity != folder.uidvalidity:
            await self._resync(folder)

    async def catch_up(self) -> None:
        """Take in everything that is new."""
        listed = await self._connection.do(self._session.list_after, self._position.last_uid)
        for batch in batches(listed, self._suspicion):
            await self._take(batch)
            await self._move(replace(self._position, last_uid=batch[-1].uid))

    async def retry_unfetched(self) -> float:
        """Try again what could not be had and is due; the seconds until the next of it is, for ever where none is left.

        A mail that broke connections is noted before it is fetched: what breaks this one, too, is not due at once.
        """
        uidvalidity = self._position.uidvalidity
        for uid, due_at in await positions.unfetched(self._place, uidvalidity):
            if due_at > self._place.app.now():
                continue
            if self._suspicion.condemns(uid):
                await self._pass(uid, BREAKS)
                self._suspicion.forgive(uid)
            if await self._take([Listed(uid)]):
                await positions.forget_unfetched(self._place, uidvalidity, uid)
        left = await positions.unfetched(self._place, uidvalidity)
        now = self._place.app.now()
        return min((max(0.0, (due_at - now).total_seconds()) for _, due_at in left), default=math.inf)

    async def _resync(self, folder: Folder) -> None:
        log.warning("UIDVALIDITY changed", **self._place.key, now=folder.uidvalidity)
        begun_at = self._position.begun_at
        self._position = replace(self._position, uidvalidity=folder.uidvalidity)
        day = (begun_at - timedelta(days=2)).date()  # the server's day may be another one than ours
        listed = await self._connection.do(self._session.list_since, day, folder.uidnext)
        self._resyncing = True
        for batch in batches(since_begun(listed, begun_at, folder.uidnext), self._suspicion):
            await self._take(batch)
        self._resyncing = False
        await self._move(replace(self._position, last_uid=folder.uidnext - 1))

    async def _move(self, position: Position) -> None:
        await positions.move(self._place, position)
        self._position = position

    async def _take(self, batch: Sequence[Listed]) -> bool:
        """Let a batch in; one by one where it does not come as a whole. Whether all of it came, or is gone."""
        uids = [one.uid for one in batch]
        if len(uids) == 1 and self._suspicion.condemns(uids[0]):
            return await self._pass(uids[0], BREAKS)
        try:
            raws = await self._connection.do(self._session.fetch, uids)
        except Lost:
            self._suspicion.blame(uids)
            raise
        except Exception as error:
            if len(batch) == 1:
                return await self._pass(uids[0], repr(error))
            return all([await self._take([one]) for one in batch])
        self._suspicion.clear(uids)
        return all([await self._let_in(uid, raws[uid]) for uid in uids if uid in raws])

    async def _let_in(self, uid: int, raw: bytes | None) -> bool:
        if raw is None:
            return await self._pass(uid, "the server shows no content")
        if self._place.outgoing and token_of_message_id(message_id_of(raw)):
            return True  # the copy of a reply of ours
        try:
            await accept(
                self._place.app,
                self._place.inbox,
                raw,
                source="imap",
                source_key=self._place.source_key(self._position.uidvalidity, uid),
                mode=mode_of(raw, self._position.begun_at) if self._resyncing else "live",
                once_by_content=self._resyncing,
                from_sent=self._place.outgoing,
            )
        except NotThisMail as error:
            return await self._pass(uid, repr(error))
        return True

    async def _pass(self, uid: int, error: str) -> bool:
        log.error("mail skipped, to be tried again", **self._place.key, uid=uid, error=error)
        await positions.keep_unfetched(self._place, self._position.uidvalidity, uid, error)
        return False
