"""A deployment that three people wrote to: Ada and Bob in one thread, each in one of their own, and Carl alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from deploy.local import Endpoints
from services.core.app import App
from services.core.settings import Settings
from services.operations.idle import until_idle
from services.receive_email.accept import accept
from tests.support.app import running_app, settings_for
from tests.support.documents import shelve
from tests.support.letters import letter

ADA, BOB, CARL = "ada@quillfeather.example", "bob@brackwater.example", "carl@ostrander.example"
NAMES = {ADA: "Ada Quillfeather", BOB: "Bob Brackwater", CARL: "Carl Ostrander"}
SECRET = "zanzibarite"  # a word that only Ada uses


@asynccontextmanager
async def remembered(
    stack: Endpoints,
    database: str,
    prefix: str,
    home: Path,
    run: Callable[[Settings], AbstractAsyncContextManager[App]] = running_app,
    **changes: Any,
) -> AsyncIterator[App]:
    """The deployment at work, after every mail has come to its end; `changes` are put over its settings.

    `run` is `running_brokerless` where neither topics are looked at nor commands typed, which are other processes.
    """
    settings = settings_for(stack, database, prefix, home, **changes)
    async with run(settings) as app:
        await app.cache.drop_all()  # what other tests' deployments have kept of their Adas
        await shelve(app, "plans.md", "# Plans\n\nThe Team plan costs 12 EUR a month.\n")
        shared, own = "<a1@quillfeather.example>", "<a2@quillfeather.example>"
        await write(app, ADA, f"My order number is 88123. The {SECRET} export is slow.", shared, cc=BOB)
        await write(
            app,
            BOB,
            "My order number is 77456. I see the same as Ada Quillfeather.",
            "<b1@x.example>",
            shared,
            cc=ADA,
        )
        await write(app, ADA, f"We are on the Team plan. What does the {SECRET} plan cost?", own)
        await write(app, BOB, "We are on the Starter plan. What does the Team plan cost?", "<b2@x.example>")
        await write(app, CARL, "My order number is 66789. What does the Team plan cost?", "<c1@x.example>")
        yield app


async def write(app: App, sender: str, text: str, message_id: str, answers: str = "", cc: str = "") -> None:
    """One mail, and all that comes of it."""
    headers: dict[str, Any] = {"Cc": f"{NAMES[cc]} <{cc}>"} if cc else {}
    author = f"{NAMES.get(sender, '')} <{sender}>"
    raw = letter(text, sender=author, message_id=message_id, in_reply_to=answers, subject="A question", **headers)
    await accept(app, app.settings.inboxes[0], raw, source="file", source_key=message_id)
    await until_idle(app, timeout_s=120)
