"""All inboxes of the settings at once, each in its own task."""

from __future__ import annotations

import asyncio

from services.core.app import App
from services.receive_email.imap import watch_inbox, watch_sent


async def watch_inboxes(app: App, stop: asyncio.Event) -> None:
    """Watch every inbox that has IMAP settings and is not paused, until `stop`."""
    async with asyncio.TaskGroup() as group:
        for inbox in app.settings.inboxes:
            if inbox.imap is not None and not inbox.paused:
                group.create_task(watch_inbox(app, inbox, inbox.imap, stop), name=f"inbox {inbox.name}")
                if inbox.imap.read_sent:
                    group.create_task(watch_sent(app, inbox, inbox.imap, stop), name=f"sent {inbox.name}")
        await stop.wait()
