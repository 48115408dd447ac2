"""What the database knows of threads, kept in memory: mails are placed by the product's own resolver, one by one."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta

from services.mail.thread_ids import KnownThread, MailFacts, Placement, place, wanted_ids, wanted_threads


class ThreadStore:
    """Threads with the ids that they hold or await. `groups` are the conversations, links between threads followed."""

    def __init__(self) -> None:
        self._threads: dict[uuid.UUID, KnownThread] = {}
        self._placed: dict[str, uuid.UUID] = {}
        self._links: list[tuple[uuid.UUID, uuid.UUID]] = []

    def take(self, mail: MailFacts) -> Placement:
        """Place a mail, and remember what the product stores of it."""
        threads, ids = set(wanted_threads(mail)), set(wanted_ids(mail))
        known = [one for one in self._threads.values() if one.thread_id in threads or (one.own_ids | one.awaited) & ids]
        placement = place(mail, known, timedelta(days=365))
        before = self._threads.get(placement.thread_id)
        thread = before or KnownThread(placement.thread_id, mail.author, subject=mail.subject)
        self._threads[placement.thread_id] = replace(
            thread,
            message_ids=thread.message_ids | {mail.message_id},
            awaited=(thread.awaited | set(placement.awaits)) - thread.message_ids - {mail.message_id},
            participants=thread.participants | mail.participants,
            verified=thread.verified | ({mail.author} if mail.verified else set()),
        )
        self._placed[mail.message_id] = placement.thread_id
        if placement.linked_to:
            self._links.append((placement.thread_id, placement.linked_to))
        return placement

    def groups(self, *, linked: bool = True) -> set[frozenset[str]]:
        """The Message-IDs that are together."""
        root = {thread: thread for thread in self._placed.values()}
        for one, other in self._links if linked else []:
            kept, gone = root.get(one, one), root.get(other, other)
            root = {thread: kept if now == gone else now for thread, now in root.items()}
        together: dict[uuid.UUID, set[str]] = {}
        for message_id, thread in self._placed.items():
            together.setdefault(root[thread], set()).add(message_id)
        return {frozenset(group) for group in together.values()}
