"""Decisions about reading a folder, without I/O: in which batches, whom to suspect, what an old mail is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from schemas.events.mail import Mode
from services.mail.headers import parse_date, split_block, unfold
from services.receive_email.fingerprint import HEADER_BYTES
from services.receive_email.imap.folder import Listed

MOST_MAILS = 50
MOST_BYTES = 8 * 1024 * 1024
CLOCK_SKEW = timedelta(hours=1)
GUILTY_AFTER = 2


class Suspicion:
    """Which mails were being fetched when a connection broke: twice alone, and the mail is what breaks it."""

    def __init__(self) -> None:
        self._suspects: set[int] = set()
        self._alone: Counter[int] = Counter()

    def blame(self, uids: Sequence[int]) -> None:
        """The connection broke while these were fetched."""
        self._suspects.update(uids)
        if len(uids) == 1:
            self._alone[uids[0]] += 1

    def clear(self, uids: Iterable[int]) -> None:
        """These came through."""
        for uid in uids:
            self._suspects.discard(uid)
            self._alone.pop(uid, None)

    def forgive(self, uid: int) -> None:
        """Fetch this mail once more, alone: the server may have been fixed."""
        if self.condemns(uid):
            self._alone[uid] = GUILTY_AFTER - 1

    def suspects(self, uid: int) -> bool:
        """Whether this mail is to be fetched alone."""
        return uid in self._suspects

    def condemns(self, uid: int) -> bool:
        """Whether this mail is not to be fetched for now."""
        return self._alone[uid] >= GUILTY_AFTER


def batches(listed: Iterable[Listed], suspicion: Suspicion) -> Iterator[list[Listed]]:
    """The mails in order, at most 50 and about 8 MB at once; a suspect, or a very large mail, alone."""
    batch: list[Listed] = []
    size = 0
    for one in listed:
        alone = suspicion.suspects(one.uid)
        if batch and (alone or len(batch) == MOST_MAILS or size + one.size > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += one.size
        if alone:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def since_begun(listed: Iterable[Listed], begun_at: datetime, uidnext: int) -> list[Listed]:
    """Of a folder whose UIDs have changed, the mails that came after the inbox was added.

    A mail whose moment the server does not tell is among them: nothing is dropped, and `mode_of` keeps it harmless.
    """
    return [
        one
        for one in listed
        if one.uid < uidnext and (one.internal_date is None or one.internal_date >= begun_at - CLOCK_SKEW)
    ]


def mode_of(raw: bytes, begun_at: datetime) -> Mode:
    """`history`, which is never answered, for a mail that says it was written before the inbox was added."""
    fields, _, _ = split_block(raw, HEADER_BYTES)
    written = next((parse_date(unfold(value)) for name, value in fields if name.casefold() == "date"), None)
    return "history" if written is None or written < begun_at else "live"
