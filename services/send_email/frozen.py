"""The finished message of a draft, stored, or why there is none. Whether it may leave is the policy's matter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from schemas.events.mail import EmailRead
from schemas.events.replies import ReplyDrafted, SentFile
from services.core.blobs import BlobMissing
from services.core.bus.event_row import EventRow
from services.core.bus.sealing import key_for, key_id
from services.core.bus.work import Work
from services.core.db import Connection, fetch_all, row_as
from services.core.settings import Settings, SettingsWrong
from services.core.units import MB
from services.mail.compose import Composed, ComposeRefused, File, links_in
from services.mail.compose.body import safe_text
from services.mail.compose.links import LinkPolicy
from services.memory.knowledge import chunk_ids, passages_by_id
from services.send_email.apply import SQL
from services.send_email.draft import BY_INBOX, Answered, Choices, freeze
from services.send_email.load import NewestMail
from services.send_email.sources import public_pages
from services.send_email.suppressions import RecipientSuppressed, refuse_suppressed


@dataclass(frozen=True, slots=True)
class Frozen:
    """A finished message and its name in the blob store."""

    composed: Composed
    blob: str


@dataclass(frozen=True, slots=True)
class Unwritable:
    """No such mail may be written, and why, in words."""

    reason: str


async def frozen_reply(
    work: Work[Any],
    draft: ReplyDrafted,
    mail: NewestMail,
    *,
    automatic: bool,
    typed: frozenset[str] = frozenset(),
    attached: tuple[SentFile, ...] = (),
    choices: Choices = BY_INBOX,
) -> Frozen | Unwritable:
    """The MIME of a draft, or why there is none. `typed` are links, `attached` files that a person put in, `choices`
    what they chose in place of what the inbox has.
    """
    known, pages = await _sources(work, draft)
    answered = Answered(mail, await _as_read(work, draft.inbox, mail, choices))
    try:
        files = await files_of(work, draft, attached)
    except ComposeRefused as error:
        return Unwritable(str(error))
    by_settings = partial(freeze, draft, answered, work.app, work.workspace, work.now, files=files, choices=choices)
    return await kept(work, partial(by_settings, known_links=known | typed, pages=pages, automatic=automatic))


async def _sources(work: Work[Any], draft: ReplyDrafted) -> tuple[frozenset[str], dict[str, str]]:
    """The links that the draft may have, and the public pages of what it cites."""
    cited = chunk_ids(draft.citations) if work.app.settings.knowledge.cite_in_mail else []
    if not cited and not links_in(draft.text):
        return frozenset(), {}
    async with work.reading() as conn:
        known = await known_links(conn, work.workspace, work.app.settings.space_of(draft.inbox), draft.text)
        return known, public_pages((await passages_by_id(conn, work.workspace, cited)).values())


async def as_the_agent_may_write(
    conn: Connection, settings: Settings, inbox: str, text: str, known: Collection[str] = ()
) -> str:
    """A text of the agent that a person is given to send as their own: its links are those that a reply of it may have.

    What the person sends has all its links, as theirs. `known` are links and addresses that they know already.
    """
    in_documents = await known_links(conn, settings.workspace, settings.space_of(inbox), text)
    ours = settings.known_inbox(inbox)
    own = in_documents.union(known, [ours.address] if ours else [])
    return safe_text(text, LinkPolicy(settings.send.allowed_links, own))


async def known_links(conn: Connection, workspace: str, space: str, text: str) -> frozenset[str]:
    """The links of the space's passages in which a link of the text stands: those that the agent may write, too."""
    wanted = {"workspace": workspace, "space": space, "links": links_in(text)}
    passages = await fetch_all(conn, SQL.passages_with, wanted) if wanted["links"] else []
    return frozenset(link for row in passages for link in links_in(row["text"]))


async def kept(work: Work[Any], composed_by: Callable[[], Composed]) -> Frozen | Unwritable:
    """A message, composed and stored, or why there is none: it may not be written so, or not to this address."""
    try:
        composed = composed_by()
        async with work.app.database.transaction(work.workspace, to_disk=False) as conn:  # but for a new key
            await refuse_suppressed(conn, work.workspace, composed.recipient)
            key = await key_for(conn, work.workspace, work.event, key_id(work.envelope))
    except (ComposeRefused, RecipientSuppressed, SettingsWrong) as error:
        return Unwritable(str(error))
    return Frozen(composed, await work.app.blobs.put(composed.raw, key))


async def _as_read(work: Work[Any], inbox: str, mail: NewestMail, choices: Choices) -> EmailRead | None:
    """The event of a mail, where the inbox quotes it or answers its colleagues, and no erase has taken it."""
    known = work.app.settings.known_inbox(inbox)
    if known is None or not choices.needs_mail(known.layout):
        return None
    async with work.reading() as conn:
        row = await row_as(conn, EventRow.of, SQL.mail_as_read, {"mail_id": mail.mail_id})
    if row is None or row.is_sealed:
        return None
    read = row.envelope().data
    return read if isinstance(read, EmailRead) else None


# Files that go out with a reply: of documents that an operator marked as sendable, and what a person attached.


async def files_of(work: Work[Any], draft: ReplyDrafted, attached: Sequence[SentFile] = ()) -> tuple[File, ...]:
    """The files, documents first. Raises `ComposeRefused` where one may not go out any more, or all are too large."""
    named = chunk_ids(draft.attach)
    found: list[File] = []
    if named:
        async with work.reading() as conn:
            rows = await fetch_all(conn, SQL.sendable_documents, {"workspace": work.workspace, "ids": named})
        if {one for row in rows for one in row["chunks"]} != set(named):
            raise ComposeRefused("a document that the draft attaches may not be sent any more")
        for row in rows:
            found.append(File(_name(row), row["media_type"], await _content(work, row["blob"])))
    for one in attached:
        found.append(File(one.filename, one.content_type, await _content(work, one.blob)))
    most = work.app.settings.send.max_files_mb
    if sum(len(one.content) for one in found) > most * MB:
        raise ComposeRefused(f"its files are larger than send.max_files_mb = {most:g} MB")
    return tuple(found)


def _name(row: dict[str, Any]) -> str:
    """The last part of the path or address that the document came from, or its title."""
    return str(row["origin"]).rstrip("/").rpartition("/")[2] or str(row["title"])


async def _content(work: Work[Any], blob: str) -> bytes:
    try:
        return await work.app.blobs.get(blob)
    except BlobMissing as error:
        raise ComposeRefused("a file that was attached is gone") from error
