"""A person answers a thread themselves: their reply as a request, what became of it, and taking it back.

The same client id is the same reply: asked for again it says what became of it, and nothing is sent twice. What a
person is told about their own words (`remarks`) changes none of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from schemas.events.answers import (
    AssignmentRequested,
    ReplyCancelRequested,
    ReplyRefused,
    ReplyRequested,
)
from schemas.events.replies import AfterReply
from services.core.app import App
from services.core.clock import until
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.core.errors import Permanent
from services.core.keys import is_sealed
from services.mail.compose import ComposeRefused
from services.mail.compose.links import LinkPolicy, links_in
from services.operations.drafts.decisions import NewFile, keep_files
from services.operations.requests import NotDecidedYet, decision_on
from services.operations.threads.listing import ThreadUnknown
from services.send_email.copies import chosen_copies
from services.send_email.frozen import known_links
from services.send_email.suppressions import RecipientSuppressed, refuse_suppressed

# How long a person's own reply may be and wait, how many files go along, and how much is worded better at once.
LONGEST_REPLY = 32_000  # characters
LONGEST_REWORDED = 10_000  # characters: what a model gives back in one answer
LONGEST_HOLD_S = 600.0
MOST_FILES = 20

SQL = queries(__file__, "answers.sql")
FILE_NAME = re.compile(r"[^\x00-\x1f\x7f/\\]{1,200}")
THREADS, SENDER = "track_threads", "send_email"


class ReplyImpossible(Permanent):
    """Such a reply cannot be written: to whom it should go, or what should go along, is not allowed."""


class ReplyUnknown(Permanent):
    """There is no such reply in this thread."""


class TooLate(Permanent):
    """The reply cannot be taken back: it is at the mail server, or was decided on already."""


@dataclass(frozen=True, slots=True)
class Came:
    """A message that came after the person looked."""

    at: datetime
    role: str
    by: str
    text: str


class ReplyDoesNotFit(Permanent):
    """The thread is not what the person saw, or another reply is on its way. `came` is what they have not seen."""

    def __init__(self, code: str, reason: str, came: Sequence[Came] = ()) -> None:
        super().__init__(reason)
        self.code, self.reason, self.came = code, reason, tuple(came)


@dataclass(frozen=True, slots=True)
class NewReply:
    """What a person wrote. `thread_version` is of the thread that they saw; `cc`, `with_quote` None: as the inbox
    has it.
    """

    text: str
    thread_version: int
    by: str
    anyway: bool = False
    mail_id: UUID | None = None
    cc: tuple[str, ...] | None = None
    files: tuple[NewFile, ...] = ()
    with_quote: bool | None = None
    then: AfterReply = ""
    hold_s: float = 0.0


@dataclass(frozen=True, slots=True)
class OwnReply:
    """Where a person's reply stands: `accepted` until send_email has written it, then as the ledger has it.

    `leaves_at` is until when it can be taken back, `remarks` what the agent would not have been allowed to write.
    """

    reply_id: UUID
    thread_id: UUID
    state: str
    detail: str = ""
    leaves_at: datetime | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeldReply:
    """A person's reply that has not left, and can be taken back until `leaves_at`."""

    reply_id: UUID
    thread_id: UUID
    by: str
    leaves_at: datetime


def reply_id_of(thread_id: UUID, client_id: str) -> UUID:
    """The id of the reply that a client calls so."""
    return uuid5(thread_id, f"reply by a person/{client_id}")


async def reply(app: App, thread_id: UUID, client_id: str, new: NewReply, *, timeout_s: float) -> OwnReply:
    """Have a person's reply sent.

    Raises `ThreadUnknown`, `ReplyImpossible`, `FilesTooLarge`, `ReplyDoesNotFit` where it was refused, and
    `NotDecidedYet`: asked for again with the same `client_id` it is the same reply.
    """
    reply_id = reply_id_of(thread_id, client_id)
    remarks = await _checked(app, thread_id, new)
    if await _row(app, thread_id, reply_id) is None:
        await _ask(app, thread_id, reply_id, new, timeout_s)
    found = await _written(app, thread_id, reply_id, timeout_s)
    return OwnReply(**found, remarks=remarks)


async def own_reply(app: App, thread_id: UUID, reply_id: UUID) -> OwnReply:
    """Where a person's reply stands. Raises `ReplyUnknown`."""
    row = await _row(app, thread_id, reply_id)
    if row is None:
        raise ReplyUnknown(f"there is no reply {reply_id} by a person in this thread")
    return OwnReply(**row)


async def held_replies(app: App, conn: Connection, thread_id: UUID) -> list[HeldReply]:
    """People's replies in a thread that can still be taken back."""
    args = {"workspace": app.settings.workspace, "thread_id": thread_id, "now": app.now()}
    return [HeldReply(**row) for row in await fetch_all(conn, SQL.held, args)]


async def cancel(app: App, thread_id: UUID, reply_id: UUID, by: str, *, timeout_s: float) -> OwnReply:
    """Take a reply back. Raises `ReplyUnknown`, `TooLate`, `NotDecidedYet`."""
    await own_reply(app, thread_id, reply_id)
    found = await _written(app, thread_id, reply_id, timeout_s)
    if found["state"] == "approved":
        command = ReplyCancelRequested(reply_id=reply_id, thread_id=thread_id, by=by)
        await decision_on(app, command, SENDER, timeout_s=timeout_s)
    became = await own_reply(app, thread_id, reply_id)
    if became.state == "accepted":
        raise NotDecidedYet("The reply is accepted, and send_email has not written it yet: is the deployment running?")
    if became.state != "discarded":
        raise TooLate(f"the reply is {became.state}: it cannot be taken back any more")
    return became


async def assign(app: App, asked: AssignmentRequested, *, timeout_s: float) -> None:
    """Have somebody have the thread, or take it over. Raises `ThreadUnknown`, `NotDecidedYet`."""
    await _inbox(app, asked.thread_id)
    await decision_on(app, asked, THREADS, timeout_s=timeout_s)


async def thread_of(app: App, reply_id: UUID) -> UUID:
    """The thread of a reply. Raises `ReplyUnknown`."""
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.thread_of, {"workspace": app.settings.workspace, "reply_id": reply_id})
    if row is None:
        raise ReplyUnknown(f"there is no reply {reply_id}")
    return UUID(str(row["thread_id"]))


async def _ask(app: App, thread_id: UUID, reply_id: UUID, new: NewReply, timeout_s: float) -> None:
    """Put the reply on the log, and return once it is accepted."""
    said = {name: getattr(new, name) for name in ReplyRequested.model_fields if hasattr(new, name)} | {"files": ()}
    command = ReplyRequested(**said, reply_id=reply_id, thread_id=thread_id)
    command = command.model_copy(update={"files": await keep_files(app, command, new.files)})
    cause = await decision_on(app, command, THREADS, timeout_s=timeout_s)
    if await _row(app, thread_id, reply_id) is not None:
        return
    args = {"thread_id": thread_id, "cause": cause}
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.refusal, args)
    if row is None or is_sealed(row["data"]):
        raise NotDecidedYet("a process of an earlier release has the thread, which cannot decide this yet")
    refused = ReplyRefused.model_validate(row["data"])
    raise ReplyDoesNotFit(refused.code, refused.reason, await _came(app, thread_id, refused.came))


async def _came(app: App, thread_id: UUID, ids: Collection[UUID]) -> list[Came]:
    async with app.database.reading() as conn:
        rows = await fetch_all(conn, SQL.came, {"thread_id": thread_id, "ids": list(ids)})
    return [Came(**row) for row in rows]


async def _written(app: App, thread_id: UUID, reply_id: UUID, timeout_s: float) -> dict[str, Any]:
    """Where an accepted reply stands, once send_email has written it, or after so many seconds."""

    async def written() -> dict[str, Any] | None:
        row = await _row(app, thread_id, reply_id)
        return row if row and row["state"] != "accepted" else None

    found = await until(written, timeout_s) or await _row(app, thread_id, reply_id)
    assert found is not None
    return found


async def _row(app: App, thread_id: UUID, reply_id: UUID) -> dict[str, Any] | None:
    from services.track_threads.person import turn_of

    args = {"workspace": app.settings.workspace, "thread_id": thread_id, "reply_id": reply_id}
    async with app.database.reading() as conn:
        return await fetch_one(conn, SQL.own_reply, args | {"turn_id": turn_of(reply_id)})


async def _inbox(app: App, thread_id: UUID) -> str:
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.inbox, {"workspace": app.settings.workspace, "thread_id": thread_id})
    if row is None:
        raise ThreadUnknown(f"there is no thread {thread_id}")
    return str(row["inbox"])


async def _checked(app: App, thread_id: UUID, new: NewReply) -> tuple[str, ...]:
    """What a person is told of their reply before it is asked for; raises where it cannot be written."""
    inbox = app.settings.known_inbox(await _inbox(app, thread_id))
    if inbox is None:
        raise ReplyImpossible("the inbox of this thread is not in the settings any more")
    if not new.text.strip() or len(new.text) > LONGEST_REPLY or "\0" in new.text:
        raise ReplyImpossible(f"a reply is 1 to {LONGEST_REPLY:,} characters, none of them NUL")
    if not 0 <= new.hold_s <= LONGEST_HOLD_S:
        raise ReplyImpossible(f"a reply is held for 0 to {LONGEST_HOLD_S:g} seconds")
    if len(new.files) > MOST_FILES or not all(FILE_NAME.fullmatch(one.filename) for one in new.files):
        raise ReplyImpossible(f"at most {MOST_FILES} files go along, each with a name and no path")
    try:
        chosen_copies(new.cc or (), "", inbox.layout, app.settings.own_addresses)
    except ComposeRefused as error:
        raise ReplyImpossible(str(error)) from None
    async with app.database.reading() as conn:
        return (*await _links(app, conn, inbox.name, new.text), *await _copies(app, conn, new.cc or ()))


async def _links(app: App, conn: Connection, inbox: str, text: str) -> list[str]:
    known = await known_links(conn, app.settings.workspace, app.settings.space_of(inbox), text)
    policy = LinkPolicy(app.settings.send.allowed_links, known)
    return [f"the agent may not write {url}; you do" for url in links_in(text) if not policy.allows(url)]


async def _copies(app: App, conn: Connection, cc: Sequence[str]) -> list[str]:
    said = []
    for one in cc:
        try:
            await refuse_suppressed(conn, app.settings.workspace, one)
        except RecipientSuppressed as error:
            said.append(f"no copy goes to {one}: {error}")
    return said
