"""A mail's attachments: stored, and, where somebody is to answer the mail, read in child processes, a few at once."""

from __future__ import annotations

import asyncio

from schemas.events.mail import AttachmentRef, MailReceived
from services.core.bus.work import Work
from services.mail.attachments import ENCRYPTED, AttachmentText, attachment_text
from services.mail.content_types import role_of
from services.mail.html_hidden import without_invisible_characters
from services.mail.message import Attachment
from services.read_email.contents import Reading

MOST_KEPT = 200  # attachments of one mail; what is beyond is in the raw mail alone
MOST_READ = 10  # of them
LONGEST_NAME = 200  # characters of a file name in the event
AT_ONCE = 4
MAX_CHARACTERS = 8_000  # of all attachments of one mail, in the event and in the prompt
UNREAD = AttachmentText("", "none")


async def keep_attachments(work: Work[MailReceived], reading: Reading, *, read: bool) -> tuple[AttachmentRef, ...]:
    """Store each attachment; with `read`, get the words of the first ones too, within the mail's room."""
    found = reading.mail.attachments[:MOST_KEPT]
    told = await _read(found[:MOST_READ]) if read else []
    refs: list[AttachmentRef] = []
    room = MAX_CHARACTERS
    for number, one in enumerate(found):
        said = told[number] if number < len(told) else UNREAD
        text = without_invisible_characters(_storable(said.text))[0][:room]
        room -= len(text)
        refs.append(
            AttachmentRef(
                filename=without_invisible_characters(one.filename[-LONGEST_NAME:])[0],
                content_type=one.content_type,
                size=len(one.content),
                blob=await work.keep(one.content),
                text=text,
                cut=bool(said.reason) or len(text) < len(said.text.strip()),
                role=role_of(one),
                unread="" if said.verdict in ("text", "listing", "none") else said.reason[:200],
            )
        )
    return tuple(refs)


def encrypted(attachments: tuple[AttachmentRef, ...]) -> str:
    """The name of an attachment that only a person can open, or ""."""
    return next((one.filename or one.content_type for one in attachments if one.unread.startswith(ENCRYPTED)), "")


def _storable(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "ignore").decode().strip()


async def _read(attachments: tuple[Attachment, ...]) -> list[AttachmentText]:
    places = asyncio.Semaphore(AT_ONCE)

    async def one(attachment: Attachment) -> AttachmentText:
        async with places:
            return await asyncio.to_thread(attachment_text, attachment)

    return await asyncio.gather(*(one(each) for each in attachments))
