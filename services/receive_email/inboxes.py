"""All inboxes of the settings at once, each in its own task."""

from __future__ import annotations

import asyncio

from services.core.house import House
from services.receive_email.imap import watch_inbox, watch_sent


async def watch_inboxes(house: House, stop: asyncio.Event) -> None:
    """Watch every inbox that has IMAP settings and is not paused, until `stop`."""
    async with asyncio.TaskGroup() as group:
        for inbox in house.settings.inboxes:
            if inbox.imap is not None and not inbox.paused:
                group.create_task(watch_inbox(house, inbox, inbox.imap, stop), name=f"inbox {inbox.name}")
                if inbox.imap.read_sent:
                    group.create_task(watch_sent(house, inbox, inbox.imap, stop), name=f"sent {inbox.name}")
        await stop.wait()
